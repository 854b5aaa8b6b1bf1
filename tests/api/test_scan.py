"""`Snapshot.scan` and `ScanTask`: projection, limits, batches, counts, tasks, explain."""

from __future__ import annotations

import json
import pickle
import re
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pytest

import deltaic
from tests.api.log_files import of_kind, set_commit_time, write_commit


def ids(data: pa.Table) -> list[int]:
    return sorted(data["id"].to_pylist())


def test_columns_come_in_the_order_requested(regions: deltaic.Table) -> None:
    snapshot = regions.snapshot()
    assert snapshot.scan().to_arrow().column_names == ["region", "id"]
    assert snapshot.scan(["id", "region"]).to_arrow().column_names == ["id", "region"]
    assert snapshot.scan(columns=["region"]).to_arrow().column_names == ["region"]
    assert snapshot.scan(("id",)).schema.names == ["id"]


def test_no_columns_are_rows_all_the_same(regions: deltaic.Table) -> None:
    scan = regions.snapshot().scan([])
    assert scan.schema.names == []
    assert scan.count() == 6
    assert sum(batch.num_rows for batch in scan) == 6


def test_the_schema_is_what_comes_out(regions: deltaic.Table) -> None:
    scan = regions.snapshot().scan(["id"], "region = 'EU'")
    assert scan.schema.to_arrow() == scan.to_arrow().schema == pa.schema([("id", pa.int64())])
    assert next(iter(scan)).schema == scan.schema.to_arrow()
    assert pa.schema(scan.schema) == scan.schema.to_arrow()


def test_a_predicate_may_use_columns_that_are_not_read(regions: deltaic.Table) -> None:
    assert ids(regions.snapshot().scan(["id"], "region = 'EU'").to_arrow()) == [1, 4, 6]
    assert regions.snapshot().scan(["region"], "id = 2").to_arrow()["region"].to_pylist() == ["US"]


@pytest.mark.parametrize(
    ("columns", "near"),
    [(["idd"], "id"), (["Regoin"], "region"), (["id", "nothing_like_it"], "nothing_like_it")],
)
def test_an_unknown_column_is_a_value_error_with_the_nearest(
    regions: deltaic.Table, columns: list[str], near: str
) -> None:
    with pytest.raises(ValueError, match=near):
        regions.snapshot().scan(columns)


def test_columns_are_a_list(regions: deltaic.Table) -> None:
    with pytest.raises(TypeError, match=re.escape("columns=['id']")):
        regions.snapshot().scan("id")


@pytest.mark.parametrize("limit", [0, 1, 4, 6, 100])
def test_a_limit_cuts(numbers: deltaic.Table, limit: int) -> None:
    scan = numbers.snapshot().scan(limit=limit)
    found = ids(scan.to_arrow())
    assert len(found) == min(limit, 6)
    assert set(found) <= set(range(6))
    assert scan.count() == min(limit, 6)
    assert numbers.snapshot().scan(predicate="id >= 2", limit=limit).to_arrow().num_rows == min(limit, 4)


@pytest.mark.parametrize("batch_size", [1, 2, 100])
def test_batches_have_a_size(numbers: deltaic.Table, batch_size: int) -> None:
    sizes = [batch.num_rows for batch in numbers.snapshot().scan(batch_size=batch_size)]
    assert sum(sizes) == 6
    assert max(sizes) <= batch_size


@pytest.mark.parametrize("wrong", [{"limit": -1}, {"batch_size": 0}, {"batch_size": -1}], ids=str)
def test_a_wrong_number_is_refused(numbers: deltaic.Table, wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        numbers.snapshot().scan(**wrong)  # type: ignore[arg-type]


def test_rows_go_anywhere_and_each_time_again(regions: deltaic.Table) -> None:
    scan = regions.snapshot().scan()
    arrow = scan.to_arrow()
    assert ids(arrow) == ids(scan.to_arrow()) == [1, 2, 3, 4, 5, 6]
    assert ids(pa.Table.from_batches(scan)) == [1, 2, 3, 4, 5, 6]
    assert sorted(scan.to_pandas()["id"]) == [1, 2, 3, 4, 5, 6]
    assert sorted(scan.to_polars()["id"]) == sorted(pl.DataFrame(scan)["id"]) == [1, 2, 3, 4, 5, 6]
    assert duckdb.connect().from_arrow(scan).aggregate("sum(id)").fetchall() == [(21,)]


def test_an_empty_result_retains_its_columns(numbers: deltaic.Table) -> None:
    scan = numbers.snapshot().scan(predicate="id > 100")
    assert scan.to_arrow() == numbers.snapshot().schema.to_arrow().empty_table()
    assert scan.to_polars().columns == ["id", "name"]
    assert list(scan.to_pandas().columns) == ["id", "name"]
    assert scan.count() == 0


@pytest.mark.parametrize(
    ("predicate", "count"),
    [(None, 6), ("region = 'EU'", 3), ("id > 4", 2), ("region = 'EU' AND id > 4", 1), ("region IS NULL", 1)],
)
def test_count_is_the_number_of_rows(regions: deltaic.Table, predicate: str | None, count: int) -> None:
    scan = regions.snapshot().scan(predicate=predicate)
    assert scan.count() == scan.to_arrow().num_rows == count


def test_count_needs_no_data_file_where_the_log_is_exact(regions: deltaic.Table, root: Path) -> None:
    for file in root.rglob("*.parquet"):
        file.unlink()
    assert regions.snapshot().scan().count() == 6
    assert regions.snapshot().scan(predicate="region = 'EU'").count() == 3


def test_partitions_that_cannot_match_are_not_opened(regions: deltaic.Table, root: Path) -> None:
    for add in of_kind(root, 1, "add"):
        if add["partitionValues"]["region"] != "EU":
            (root / add["path"]).unlink()
    scan = regions.snapshot().scan(predicate="region = 'EU'")
    assert ids(scan.to_arrow()) == [1, 4, 6]
    assert len(scan.tasks()) == 1
    assert len(regions.snapshot().scan().tasks()) == 3


def test_explain_counts_files(regions: deltaic.Table) -> None:
    text = regions.snapshot().scan(predicate="region = 'EU' AND id > 4").explain()
    counts = [int(number) for number in re.findall(r"\b\d+\b", text)]
    assert 3 in counts, text
    assert 1 in counts, text
    assert "region" in text


def test_a_missing_data_file_is_corrupt_data_by_every_way(numbers: deltaic.Table, root: Path) -> None:
    [add] = of_kind(root, 1, "add")
    (root / add["path"]).unlink()
    scan = numbers.snapshot().scan()
    ways = [scan.to_arrow, scan.to_pandas, scan.to_polars, lambda: list(scan)]
    ways.append(lambda: [task.read().read_all() for task in scan.tasks()])
    for way in ways:
        with pytest.raises(deltaic.CorruptData) as caught:
            way()
        assert add["path"] in str(caught.value)
        assert add["path"] in str(caught.value.context["path"])
        assert caught.value.hint is not None


def test_tasks_together_are_the_scan(regions: deltaic.Table) -> None:
    scan = regions.snapshot().scan(["id"], "id <> 4")
    tasks = scan.tasks()
    found = [number for task in tasks for number in task.read().read_all()["id"].to_pylist()]
    assert sorted(found) == [1, 2, 3, 5, 6]
    sizes = {row["path"]: row["size"] for row in regions.snapshot().files().to_arrow().to_pylist()}
    assert {task.path: task.size_in_bytes for task in tasks} == sizes
    assert {batch.num_rows for task in tasks for batch in task.read()} <= {1, 2, 3}
    assert pa.table(tasks[0]).column_names == ["id"]


def read_ids(task: deltaic.ScanTask) -> list[int]:
    ids_read: list[int] = task.read().read_all()["id"].to_pylist()
    return ids_read


def test_tasks_are_read_in_other_processes(regions: deltaic.Table) -> None:
    tasks = regions.snapshot().scan(predicate="id > 1").tasks()
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        found = [number for part in pool.map(read_ids, tasks) for number in part]
    assert sorted(found) == [2, 3, 4, 5, 6]


def test_tasks_are_read_after_a_fork(regions: deltaic.Table) -> None:
    """The child must not use the runtime that the parent has already started."""
    assert regions.snapshot().scan().count() == 6
    tasks = regions.snapshot().scan().tasks()
    read_ids(tasks[0])
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as pool:
        found = [number for part in pool.map(read_ids, tasks) for number in part]
    assert sorted(found) == [1, 2, 3, 4, 5, 6]


def test_a_pickled_task_is_whole(regions: deltaic.Table) -> None:
    for task in regions.snapshot().scan(["id"], "id > 0").tasks():
        back = pickle.loads(pickle.dumps(task))
        assert (back.path, back.size_in_bytes) == (task.path, task.size_in_bytes)
        assert back.read().read_all() == task.read().read_all()
        assert task.path in repr(task)


def test_bytes_that_are_not_task_are_refused() -> None:
    for data in (b"", b"{}", b"\x80nonsense"):
        with pytest.raises(ValueError, match="not a scan task"):
            deltaic._rust.ScanTask.from_bytes(data)


def test_a_task_retains_its_version(numbers: deltaic.Table, root: Path) -> None:
    tasks = numbers.snapshot(version=1).scan().tasks()
    numbers.append(pa.table({"id": [6], "name": ["six"]}))
    set_commit_time(root, 1, 0)
    assert sorted(number for task in tasks for number in read_ids(task)) == [0, 1, 2]


def test_a_scan_may_be_left_halfway(numbers: deltaic.Table) -> None:
    scan = numbers.snapshot().scan(batch_size=1)
    for batches in (iter(scan), pa.RecordBatchReader.from_stream(scan), scan.tasks()[0].read()):
        assert next(batches).num_rows == 1
    assert scan.to_arrow().num_rows == 6


def test_a_scan_is_read_by_many_threads_at_once(numbers: deltaic.Table) -> None:
    scan = numbers.snapshot().scan(predicate="id > 1")
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: ids(scan.to_arrow()), range(40)))
    assert found == [[2, 3, 4, 5]] * 40


def test_after_an_arrow_stream_the_error_retains_its_text(numbers: deltaic.Table, root: Path) -> None:
    [add] = of_kind(root, 1, "add")
    (root / add["path"]).unlink()
    with pytest.raises(pa.ArrowException) as caught:
        pa.table(numbers.snapshot().scan())
    assert "CorruptData" in str(caught.value)
    assert add["path"] in str(caught.value)


def test_old_files_lack_new_columns(numbers: deltaic.Table, root: Path) -> None:
    """A column added to the schema later reads as NULL from older files."""
    [metadata] = of_kind(root, 0, "metaData")
    schema = json.loads(metadata["schemaString"])
    schema["fields"].append({"name": "new", "type": "double", "nullable": True, "metadata": {}})
    write_commit(root, 3, {"metaData": {**metadata, "schemaString": json.dumps(schema)}})
    data = numbers.snapshot().scan().to_arrow()
    assert data.column("new").to_pylist() == [None] * 6
    assert data.schema.field("new").type == pa.float64()
    assert numbers.snapshot().scan(predicate="new IS NULL").count() == 6
    assert numbers.snapshot().scan(predicate="new > 0").count() == 0
