"""`Table.delete` and `Transaction.delete`: metadata only, by deletion vectors, and by rewriting files."""

# A transaction raises at the end of its block.
# ruff: noqa: PT012

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import deltaic
from deltaic import _rust
from deltaic.values.commit_options import to_options
from tests.api.log_files import of_kind

ROWS = 60
SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string()), ("day", pa.int32())])
VECTORS = {"delta.enableDeletionVectors": "true"}
FEED = {"delta.enableChangeDataFeed": "true"}
TRACKING = {"delta.enableRowTracking": "true"}


def multiples(of: int, rest: int) -> str:
    return f"id IN ({', '.join(str(i) for i in range(rest, ROWS, of))})"


NINTHS, SEVENTHS, EVEN = multiples(9, 4), multiples(7, 2), multiples(2, 0)


def made(root: Path, *, by: list[str] | None = None, **properties: str) -> deltaic.Table:
    """Returns a table of two files; row i has day i // 20, and a NULL name if i is divisible by 10."""
    table = deltaic.Table.create(root, SCHEMA, partition_by=by or [], properties=properties)
    for first in (0, ROWS // 2):
        ids = range(first, first + ROWS // 2)
        names = [None if i % 10 == 0 else f"n{i}" for i in ids]
        table.append(pa.table({"id": ids, "name": names, "day": [i // 20 for i in ids]}, schema=SCHEMA))
    return table


def left(table: deltaic.Table) -> list[int]:
    return sorted(table.snapshot().scan(["id"]).to_arrow()["id"].to_pylist())


def info(root: Path, version: int) -> dict[str, object]:
    [line] = of_kind(root, version, "commitInfo")
    return line


@pytest.mark.parametrize("properties", [{}, VECTORS, TRACKING, {**VECTORS, **TRACKING}, FEED])
@pytest.mark.parametrize("by", [[], ["day"]])
@pytest.mark.parametrize(
    ("where", "kept"),
    [
        ("id = 7", lambda i: i != 7),
        ("id >= 0", lambda _: False),
        (None, lambda _: False),
        ("day = 1", lambda i: i // 20 != 1),
        ("day = 1 AND id > 25", lambda i: not (i // 20 == 1 and i > 25)),
        ("day = 0 OR id = 59", lambda i: i // 20 != 0 and i != 59),
        ("name = 'n11'", lambda i: i != 11),
        # NULL is not true: these rows remain.
        ("name <> 'n11'", lambda i: i == 11 or i % 10 == 0),
        ("NOT name = 'n11'", lambda i: i == 11 or i % 10 == 0),
        ("name IS NULL", lambda i: i % 10 != 0),
        ("id < 0", lambda _: True),
        ("id = 1 AND NULL", lambda _: True),
    ],
)
def test_rows_for_which_the_predicate_is_true_are_deleted(
    root: Path, where: str | None, kept: object, by: list[str], properties: dict[str, str]
) -> None:
    table = made(root, by=by, **properties)
    expected = [i for i in range(ROWS) if kept(i)]  # type: ignore[operator]
    dry = table.delete(where, dry_run=True)
    assert table.snapshot().version == 2
    commit = table.delete(where)
    assert left(table) == expected
    assert table.check(deep=True).is_healthy
    if len(expected) == ROWS:
        assert commit.skipped
        assert (commit.version, table.snapshot().version) == (2, 2)
        assert (dry.rows, dry.removed_files, dry.rewritten_files) == (0, 0, 0)
        return
    assert (commit.version, commit.operation) == (3, "DELETE")
    assert commit.metrics["numDeletedRows"] == dry.rows == ROWS - len(expected)
    assert commit.metrics["numRemovedFiles"] == dry.removed_files + dry.rewritten_files
    assert commit.metrics["numDeletionVectorsAdded"] == dry.files_with_deletion_vectors
    assert len(json.loads(commit.parameters["predicate"])) == (where is not None)


def test_a_partition_is_deleted_without_reading_its_files(root: Path) -> None:
    table = made(root, by=["day"])
    for path in root.rglob("day=1/*.parquet"):
        path.write_bytes(b"not Parquet")
    commit = table.delete("day = 1")
    assert commit.metrics["numDeletedRows"] == 20
    assert not of_kind(root, 3, "add")
    assert {remove["dataChange"] for remove in of_kind(root, 3, "remove")} == {True}


def test_deletion_vectors_are_united(root: Path) -> None:
    table = made(root, **VECTORS)
    first = table.delete("id = 3")
    second = table.delete("id IN (3, 5, 40)")
    assert (first.metrics["numDeletionVectorsAdded"], first.metrics["numDeletionVectorsUpdated"]) == (1, 0)
    assert second.metrics["numDeletedRows"] == 2
    assert (second.metrics["numDeletionVectorsAdded"], second.metrics["numDeletionVectorsUpdated"]) == (2, 1)
    assert table.snapshot().num_files == 2
    vectors = table.snapshot().deletion_vectors().to_arrow()
    assert sorted(vectors["cardinality"].to_pylist()) == [1, 2]
    # A file without remaining rows is removed.
    third = table.delete("id < 30")
    assert (third.metrics["numRemovedFiles"], third.metrics["numDeletionVectorsRemoved"]) == (1, 1)
    assert table.snapshot().num_files == 1


def test_a_file_without_a_row_count_is_rewritten(root: Path) -> None:
    made(root, **VECTORS)
    log = root / "_delta_log" / f"{1:020}.json"
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for line in lines:
        line.get("add", {}).pop("stats", None)
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    (root / "_delta_log" / f"{1:020}.crc").unlink(missing_ok=True)
    (root / "_delta_log" / f"{2:020}.crc").unlink(missing_ok=True)
    fresh = deltaic.Table(root)
    commit = fresh.delete("id IN (1, 31)")
    assert (commit.metrics["numDeletionVectorsAdded"], commit.metrics["numAddedFiles"]) == (1, 1)
    assert commit.metrics["numCopiedRows"] == 29
    assert left(fresh) == [i for i in range(ROWS) if i not in (1, 31)]


def test_a_wrong_row_count_deletes_no_other_row(root: Path) -> None:
    """The log says that the file has fewer rows than it has."""
    made(root, **VECTORS)
    log = root / "_delta_log" / f"{1:020}.json"
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for line in lines:
        if "add" in line:
            line["add"]["stats"] = '{"numRecords": 2}'
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    for path in (root / "_delta_log").glob("*.crc"):
        path.unlink()
    fresh = deltaic.Table(root)
    fresh.delete("id IN (4, 5)")
    assert left(fresh) == [i for i in range(ROWS) if i not in (4, 5)]


def ids_of_rows(table: deltaic.Table) -> dict[int, tuple[int, int]]:
    rows = table.snapshot().scan(["id"], row_ids=True).to_arrow().to_pylist()
    return {row["id"]: (row["_row_id"], row["_row_commit_version"]) for row in rows}


@pytest.mark.parametrize("properties", [TRACKING, {**TRACKING, **VECTORS}])
def test_remaining_rows_keep_their_row_ids(root: Path, properties: dict[str, str]) -> None:
    """Row ids are materialized in the new files."""
    table = made(root, **properties)
    before = ids_of_rows(table)
    for where in (NINTHS, SEVENTHS, "id < 10"):
        table.delete(where)
        after = ids_of_rows(table)
        assert after == {row: before[row] for row in after}
        assert info(root, table.snapshot().version)["tags"] == {"delta.rowTracking.preserved": "true"}
    # Rows that are added later have new ids.
    table.append(pa.table({"id": [1000]}))
    known = ids_of_rows(table)
    assert known[1000][0] > max(row_id for row_id, _ in before.values())


@pytest.mark.parametrize("by", [[], ["day"]])
@pytest.mark.parametrize("where", [NINTHS, "day = 1 OR id = 3", "day = 1", None])
@pytest.mark.parametrize("properties", [FEED, {**FEED, **VECTORS}, {**FEED, **TRACKING}])
def test_the_change_feed_has_the_deleted_rows(
    root: Path, properties: dict[str, str], where: str | None, by: list[str]
) -> None:
    """Also rows that were deleted with their file.

    protocol: writer-requirements-for-addcdcfile.2
    """
    table = made(root, by=by, **properties)
    expected = table.snapshot().scan(predicate=where).to_arrow().sort_by("id")
    table.delete(where)
    feed = table.changes(3).to_arrow().sort_by("id")
    assert feed["_change_type"].to_pylist() == ["delete"] * expected.num_rows
    assert feed.select(expected.column_names) == expected
    changed = of_kind(root, 3, "cdc")
    # Change data files are needed only if rows are copied.
    assert bool(changed) == bool(of_kind(root, 3, "add") and "delta.enableDeletionVectors" not in properties)
    for cdc in changed:
        assert cdc["path"].startswith("_change_data/")
        assert cdc["dataChange"] is False
        file = pq.ParquetFile(root / cdc["path"])
        assert file.schema_arrow.names[-1] == "_change_type"
        assert ("day" in file.schema_arrow.names) == (not by)


def test_copied_rows_are_written_as_the_table_says(root: Path) -> None:
    table = made(
        root, **{"delta.parquet.compression.codec": "snappy", "delta.dataSkippingNumIndexedCols": "1"}
    )
    table.delete(EVEN)
    adds = of_kind(root, 3, "add")
    assert all(".snappy" in add["path"] for add in adds)
    assert all(set(json.loads(add["stats"])["minValues"]) == {"id"} for add in adds)
    assert sum(json.loads(add["stats"])["numRecords"] for add in adds) == ROWS // 2


def test_an_append_only_table_keeps_its_rows(root: Path) -> None:
    """The error is raised before anything is written."""
    table = made(root, **{"delta.appendOnly": "true"})
    for run in (lambda: table.delete("id = 1"), table.delete, lambda: table.delete(dry_run=True)):
        with pytest.raises(deltaic.ConstraintViolation, match="append-only"):
            run()
    assert left(table) == list(range(ROWS))


@pytest.mark.parametrize(
    ("where", "error"),
    [("nothing = 1", deltaic.InvalidPredicate), ("id =", deltaic.InvalidPredicate), (7, TypeError)],
)
def test_an_invalid_predicate_deletes_nothing(root: Path, where: str, error: type[Exception]) -> None:
    table = made(root)
    with pytest.raises(error):
        table.delete(where)
    assert table.snapshot().version == 2


def test_a_failed_deletion_leaves_no_files(root: Path) -> None:
    table = made(root, **FEED)
    before = sorted(root.rglob("*.parquet"))
    second = sorted(table.snapshot().files("id = 45").to_arrow()["path"].to_pylist())[0]
    whole = (root / second).read_bytes()
    (root / second).write_bytes(whole[: len(whole) // 3])
    with pytest.raises(deltaic.CorruptData):
        table.delete(NINTHS)
    assert sorted(root.rglob("*.parquet")) == before
    (root / second).write_bytes(whole)
    table.delete(NINTHS)
    assert left(table) == [i for i in range(ROWS) if i % 9 != 4]


@pytest.mark.parametrize("properties", [{}, VECTORS])
def test_a_deletion_is_planned_again_after_a_conflict(root: Path, properties: dict[str, str]) -> None:
    made(root, **properties)
    table = _rust.Table(str(root))
    stale = table.snapshot()
    deltaic.Table(root).delete("id = 3")
    commit = table.delete(stale, predicate="id IN (3, 4)", options=to_options("delete"))
    assert json.loads(commit.commit_info or "")["operationMetrics"]["numDeletedRows"] == "1"
    assert commit.conflicts_resolved
    assert left(deltaic.Table(root)) == [i for i in range(ROWS) if i not in (3, 4)]
    assert deltaic.Table(root).check(deep=True).is_healthy


def test_deletions_of_different_rows_by_vectors_both_succeed(root: Path) -> None:
    table, other = made(root, **VECTORS), deltaic.Table(root)
    with table.transaction(operation="DELETE") as tx:
        assert tx.delete("id = 3") == 1
        other.delete("id = 4")
    assert left(table) == [i for i in range(ROWS) if i not in (3, 4)]
    [line] = tx.committed.conflicts_resolved  # type: ignore[union-attr]
    assert "version 3" in line


def test_a_conflict_without_row_level_concurrency(root: Path) -> None:
    table, other = made(root, **VECTORS), deltaic.Table(root)
    with pytest.raises(deltaic.CommitConflict), table.transaction(operation="DELETE", row_level=False) as tx:
        tx.delete("id = 3")
        other.delete("id = 4")
    assert left(table) == [i for i in range(ROWS) if i != 4]


def test_a_transaction_deletes_and_appends(root: Path) -> None:
    table = made(root, **VECTORS)
    with table.transaction() as tx:
        assert tx.delete("day = 0") == 20
        tx.append(pa.table({"id": [100, 101], "day": pa.array([0, 0], pa.int32())}))
    assert left(table) == [*range(20, ROWS), 100, 101]
    assert table.snapshot().version == 3


def test_a_file_is_changed_once_in_a_transaction(root: Path) -> None:
    table = made(root)
    with pytest.raises(ValueError, match="is staged already"), table.transaction() as tx:
        tx.delete("id = 1")
        tx.delete("id = 2")
    assert left(table) == list(range(ROWS))


def test_an_application_deletes_once(root: Path) -> None:
    table = made(root)
    assert not table.delete("id = 1", app_transaction=("cleaner", 1)).skipped
    assert table.delete("id = 2", app_transaction=("cleaner", 1)).skipped
    # A version is recorded even if no row matches.
    assert table.delete("id = -1", app_transaction=("cleaner", 2)).version == 4
    assert table.snapshot().app_transactions == {"cleaner": 2}
    assert left(table) == [i for i in range(ROWS) if i != 1]


def test_many_files(root: Path) -> None:
    table = deltaic.Table.create(root, SCHEMA, properties=VECTORS)
    for start in range(0, 1000, 50):
        ids = pa.array(range(start, start + 50))
        table.append(pa.table({"id": ids, "name": pc.cast(ids, pa.string())}))
    commit = table.delete("id % 100 = 0 OR id < 50 AND id % 2 = 1")
    assert commit.metrics["numDeletionVectorsAdded"] == 10
    # One file holds all of the deletion vectors: that of the first file is too large to be inline.
    assert len(list(root.glob("deletion_vector_*.bin"))) == 1
    assert left(table) == [i for i in range(1000) if i % 100 and not (i < 50 and i % 2)]


def storage_types(table: deltaic.Table) -> list[str]:
    vectors = table.snapshot().files().to_arrow()["deletion_vector"].drop_null().to_pylist()
    return sorted(vector["storage_type"] for vector in vectors)


@pytest.mark.parametrize("more", [{}, FEED, TRACKING])
def test_small_deletion_vectors_are_inline(root: Path, more: dict[str, str]) -> None:
    table = made(root, **VECTORS, **more)
    assert table.delete("id IN (3, 40)").metrics["numDeletionVectorsAdded"] == 2
    updated = table.update({"name": "'x'"}, "id IN (5, 41)")
    assert (updated.metrics["numDeletionVectorsAdded"], updated.metrics["numDeletionVectorsUpdated"]) == (
        2,
        2,
    )
    assert not list(root.glob("deletion_vector_*.bin"))
    assert storage_types(table) == ["i", "i"]
    if more == FEED:
        assert sorted(table.changes(3, 3).to_arrow()["id"].to_pylist()) == [3, 40]
    table.checkpoint()
    for version in range(4):
        (root / "_delta_log" / f"{version:020}.json").unlink()
    table = deltaic.Table(root)
    assert left(table) == [i for i in range(ROWS) if i not in {3, 40}]
    # A large one moves both to a file, and a small one stays inline next to it.
    assert table.delete("id < 30 AND id % 2 = 0 OR id < 20 AND id % 3 = 0").metrics["numDeletedRows"] == 17
    assert table.delete("id = 43").metrics["numDeletedRows"] == 1
    assert len(list(root.glob("deletion_vector_*.bin"))) == 1
    assert storage_types(table) == ["i", "u"]
    gone = {i for i in range(30) if i % 2 == 0 or (i < 20 and i % 3 == 0)} | {3, 40, 43}
    assert left(table) == [i for i in range(ROWS) if i not in gone]
    assert table.check(deep=True).is_healthy


def test_dry_runs_read_well(root: Path) -> None:
    table = made(root, by=["day"], **VECTORS)
    shown = str(table.delete("day = 2 OR id = 5", dry_run=True))
    assert shown.splitlines()[0] == "DELETE of version 2 would delete 21 rows:"
    assert "get" in shown
