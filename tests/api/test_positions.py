"""Scans with positions: the data file of each row, and the row's position there."""

from __future__ import annotations

import pickle
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic

COLUMNS = ["_file_path", "_file_position"]


def made(root: Path | str, *, partitioned: bool = False) -> deltaic.Table:
    """Returns a table of three files of 100 rows; the id of a row is 100 * file + position."""
    schema = pa.schema([("id", pa.int64()), ("text", pa.string()), ("part", pa.int32())])
    table = deltaic.Table.create(
        root,
        schema,
        partition_by=["part"] if partitioned else [],
        properties={"delta.enableDeletionVectors": "true"},
    )
    for file in range(3):
        ids = range(100 * file, 100 * file + 100)
        table.append(
            pa.table({"id": ids, "text": [f"t{i}" for i in ids], "part": [file] * 100}, schema=schema)
        )
    return table


@pytest.mark.parametrize("partitioned", [False, True])
@pytest.mark.parametrize(
    "where", [None, "id IN (3, 4, 10, 104, 299)", "text = 't150'", "part = 1", "part = 1 AND id > 180"]
)
def test_each_row_has_its_file_and_position(root: Path, where: str | None, partitioned: bool) -> None:
    table = made(root, partitioned=partitioned)
    snapshot = table.snapshot()
    rows = snapshot.scan(["id"], where, positions=True).to_arrow()
    assert rows.column_names == ["id", *COLUMNS]
    assert rows.schema.field("_file_position").type == pa.int64()
    expected = snapshot.scan(["id"], where).to_arrow()
    assert rows["id"] == expected["id"]
    assert [i % 100 for i in rows["id"].to_pylist()] == rows["_file_position"].to_pylist()
    live = set(snapshot.files().to_arrow()["path"].to_pylist())
    pairs = set(zip(rows["_file_path"].to_pylist(), (i // 100 for i in rows["id"].to_pylist()), strict=True))
    assert {path for path, _ in pairs} <= live
    assert len(pairs) == len({path for path, _ in pairs}) == len({file for _, file in pairs})


def test_positions_count_deleted_rows(root: Path) -> None:
    table = made(root)
    with table.transaction() as tx:
        found = tx.snapshot.scan(["id"], "id IN (0, 1, 150)", positions=True).to_arrow().to_pylist()
        rows: dict[str, list[int]] = {}
        for row in found:
            rows.setdefault(row["_file_path"], []).append(row["_file_position"])
        assert tx.delete_rows(rows) == 3
    left = table.snapshot().scan(positions=True).to_arrow()
    ids = left["id"].to_pylist()
    assert sorted(ids) == sorted(set(range(300)) - {0, 1, 150})
    assert [i % 100 for i in ids] == left["_file_position"].to_pylist()


@pytest.mark.parametrize("batch_size", [1, 7, 1000])
def test_positions_do_not_depend_on_batches(root: Path, batch_size: int) -> None:
    scan = (
        made(root)
        .snapshot()
        .scan(
            ["id"],
            f"id IN ({', '.join(map(str, range(0, 300, 3)))})",
            positions=True,
            batch_size=batch_size,
            limit=50,
        )
    )
    rows = scan.to_arrow()
    assert rows.num_rows == 50
    assert [i % 100 for i in rows["id"].to_pylist()] == rows["_file_position"].to_pylist()


def test_only_positions_can_be_read(root: Path) -> None:
    rows = made(root).snapshot().scan([], positions=True).to_arrow()
    assert rows.column_names == COLUMNS
    assert sorted(rows["_file_position"].to_pylist()) == sorted(3 * list(range(100)))


def test_tasks_keep_positions(root: Path) -> None:
    snapshot = made(root).snapshot()
    scan = snapshot.scan(["id"], "id >= 100", positions=True)
    sent = [pickle.loads(pickle.dumps(task)) for task in scan.tasks()]
    read = pa.concat_tables([pa.table(task) for task in sent])
    assert read == scan.to_arrow()
    assert scan.count() == 200


def test_positions_on_a_store() -> None:
    table = made("memory://positions/table")
    rows = table.snapshot().scan(["id"], "id > 250", positions=True).to_arrow()
    assert [i % 100 for i in rows["id"].to_pylist()] == rows["_file_position"].to_pylist()


def test_with_row_ids(root: Path) -> None:
    table = deltaic.Table.create(
        root, pa.schema([("id", pa.int64())]), properties={"delta.enableRowTracking": "true"}
    )
    table.append(pa.table({"id": [1, 2]}))
    rows = table.snapshot().scan(row_ids=True, positions=True).to_arrow()
    assert rows.column_names == ["id", "_row_id", "_row_commit_version", *COLUMNS]
    assert rows["_file_position"].to_pylist() == [0, 1]


@pytest.mark.parametrize("name", ["_file_path", "_FILE_POSITION"])
def test_a_column_of_that_name_is_an_error(root: Path, name: str) -> None:
    table = deltaic.Table.create(root, pa.schema([(name, pa.int64())]))
    with pytest.raises(deltaic.SchemaMismatch, match="which a scan with positions adds") as caught:
        table.snapshot().scan(positions=True)
    assert caught.value.hint == "rename the column"
    assert table.snapshot().scan().to_arrow().num_rows == 0
