"""Tasks that write data files in other processes, and the transaction that adds the files."""

from __future__ import annotations

import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic
from deltaic.alter import AddConstraint, SetProperties

SCHEMA = pa.schema([("id", pa.int64()), ("p", pa.string()), ("x", pa.float64())])
ROWS = pa.table(
    {
        "id": list(range(1_000)),
        "p": [None if i % 7 == 0 else f"p {i % 5}/=" for i in range(1_000)],
        "x": [None if i % 11 == 0 else i / 3 for i in range(1_000)],
    },
    schema=SCHEMA,
)


def written(pickled: bytes, start: int, rows: int) -> list[dict[str, Any]]:
    return pickle.loads(pickled).write(ROWS.slice(start, rows))


def contents(table: deltaic.Table) -> list[Any]:
    return table.snapshot().scan().to_arrow().sort_by("id").to_pylist()


@pytest.mark.parametrize("partition_by", [[], ["p"]])
def test_rows_of_other_processes_are_those_of_an_append(tmp_path: Path, partition_by: list[str]) -> None:
    """Files, statistics and rows equal those of a plain append."""
    by_tasks, by_append = (
        deltaic.Table.create(
            tmp_path / name, SCHEMA, partition_by=partition_by, properties={"delta.enableRowTracking": "true"}
        )
        for name in ("tasks", "append")
    )
    pickled = pickle.dumps(by_tasks.snapshot().write_task())
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        parts = [pool.submit(written, pickled, start, 250) for start in range(0, 1_000, 250)]
        files = [file for part in parts for file in part.result()]
    with by_tasks.transaction() as tx:
        tx.add(files)
    for start in range(0, 1_000, 250):
        by_append.append(ROWS.slice(start, 250))
    assert contents(by_tasks) == contents(by_append) == ROWS.to_pylist()

    def described(table: deltaic.Table) -> list[str]:
        found = table.snapshot().files(stats=True).to_arrow().to_pylist()
        kept = ("partition_values", "num_records", "tight_bounds", "min", "max", "null_count")
        return sorted(str([file.get(name) for name in kept]) for file in found)

    assert described(by_tasks) == described(by_append)
    assert not by_tasks.check().findings


def test_rows_are_checked_and_a_failure_leaves_no_file(tmp_path: Path) -> None:
    table = deltaic.Table.create(tmp_path, SCHEMA, partition_by=["p"])
    table.alter(AddConstraint("small", "id < 999"))
    task = table.snapshot().write_task()
    with pytest.raises(deltaic.ConstraintViolation, match="small"):
        task.write(pa.RecordBatchReader.from_batches(SCHEMA, ROWS.to_batches(100)))
    with pytest.raises(deltaic.SchemaMismatch):
        task.write(pa.table({"other": [1]}))
    assert not list(tmp_path.rglob("*.parquet"))


COLUMNS = [
    deltaic.Column("id", "bigint"),
    deltaic.Column("p", "string"),
    deltaic.Column("x", "double"),
    deltaic.Column("twice", "bigint", generated="id * 2"),
]


@pytest.mark.parametrize("partition_by", [[], ["p"], ["p", "twice"]])
@pytest.mark.parametrize(
    "properties",
    [
        {"delta.columnMapping.mode": "name", "delta.enableChangeDataFeed": "true"},
        {"delta.columnMapping.mode": "id"},
        {"delta.feature.materializePartitionColumns": "supported"},
    ],
)
def test_files_for_mapped_and_generated_columns(
    tmp_path: Path, properties: dict[str, str], partition_by: list[str]
) -> None:
    table = deltaic.Table.create(tmp_path, COLUMNS, properties=properties, partition_by=partition_by)
    pickled = pickle.dumps(table.snapshot().write_task())
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        files = pool.submit(written, pickled, 0, 20).result()
    with table.transaction() as tx:
        tx.add(files)
    table.append(ROWS.slice(20, 20))
    expected = [{**row, "twice": 2 * row["id"]} for row in ROWS.slice(0, 40).to_pylist()]
    assert contents(table) == expected
    assert table.snapshot().scan(predicate="p = 'p 1/=' AND twice > 30").count() == sum(
        row["p"] == "p 1/=" and row["twice"] > 30 for row in expected
    )
    assert table.check(deep=True).is_healthy
    # Files of other engines are refused, and those for an earlier schema.
    before = sorted(tmp_path.rglob("*.json"))
    more = pickle.loads(pickled).write(ROWS.slice(40, 1))
    foreign = [{key: value for key, value in file.items() if key != "written_for"} for file in more]
    with pytest.raises(deltaic.UnsupportedFeature, match="of other engines"), table.transaction() as tx:
        tx.add(foreign)
    assert sorted(tmp_path.rglob("*.json")) == before
    table.alter(SetProperties({"delta.checkpointInterval": "20"}))
    with pytest.raises(ValueError, match="changed after its task was made"), table.transaction() as tx:
        tx.add(more)
    assert contents(table) == expected


def test_tables_with_identity_columns_have_no_task(tmp_path: Path) -> None:
    numbered = deltaic.Table.create(
        tmp_path / "n", [deltaic.Column("id", "bigint", identity=deltaic.Identity())]
    )
    with pytest.raises(deltaic.UnsupportedFeature, match="identity column id"):
        numbered.snapshot().write_task()


def test_a_task_shows_no_secret_and_refuses_other_bytes(tmp_path: Path) -> None:
    task = deltaic.Table.create(tmp_path, SCHEMA).snapshot().write_task()
    assert repr(task) == f"<deltaic.WriteTask of {tmp_path.as_uri()}/>"
    restore, (data,) = task.__reduce__()
    with pytest.raises(ValueError, match="write task"):
        restore(data[:-1])
