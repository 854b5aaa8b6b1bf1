"""Rows from a source that raises: the table is unchanged, and no file remains."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic

SCHEMA = pa.schema([("id", pa.int64()), ("part", pa.int64())])
FORMS = {
    "plain": {},
    "vectors": {"delta.enableDeletionVectors": "true"},
    "mapped with a feed": {"delta.enableChangeDataFeed": "true", "delta.columnMapping.mode": "name"},
}
# Files end after each batch.
SMALL_FILES = {"delta.targetFileSize": "1kb"}


def rows_from(first: int) -> pa.Table:
    ids = range(first, first + 1000)
    return pa.table({"id": ids, "part": [i % 3 for i in ids]}, schema=SCHEMA)


def source(batches: int) -> pa.RecordBatchReader:
    """Returns batches and raises then."""

    def rows() -> Iterator[pa.RecordBatch]:
        for number in range(batches):
            yield from rows_from(1000 * number).to_batches()
        raise RuntimeError("the source broke")

    return pa.RecordBatchReader.from_batches(SCHEMA, rows())


def together(table: deltaic.Table, rows: pa.RecordBatchReader) -> None:
    with table.transaction() as tx:
        tx.delete("id % 2 = 0")
        tx.append(rows)


Verb = Callable[[deltaic.Table, pa.RecordBatchReader], object]
VERBS: dict[str, Verb] = {
    "append": lambda table, rows: table.append(rows),
    "overwrite": lambda table, rows: table.overwrite(rows),
    "overwrite where": lambda table, rows: table.overwrite(rows, "id >= -1000"),
    "overwrite some": lambda table, rows: table.overwrite(rows, "id >= -500"),
    "overwrite partitions": lambda table, rows: table.overwrite(rows, partitions="dynamic"),
    "write": lambda table, rows: deltaic.write(table.uri, rows, mode="append"),
    "transaction": together,
}


@pytest.mark.parametrize("batches", [0, 1, 5])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("verb", VERBS)
def test_nothing_remains(tmp_path: Path, verb: str, form: str, batches: int) -> None:
    properties = {**SMALL_FILES, **FORMS[form]}
    table = deltaic.Table.create(tmp_path, SCHEMA, partition_by=["part"], properties=properties)
    table.append(rows_from(-1000))
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(Exception, match="the source broke"):
        VERBS[verb](table, source(batches))
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == before
    assert table.snapshot().version == 1
    assert table.snapshot().num_rows == 1000
