"""The source of a merge: Arrow data of any kind, a scan, a snapshot, a table, or a change feed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

import deltaic

SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string())])
FEED = {"delta.enableChangeDataFeed": "true"}
NEW = pa.table({"id": [2, 3], "name": ["new", "new"]}, schema=SCHEMA)
ON = "target.id = source.id"


def made(root: Path, **properties: str) -> deltaic.Table:
    table = deltaic.Table.create(root, SCHEMA, properties=properties)
    table.append(pa.table({"id": [1, 2], "name": ["old", "old"]}, schema=SCHEMA))
    return table


def rows_of(table: deltaic.Table) -> dict[int, str]:
    found = table.snapshot().scan().to_arrow().to_pylist()
    assert len({row["id"] for row in found}) == len(found)
    return {row["id"]: row["name"] for row in found}


def upsert(table: deltaic.Table, source: Any) -> deltaic.Merge:
    return table.merge(source, on=ON).when_matched_update_all().when_not_matched_insert_all()


def other(root: Path) -> deltaic.Table:
    table = deltaic.Table.create(root / "other", SCHEMA)
    table.append(NEW)
    return table


SOURCES: dict[str, Callable[[Path], Any]] = {
    "table": lambda _: NEW,
    "record batch": lambda _: NEW.to_batches()[0],
    "reader": lambda _: NEW.to_reader(),
    "scanner": lambda _: ds.dataset(NEW).scanner().to_reader(),
    "polars": lambda _: pl.from_arrow(NEW),
    "pandas": lambda _: NEW.to_pandas(),
    "pandas with an index": lambda _: NEW.to_pandas().set_index("id"),
    "array of structs": lambda _: NEW.to_struct_array().combine_chunks(),
    "scan": lambda root: other(root).snapshot().scan(),
    "scan of columns in another order": lambda root: other(root).snapshot().scan(["name", "id"], "id > 0"),
    "snapshot": lambda root: other(root).snapshot(),
    "delta table": other,
    "changes": lambda root: other(root).changes(1, infer=True),
    "files": lambda root: pa.table(other(root).snapshot().scan()),
}


@pytest.mark.parametrize("name", SOURCES)
def test_every_source(root: Path, tmp_path: Path, name: str) -> None:
    table = made(root)
    commit = upsert(table, SOURCES[name](tmp_path)).execute()
    assert (commit.metrics["numTargetRowsUpdated"], commit.metrics["numTargetRowsInserted"]) == (1, 1)
    assert rows_of(table) == {1: "old", 2: "new", 3: "new"}


@pytest.mark.parametrize("name", ["snapshot", "delta table"])
def test_a_table_is_merged_into_itself(root: Path, name: str) -> None:
    table = made(root)
    source = table if name == "delta table" else table.snapshot()
    merge = table.merge(source, on=ON)
    merge = merge.when_matched_update({"name": "concat(source.name, '!')"}, "target.id = 1")
    assert merge.execute().metrics["numSourceRows"] == 2
    assert rows_of(table) == {1: "old!", 2: "old"}


def test_a_table_is_read_when_the_merge_runs(root: Path, tmp_path: Path) -> None:
    """A snapshot, however, is one version."""
    table, source = made(root), other(tmp_path)
    of_table, of_snapshot = upsert(table, source), upsert(table, source.snapshot())
    source.append(pa.table({"id": [4], "name": ["later"]}, schema=SCHEMA))
    assert of_snapshot.execute(dry_run=True).added_rows == 1
    assert of_table.execute(dry_run=True).added_rows == 2
    of_table.execute()
    assert rows_of(table) == {1: "old", 2: "new", 3: "new", 4: "later"}


def test_a_replica_follows_a_change_feed(root: Path, tmp_path: Path) -> None:
    table = deltaic.Table.create(tmp_path / "other", SCHEMA, properties=FEED)
    table.append(pa.table({"id": [1, 2, 3], "name": ["a", "b", "c"]}, schema=SCHEMA))
    replica = deltaic.Table.create(root, SCHEMA)
    replica.append(table.snapshot().scan())
    known = table.snapshot().version
    table.update({"name": "upper(name)"}, "id = 1")
    table.delete("id = 2")
    table.append(pa.table({"id": [4], "name": ["d"]}, schema=SCHEMA))
    last = "_change_type <> 'update_preimage'"
    merge = replica.merge(table.changes(known + 1), on=f"{ON} AND source.{last}")
    merge = merge.when_matched_delete("source._change_type = 'delete'").when_matched_update_all()
    merge.when_not_matched_insert_all("_change_type = 'insert'").execute()
    assert rows_of(replica) == rows_of(table) == {1: "A", 3: "c", 4: "d"}


def test_a_stream_is_read_batch_by_batch(root: Path) -> None:
    """Each batch is requested after the one before it was released by Python."""
    requested: list[int] = []

    def batches() -> Any:
        for number in range(5):
            requested.append(number)
            yield pa.record_batch([[10 + number], ["new"]], schema=SCHEMA)

    table = made(root)
    merge = upsert(table, pa.RecordBatchReader.from_batches(SCHEMA, batches()))
    assert requested == []
    assert merge.execute().metrics["numTargetRowsInserted"] == 5
    assert requested == [0, 1, 2, 3, 4]


def test_the_error_of_a_stream_changes_nothing(root: Path) -> None:
    def batches() -> Any:
        yield NEW.to_batches()[0]
        raise OSError("the line went dead")

    table = made(root)
    with pytest.raises(ValueError, match="the line went dead"):
        upsert(table, pa.RecordBatchReader.from_batches(SCHEMA, batches())).execute()
    assert rows_of(table) == {1: "old", 2: "old"}
    assert len(list(root.glob("*.parquet"))) == 1


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        ([{"id": 1}], r"use pyarrow\.Table\.from_pylist\(rows\)"),
        ({"id": [1]}, r"use pyarrow\.table\(data\)"),
        (pl.LazyFrame({"id": [1]}), r"call \.collect\(\) first"),
        ("news.parquet", "read the file first"),
        (iter([NEW]), r"use pyarrow\.RecordBatchReader\.from_batches"),
    ],
)
def test_what_is_no_source(root: Path, source: Any, hint: str) -> None:
    with pytest.raises(TypeError, match=hint):
        made(root).merge(source, on=ON)


def test_an_index_without_a_name_is_no_column(root: Path) -> None:
    frame = pd.DataFrame({"id": [2], "name": ["new"]}, index=[7])
    with pytest.raises(deltaic.SchemaMismatch, match="The index has no name"):
        upsert(made(root), frame).execute()
