"""The rows of a batch's files, in the Arrow types that Spark expects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from deltaic.optional import require
from deltaic.spark.stream_commits import StreamFile

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

__all__ = ["arrow_schema", "packed", "rows"]

# As Spark packs small files: what opening one costs, and how much one task reads at most.
_OPENING = 4 << 20
_MOST_BYTES = 128 << 20
# Tasks that run side by side on a small cluster; how many there are is not told to a data source.
_SIDE_BY_SIDE = 8


def packed(files: Sequence[StreamFile]) -> list[list[StreamFile]]:
    """The files in their order, in parts of about the same number of bytes."""
    costs = [max(file.task.size_in_bytes, 0) + _OPENING for file in files]
    most = min(_MOST_BYTES, max(_OPENING, sum(costs) // _SIDE_BY_SIDE))
    parts: list[list[StreamFile]] = []
    filled = most
    for file, cost in zip(files, costs, strict=True):
        if filled + cost > most or not parts:
            parts.append([])
            filled = 0
        parts[-1].append(file)
        filled += cost
    return parts


def arrow_schema(schema: StructType) -> Any:  # Any: pyarrow ships no types
    """The Arrow schema by which Spark checks what a data source gives."""
    from pyspark.sql.pandas import types

    convert = cast("Any", types).to_arrow_schema
    try:
        return convert(schema, timezone="UTC")
    except TypeError:  # Spark 4.0 and 4.1 have no such argument: theirs is always UTC
        return convert(schema)


def rows(files: Iterable[StreamFile], schema: Any) -> Iterator[Any]:
    """The rows of files as `pyarrow.RecordBatch` in a schema.

    Raises:
        CorruptData, PathEscape, StorageError: A file cannot be read.
    """
    for file in files:
        for batch in file.task.read():
            yield _conformed(batch, schema, file.inserted)


def _conformed(batch: Any, schema: Any, inserted: tuple[int, int] | None) -> Any:
    pa = require("pyarrow", "reading a stream")
    told: dict[str, object] = {}
    if inserted is not None:
        told = {
            "_change_type": "insert",
            "_commit_version": inserted[0],
            "_commit_timestamp": inserted[1] * 1000,
        }
    names: list[str] = batch.schema.names
    columns: list[Any] = []
    for field in schema:
        if field.name in told:
            value = pa.scalar(told[field.name])
            columns.append(pa.repeat(value, batch.num_rows).cast(field.type))
            continue
        column = batch.column(names.index(field.name))
        columns.append(column if column.type == field.type else column.cast(field.type))
    return pa.RecordBatch.from_arrays(columns, schema=schema)
