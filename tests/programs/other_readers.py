"""Other implementations read the tables of programs, except for features that they do not support."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import deltalake
import polars as pl
import pyarrow as pa

from .comparisons import same_rows
from .program import Program
from .values import VARIANT


def _by_deltalake(root: Path) -> pa.Table:
    # Not with to_pyarrow_table, which converts the partition value -0.01 to 0.-1.
    reader = deltalake.QueryBuilder().register("t", deltalake.DeltaTable(str(root)))
    return pa.table(reader.execute("SELECT * FROM t").read_all())


def _by_polars(root: Path) -> pa.Table:
    return pl.read_delta(str(root)).to_arrow()


READERS: dict[str, tuple[Callable[[Path], pa.Table], set[str]]] = {
    "deltalake": (_by_deltalake, {"delta.enableTypeWidening"}),
    "polars": (
        _by_polars,
        {
            "delta.enableTypeWidening",
            "delta.columnMapping.mode",
            "delta.checkpointPolicy",  # v2
            "delta.randomizeFilePrefixes",  # polars takes partition values from folder names
        },
    ),
}
"""Each reader with the properties whose features it does not support."""


def compare(root: Path, program: Program) -> list[str]:
    """Compares the rows of each reader with the model; returns the names of those that read the table."""
    definition = program.definition
    read_by: list[str] = []
    for name, (read, unsupported) in READERS.items():
        if unsupported & set(definition.properties) or VARIANT in definition.schema.types:
            continue
        by = [definition.schema.field(column).type for column in definition.partition_by]
        if name == "polars" and pa.binary() in by:
            continue  # polars parses partition values as CSV, which has no binary values
        files = program.table.snapshot().files().to_arrow().to_pylist()
        if name == "polars" and any(file["deletion_vector"] and "%" in file["path"] for file in files):
            continue  # polars ignores the deletion vector of a file whose path is percent-encoded
        if name == "polars" and by and any("=" not in file["path"] for file in files):
            continue  # polars takes partition values from folder names, which long values are not in
        found = same_rows(read(root), program.model.rows, definition.schema)
        assert found is None, f"read by {name}: {found}"
        read_by.append(name)
    return read_by
