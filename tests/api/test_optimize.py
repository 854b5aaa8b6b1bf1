"""`Table.optimize`: small files are combined, and no row changes."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic
from tests.api.live_rows import all_rows, files_of
from tests.api.log_files import actions, of_kind

SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string()), ("part", pa.string())])
VECTORS = {"delta.enableDeletionVectors": "true"}
FEED = {"delta.enableChangeDataFeed": "true"}
TRACKING = {"delta.enableRowTracking": "true"}
MAPPED = {"delta.columnMapping.mode": "name"}
FILES = 6


def rows(*ids: int, part: str = "a") -> pa.Table:
    names = [None if i % 5 == 0 else f"n{i}" for i in ids]
    return pa.table({"id": ids, "name": names, "part": [part] * len(ids)}, schema=SCHEMA)


def made(root: Path, *, by: list[str] | None = None, **properties: str) -> deltaic.Table:
    """Returns a table of six files, each with three rows, in two partitions."""
    table = deltaic.Table.create(root, SCHEMA, partition_by=by or [], properties=properties)
    for file in range(FILES):
        table.append(rows(*range(10 * file, 10 * file + 3), part="ab"[file % 2]))
    return table


@pytest.mark.parametrize(
    "properties",
    [{}, VECTORS, FEED, MAPPED, {**VECTORS, **FEED, **TRACKING, **MAPPED}],
    ids=["plain", "vectors", "feed", "mapped", "all"],
)
@pytest.mark.parametrize("by", [[], ["part"]], ids=["unpartitioned", "partitioned"])
def test_rows_stay_the_same(root: Path, by: list[str], properties: dict[str, str]) -> None:
    """protocol: add-file-and-remove-file.7, row-ids.5."""
    table = made(root, by=by, **properties)
    table.delete("id IN (1, 20)")
    has_ids = "delta.enableRowTracking" in properties
    before = all_rows(table, row_ids=has_ids)
    commit = table.optimize()
    assert (commit.operation, commit.version) == ("OPTIMIZE", FILES + 2)
    assert all_rows(table, row_ids=has_ids) == before
    assert table.snapshot().num_files == (2 if by else 1)
    for action in actions(root, commit.version):
        for kind in ("add", "remove"):
            assert action.get(kind, {}).get("dataChange", False) is False
    assert all(file["deletion_vector"] is None for file in files_of(table))
    assert sum(file["num_records"] for file in files_of(table)) == len(before)
    assert table.changes(commit.version, infer=True).to_arrow().num_rows == 0
    if "delta.enableChangeDataFeed" in properties:
        assert table.changes(commit.version).to_arrow().num_rows == 0
        assert not of_kind(root, commit.version, "cdc")
    assert table.check(deep=True).is_healthy
    # Earlier versions have their files.
    assert table.snapshot(version=FILES).scan().count() == 3 * FILES
    assert table.optimize().skipped
    assert table.snapshot().version == commit.version


def test_parameters_and_metrics_are_those_of_spark(root: Path) -> None:
    table = made(root, by=["part"], **VECTORS)
    table.delete("id = 1")
    removed = files_of(table)
    commit = table.optimize("part IN ('a', 'b')")
    [info] = of_kind(root, commit.version, "commitInfo")
    assert info["operationParameters"] == {
        "predicate": json.dumps(["(part IN ('a', 'b'))"]),
        "zOrderBy": "[]",
        "clusterBy": "[]",
        "auto": False,
    }
    sizes = sorted(file["size"] for file in files_of(table))
    assert commit.metrics == {
        "numAddedFiles": 2,
        "numRemovedFiles": FILES,
        "numAddedBytes": sum(sizes),
        "numRemovedBytes": sum(file["size"] for file in removed),
        "numDeletionVectorsRemoved": 1,
        "minFileSize": sizes[0],
        "p25FileSize": sizes[0],
        "p50FileSize": sizes[1],
        "p75FileSize": sizes[1],
        "maxFileSize": sizes[1],
    }
    assert (info["isBlindAppend"], info["isolationLevel"]) == (False, "SnapshotIsolation")


def test_only_some_partitions(root: Path) -> None:
    table = made(root, by=["part"])
    before = {file["path"] for file in files_of(table) if file["partition_values"]["part"] == "b"}
    assert table.optimize(deltaic.col("part") == "a").metrics["numRemovedFiles"] == 3
    assert {file["path"] for file in files_of(table) if file["partition_values"]["part"] == "b"} == before
    assert table.snapshot().num_files == 4
    assert table.optimize("part = 'c'").skipped
    with pytest.raises(deltaic.InvalidPredicate, match=r'"id" is no partition column') as refused:
        table.optimize("part = 'a' AND id = 1")
    assert refused.value.hint == "the partition columns are part"
    assert refused.value.context["field"] == "id"


def test_where_needs_partition_columns(root: Path) -> None:
    table = made(root)
    with pytest.raises(deltaic.InvalidPredicate, match="the table has no partition columns: omit where"):
        table.optimize("part = 'a'")


def test_partition_values_of_null_and_odd_texts(root: Path) -> None:
    table = deltaic.Table.create(root, SCHEMA, partition_by=["part"])
    texts = [None, "a=b/c", "ä ö", "%20"]
    for file in range(3):
        for place, text in enumerate(texts):
            data = rows(10 * place + file).set_column(2, "part", pa.array([text], pa.string()))
            table.append(data)
    before = all_rows(table)
    table.optimize()
    assert all_rows(table) == before
    assert table.snapshot().num_files == len(texts)


def test_the_target_size(root: Path) -> None:
    table = made(root)
    size = max(file["size"] for file in files_of(table))
    # A target that no two files fit into, and one that two do.
    assert table.optimize(target_file_size=size + 1).skipped
    assert table.optimize(target_file_size=2 * size).metrics["numAddedFiles"] == FILES // 2
    assert table.optimize(target_file_size="100kb").metrics["numAddedFiles"] == 1


def test_the_target_size_of_the_table(root: Path) -> None:
    table = made(root, **{"delta.targetFileSize": "1b"})
    assert table.optimize().skipped
    assert table.optimize(target_file_size="1gb").metrics["numRemovedFiles"] == FILES


@pytest.mark.parametrize("size", ["", "x", "0", "-1", "1 parsec"])
def test_invalid_target_sizes(root: Path, size: str) -> None:
    with pytest.raises(ValueError, match="target_file_size may not be"):
        made(root).optimize(target_file_size=size)


def test_arguments_of_other_types(root: Path) -> None:
    table = made(root)
    with pytest.raises(TypeError, match="target_file_size"):
        table.optimize(target_file_size=1.5)  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="target_file_size must be at least 1"):
        table.optimize(target_file_size=0)
    with pytest.raises(TypeError, match=r"optimize\(\) has no option 'force'"):
        table.optimize(force=True)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="dry_run must be True or False"):
        table.optimize(dry_run=1)  # type: ignore[call-overload]


def test_files_with_many_deleted_rows_are_rewritten_without_them(root: Path) -> None:
    """protocol: deletion-vectors.3."""
    table = deltaic.Table.create(root, SCHEMA, properties=VECTORS)
    for first in (0, 100, 200):
        table.append(rows(*range(first, first + 100)))
    table.delete("id < 5 OR id BETWEEN 100 AND 105")
    # All files have the target size. 5 of 100 rows are not too many, 6 are.
    commit = table.optimize(target_file_size=1)
    assert (commit.metrics["numRemovedFiles"], commit.metrics["numDeletionVectorsRemoved"]) == (1, 1)
    vectors = [file["deletion_vector"] for file in files_of(table)]
    assert sum(vector is not None for vector in vectors) == 1
    assert table.snapshot().scan().count() == 289
    assert table.optimize(target_file_size=1).skipped
    # A file below the target size is rewritten without any deleted row.
    assert table.optimize().metrics["numDeletionVectorsRemoved"] == 1
    assert table.snapshot().num_files == 1


def test_a_single_small_file_is_left_alone(root: Path) -> None:
    table = deltaic.Table.create(root, SCHEMA, properties=VECTORS)
    assert table.optimize().skipped
    table.append(rows(1, 2, 3))
    assert table.optimize().skipped
    table.delete("id = 2")
    assert table.optimize().metrics["numDeletionVectorsRemoved"] == 1
    assert [row["id"] for row in all_rows(table)] == [1, 3]


def test_files_of_deleted_rows_only(root: Path) -> None:
    """A file whose deletion vector has all of its rows, as other writers may leave it, is removed."""
    table = deltaic.Table.create(root, SCHEMA, properties=VECTORS)
    table.append(rows(1, 2, 3))
    table.append(rows(4))
    with table.transaction(operation="DELETE") as tx:
        tx.delete_rows({file["path"]: [0, 1] for file in files_of(table) if file["num_records"] == 3})
    table.optimize()
    assert [row["id"] for row in all_rows(table)] == [3, 4]
    assert table.snapshot().num_files == 1


def test_rows_that_were_written_first_come_first(root: Path) -> None:
    table = made(root)
    table.optimize()
    [file] = files_of(table)
    ids = pq.ParquetFile(root / file["path"]).read()["id"].to_pylist()
    assert ids == [10 * file + row for file in range(FILES) for row in range(3)]


def test_dropped_and_added_columns(root: Path) -> None:
    table = made(root, **MAPPED)
    table.alter(deltaic.alter.DropColumn("name"), deltaic.alter.AddColumn("more", "int"))
    table.append(pa.table({"id": [99], "part": ["a"], "more": pa.array([7], pa.int32())}))
    before = all_rows(table)
    table.optimize()
    assert all_rows(table) == before
    [file] = files_of(table)
    assert len(pq.ParquetFile(root / file["path"]).schema_arrow) == 3


def test_append_only_tables_are_optimized(root: Path) -> None:
    """protocol: append-only-tables.1."""
    table = made(root, **{"delta.appendOnly": "true"})
    assert table.optimize().metrics["numRemovedFiles"] == FILES


def test_a_dry_run_writes_nothing(root: Path) -> None:
    table = made(root, by=["part"], **VECTORS)
    table.delete("id = 1")
    before = sorted(root.rglob("*"))
    found = table.optimize(dry_run=True)
    assert sorted(root.rglob("*")) == before
    assert (found.operation, found.version, found.rows) == ("OPTIMIZE", FILES + 1, 3 * FILES - 1)
    assert (found.rewritten_files, found.added_files) == (FILES, 2)
    assert found.rewritten_bytes == table.snapshot().size_in_bytes
    assert (
        str(table.optimize("part = 'c'", dry_run=True))
        == f"OPTIMIZE of version {FILES + 1} would copy 0 rows"
    )
    with pytest.raises(deltaic.InvalidPredicate):
        table.optimize("id = 1", dry_run=True)


def test_progress_and_commit_info(root: Path) -> None:
    table = made(root)
    seen: list[tuple[str, int, int]] = []
    commit = table.optimize(
        progress=lambda *step: seen.append(step),  # type: ignore[arg-type]
        commit_info={"job": "nightly"},
        app_transaction=("nightly", 1),
    )
    assert seen[-1] == ("rows", 3 * FILES, 3 * FILES)
    assert commit.info["job"] == "nightly"
    table.append(rows(100))
    assert table.optimize(app_transaction=("nightly", 1)).skipped
    assert table.snapshot().num_files == 2


def test_a_damaged_file_leaves_the_table_as_it_was(root: Path) -> None:
    table = made(root)
    path = root / files_of(table)[2]["path"]
    path.write_bytes(path.read_bytes()[:-9] + b"\0" * 9)
    before = sorted(root.rglob("*"))
    with pytest.raises(deltaic.CorruptData):
        table.optimize()
    assert sorted(root.rglob("*")) == before


def test_little_memory(root: Path) -> None:
    """Many bins, of which each is written in a share of the smallest memory."""
    table = deltaic.Table.create(root, SCHEMA, partition_by=["part"])
    for file in range(3):
        parts = [f"p{n}" for n in range(40)]
        table.append(pa.table({"id": range(file * 40, file * 40 + 40), "name": parts, "part": parts}))
    before = all_rows(table)
    commit = table.optimize(memory=1 << 20)
    assert (commit.metrics["numRemovedFiles"], commit.metrics["numAddedFiles"]) == (120, 40)
    assert all_rows(table) == before
