"""Headings *Data Files* and *Consistency Between Table Metadata and Data Files*."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic

from .handmade_log import HandmadeTable, field, ids, metadata, protocol, read_commit, schema

PARTITIONED = schema(field("id"), field("day", "date"))


def test_the_directories_state_nothing(tmp_path: Path) -> None:
    """protocol: data-files.2."""
    table = HandmadeTable(tmp_path / "t")
    table.commit(
        protocol(),
        metadata(PARTITIONED, ["day"]),
        table.data("day=2001-01-01/a.parquet", ids(1), values={"day": "2024-01-01"}),
        table.data("b.parquet", ids(2), values={"day": "2024-01-02"}),
        table.data("other/place=7/c.parquet", ids(3), values={"day": None}),
    )
    rows = deltaic.Table(table.root).snapshot().scan().to_arrow().to_pylist()
    found = sorted((row["id"], str(row["day"])) for row in rows)
    assert found == [(1, "2024-01-01"), (2, "2024-01-02"), (3, "None")]


def test_the_log_rules_over_a_partition_column_in_the_file(tmp_path: Path) -> None:
    """protocol: data-files.2."""
    table = HandmadeTable(tmp_path / "t")
    inside = pa.table({"id": [1], "p": ["in the file"]})
    table.commit(
        protocol(),
        metadata(schema(field("id"), field("p", "string")), ["p"]),
        table.data("a.parquet", inside, values={"p": "in the log"}),
    )
    snapshot = deltaic.Table(table.root).snapshot()
    assert snapshot.scan().to_arrow()["p"].to_pylist() == ["in the log"]
    assert snapshot.scan(predicate="p = 'in the file'").to_arrow().num_rows == 0
    assert snapshot.scan(columns=["p"]).to_arrow().to_pylist() == [{"p": "in the log"}]


@pytest.mark.parametrize("feature", ["materializePartitionColumns", "icebergCompatV3"])
def test_the_log_rules_where_files_must_hold_their_partition_too(tmp_path: Path, feature: str) -> None:
    """protocol: beyond:materialized-partitions.1."""
    table = HandmadeTable(tmp_path / "t")
    inside = pa.table({"id": [1], "p": ["in the file"]})
    table.commit(
        protocol(1, 7, None, [feature, "columnMapping", "rowTracking", "domainMetadata"]),
        metadata(schema(field("id"), field("p", "string")), ["p"]),
        table.data("a.parquet", inside, values={"p": "in the log"}),
    )
    snapshot = deltaic.Table(table.root).snapshot()
    assert snapshot.scan().to_arrow()["p"].to_pylist() == ["in the log"]
    if feature == "materializePartitionColumns":
        deltaic.Table(table.root).append(pa.table({"id": [2], "p": ["later"]}))
        assert read_partition_column(table.root) == ["later"]
        assert deltaic.Table(table.root).snapshot().scan(predicate="p = 'later'").count() == 1


def read_partition_column(root: Path) -> list[str]:
    """Returns the values of column `p` in the file of version 1."""
    [add] = [action["add"] for action in read_commit(root, 1) if "add" in action]
    assert "p" not in add["stats"].replace("numRecords", "")
    return pq.ParquetFile(root / add["path"]).read()["p"].to_pylist()


def test_columns_that_a_file_lacks_are_null(tmp_path: Path) -> None:
    # protocol: consistency-between-table-metadata-and-data-files.3,
    # consistency-between-table-metadata-and-data-files.4
    struct = {"type": "struct", "fields": [field("old"), field("new", "string")]}
    table = HandmadeTable(tmp_path / "t")
    rows = pa.table({"id": [1, 2], "s": pa.array([{"old": 1}, None], pa.struct([("old", pa.int64())]))})
    table.commit(
        protocol(),
        metadata(schema(field("id"), field("later", "string"), field("s", struct), field("more", "double"))),
        table.data("a.parquet", rows),
    )
    snapshot = deltaic.Table(table.root).snapshot()
    assert snapshot.scan().to_arrow().to_pylist() == [
        {"id": 1, "later": None, "s": {"old": 1, "new": None}, "more": None},
        {"id": 2, "later": None, "s": None, "more": None},
    ]
    assert snapshot.scan(columns=["later"]).to_arrow().to_pylist() == [{"later": None}] * 2
    assert snapshot.scan(predicate="later IS NULL AND id = 2").to_arrow()["id"].to_pylist() == [2]
    assert snapshot.scan(predicate="later = 'x'").to_arrow().num_rows == 0


def test_columns_that_the_schema_lacks_are_not_read(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    rows = pa.table({"_change_type": ["insert"], "id": [1], "other": [2.0]})
    table.create(table.data("a.parquet", rows))
    assert deltaic.Table(table.root).snapshot().scan().to_arrow().to_pylist() == [{"id": 1}]


def test_the_order_of_columns_is_the_schemas(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    text = schema(field("p", "string"), field("b"), field("a"), field("q", "string"))
    values = {"q": "2", "p": "1"}
    file = table.data("a.parquet", pa.table({"a": [1], "b": [2]}), values=values)
    table.commit(protocol(), metadata(text, ["q", "p"]), file)
    snapshot = deltaic.Table(table.root).snapshot()
    assert snapshot.scan().to_arrow().to_pylist() == [{"p": "1", "b": 2, "a": 1, "q": "2"}]
    assert snapshot.scan().to_arrow().column_names == ["p", "b", "a", "q"]
    assert snapshot.scan(columns=["q", "b"]).to_arrow().column_names == ["q", "b"]
    assert snapshot.partition_columns == ["q", "p"]


def test_written_files_have_names_of_their_own(tmp_path: Path) -> None:
    """protocol: data-files.3."""
    root = tmp_path / "t"
    table = deltaic.Table.create(root, pa.schema([("id", pa.int64())]))
    for _ in range(5):
        table.append(ids(1))
    before = {path: path.read_bytes() for path in root.glob("*.parquet")}
    assert len(before) == 5
    table.append(ids(1))
    assert {path: path.read_bytes() for path in before} == before
    assert len(list(root.glob("*.parquet"))) == 6


def test_written_files_hold_no_column_that_the_schema_lacks(tmp_path: Path) -> None:
    # protocol: consistency-between-table-metadata-and-data-files.1,
    # consistency-between-table-metadata-and-data-files.2
    root = tmp_path / "t"
    rows = pa.table({"id": [1, 2, 3], "p": ["a", "b", None], "q": [1, 1, 1]})
    deltaic.Table.create(root, rows.schema, partition_by=["p", "q"]).append(rows)
    adds = [action["add"] for action in read_commit(root, 1) if "add" in action]
    assert len(adds) == 3
    assert all(set(add["partitionValues"]) == {"p", "q"} for add in adds)
    for path in root.rglob("*.parquet"):
        assert set(pq.read_schema(path).names) <= {"id", "p", "q"}
