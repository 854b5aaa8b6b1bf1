"""The rows of a batch's files, in the Arrow types that Spark expects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from deltaic.spark.added_columns import CHANGE_TYPE, COMMIT_TIMESTAMP, COMMIT_VERSION
from deltaic.spark.arrow_batches import fitted
from deltaic.spark.stream.commits import StreamFile
from deltaic.values.optional import require

__all__ = ["rows"]


def rows(files: Iterable[StreamFile], schema: Any) -> Iterator[Any]:
    """Reads files as `pyarrow.RecordBatch` in a schema, which may have a subset of their columns.

    Raises:
        CorruptData, PathEscape, StorageError: A file cannot be read.
    """
    for file in files:
        batches = file.task.read()
        if file.inserted is None:
            yield from fitted(batches, batches.schema, schema)
        else:
            yield from _as_inserts(batches, schema, file.inserted)


def _as_inserts(batches: Any, schema: Any, inserted: tuple[int, int]) -> Iterator[Any]:
    pa = require("pyarrow", "reading a stream")
    version, time = inserted
    change_values = {CHANGE_TYPE: "insert", COMMIT_VERSION: version, COMMIT_TIMESTAMP: time * 1000}
    of_table = pa.schema([field for field in schema if field.name not in change_values])
    values = {name: pa.scalar(value) for name, value in change_values.items()}
    for batch in batches:
        # Without columns of the table, the fitted batch would have no row count.
        columns = _by_name(fitted([batch], batches.schema, of_table)) if len(of_table) else {}
        told_columns = [
            columns[field.name]
            if field.name in columns
            else pa.repeat(values[field.name], batch.num_rows).cast(field.type)
            for field in schema
        ]
        yield pa.RecordBatch.from_arrays(told_columns, schema=schema)


def _by_name(batches: Iterator[Any]) -> dict[str, Any]:
    batch = next(batches)
    return dict(zip(batch.schema.names, batch.columns, strict=True))
