"""Tables with only partition columns, as other writers create them: files may have no columns."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic

from .handmade_log import HandmadeTable, domain, metadata, protocol
from .handmade_vectors import without
from .partition_columns_only import (
    ALL,
    Write,
    counted,
    expected,
    file_of,
    uncounted,
    with_others,
    with_values,
)

KEPT = {
    "delta.enableRowTracking": "true",
    "delta.rowTracking.materializedRowIdColumnName": "_ids",
    "delta.rowTracking.materializedRowCommitVersionColumnName": "_versions",
    "delta.enableChangeDataFeed": "true",
}
FEATURES = ["deletionVectors", "rowTracking", "domainMetadata", "changeDataFeed"]


EVERY = pytest.mark.parametrize("write", [counted, uncounted, with_values, with_others])


@pytest.fixture
def table(tmp_path: Path) -> HandmadeTable:
    return HandmadeTable(tmp_path / "t")


@EVERY
def test_every_way_reads_as_many_rows_as_are_counted(table: HandmadeTable, write: Write) -> None:
    table.create(
        file_of(table, write, 3),
        file_of(table, write, 5),
        schema_string=ALL,
        partition_by=["p", "q"],
    )
    snapshot = deltaic.Table(table.root).snapshot()
    assert snapshot.num_rows == 8
    assert snapshot.scan().count() == 8
    assert snapshot.scan().to_arrow().sort_by("q") == expected(3, 5)
    assert sum(batch.num_rows for batch in snapshot.scan(batch_size=2)) == 8
    assert [batch.num_rows for batch in snapshot.scan(["q"], predicate="q = 5", batch_size=2)] == [2, 2, 1]
    assert snapshot.scan([]).to_arrow().num_rows == 8
    assert snapshot.scan(limit=4).to_arrow().num_rows == snapshot.scan(limit=4).count() == 4
    for predicate, rows in [("q = 3", 3), ("p LIKE 'of%'", 8), ("q > 5", 0), ("q = 3 OR p = 'of 5'", 8)]:
        scan = snapshot.scan(predicate=predicate)
        assert (scan.to_arrow().num_rows, scan.count()) == (rows, rows), predicate
    tasks = [pickle.loads(pickle.dumps(task)) for task in snapshot.scan().tasks()]
    assert pa.concat_tables([pa.table(task) for task in tasks]).sort_by("q") == expected(3, 5)
    assert snapshot.to_pyarrow_dataset().count_rows() == 8


@EVERY
def test_deleted_rows_row_ids_and_changes(table: HandmadeTable, write: Write) -> None:
    made = [
        file_of(table, write, 3, baseRowId=0, defaultRowCommitVersion=0, **without(1)),
        file_of(table, write, 5, baseRowId=3, defaultRowCommitVersion=0),
    ]
    told = domain("delta.rowTracking", '{"rowIdHighWaterMark":7}')
    table.commit(protocol(3, 7, ["deletionVectors"], FEATURES), metadata(ALL, ["p", "q"], KEPT), told, *made)
    handle = deltaic.Table(table.root)
    snapshot = handle.snapshot()
    assert snapshot.num_rows == snapshot.scan().count() == 7
    rows = snapshot.scan(row_ids=True).to_arrow().sort_by("_row_id")
    assert rows["_row_id"].to_pylist() == [0, 2, 3, 4, 5, 6, 7]
    assert rows["q"].to_pylist() == [3] * 2 + [5] * 5
    changes = handle.changes(0).to_arrow()
    assert changes.num_rows == 7
    assert set(changes["_change_type"].to_pylist()) == {"insert"}


@pytest.mark.parametrize("write", [counted, with_values, with_others])
def test_statistics_need_not_count_the_rows(table: HandmadeTable, write: Write) -> None:
    table.create(file_of(table, write, 3, stats=False), schema_string=ALL, partition_by=["p", "q"])
    snapshot = deltaic.Table(table.root).snapshot()
    assert snapshot.num_rows is None
    assert snapshot.scan().count() == 3
    assert snapshot.scan().to_arrow() == expected(3)


def test_a_file_that_counts_its_rows_is_believed(table: HandmadeTable) -> None:
    """Statistics replace a missing row count, never an existing one."""
    lies = {"stats": json.dumps({"numRecords": 9})}
    one = file_of(table, counted, 3)
    table.create({"add": {**one["add"], **lies}}, schema_string=ALL, partition_by=["p", "q"])
    assert deltaic.Table(table.root).snapshot().scan().to_arrow() == expected(3)
