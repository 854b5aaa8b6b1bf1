"""deltalake and polars read the tables of programs that they support."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import deltalake
import polars as pl
import pyarrow as pa

from .comparisons import same_rows
from .program import Program
from .reader_limits import can_read


def _by_deltalake(root: Path) -> pa.Table:
    # Not with to_pyarrow_table, which converts the partition value -0.01 to 0.-1.
    reader = deltalake.QueryBuilder().register("t", deltalake.DeltaTable(str(root)))
    return pa.table(reader.execute("SELECT * FROM t").read_all())


def _by_polars(root: Path) -> pa.Table:
    return pl.read_delta(str(root)).to_arrow()


READERS: dict[str, Callable[[Path], pa.Table]] = {"deltalake": _by_deltalake, "polars": _by_polars}


def compare(root: Path, program: Program) -> None:
    """Compares the rows of each reader with the model."""
    definition = program.definition
    files = program.table.snapshot().files().to_arrow().to_pylist()
    for name, read in READERS.items():
        if can_read(name, definition, files):
            found = same_rows(read(root), program.model.rows, definition.schema)
            assert found is None, f"read by {name}: {found}"
