"""`Transaction.merge`: with other verbs in one commit, or again; what it sees, and its conflicts."""

# A transaction raises at the end of its block.
# ruff: noqa: PT012

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic
from tests.api.log_files import of_kind

SCHEMA = pa.schema([("id", pa.int64()), ("day", pa.int32()), ("name", pa.string())])
VECTORS = {"delta.enableDeletionVectors": "true"}
ON = "target.id = source.id"
WAYS = pytest.mark.parametrize("properties", [{}, VECTORS], ids=["rewriting", "vectors"])


def rows(*ids: int, day: int = 0, name: str = "old") -> pa.Table:
    days = pa.array([day] * len(ids), pa.int32())
    return pa.table({"id": list(ids), "day": days, "name": [name] * len(ids)}, schema=SCHEMA)


def made(root: Path, properties: dict[str, str] | None = None, by: list[str] | None = None) -> deltaic.Table:
    """Returns a table with a file for each of three days: the ids 0 to 3, 10 to 13 and 20 to 23."""
    table = deltaic.Table.create(root, SCHEMA, partition_by=by or [], properties=properties or {})
    for day in range(3):
        table.append(rows(*range(10 * day, 10 * day + 4), day=day))
    return table


def upsert(tx: deltaic.Transaction, source: Any) -> deltaic.StagedMerge:
    return tx.merge(source, on=ON).when_matched_update_all().when_not_matched_insert_all()


def names_of(table: deltaic.Table) -> dict[int, str]:
    found = table.snapshot().scan(["id", "name"]).to_arrow().to_pylist()
    assert len({row["id"] for row in found}) == len(found)
    return {row["id"]: row["name"] for row in found if row["name"] != "old"}


def ids(table: deltaic.Table) -> list[int]:
    return sorted(table.snapshot().scan(["id"]).to_arrow()["id"].to_pylist())


@WAYS
def test_a_merge_between_other_verbs(root: Path, properties: dict[str, str]) -> None:
    table = made(root, properties)
    with table.transaction() as tx:
        assert tx.append(rows(5, name="appended")) == 1
        assert tx.delete("id = 22") == 1
        assert upsert(tx, rows(11, 31, 32, name="merged")).execute() == 3
        assert tx.update({"name": "'updated'"}, "id = 1") == 1
        assert names_of(table) == {}
    assert tx.committed is not None
    assert tx.committed.version == 4
    assert names_of(table) == {5: "appended", 1: "updated", 11: "merged", 31: "merged", 32: "merged"}
    assert 22 not in ids(table)
    assert table.check(deep=True).is_healthy


@WAYS
def test_merges_of_one_transaction(root: Path, properties: dict[str, str]) -> None:
    table = made(root, properties)
    with table.transaction(operation="MERGE") as tx:
        assert upsert(tx, rows(1, 7, name="first")).execute() == 2
        assert tx.merge(rows(13, 23), on=ON).when_matched_delete().execute() == 2
    assert tx.committed is not None
    metrics = tx.committed.metrics
    assert tx.committed.operation == "MERGE"
    assert (metrics["numSourceRows"], metrics["numTargetRowsInserted"]) == (4, 1)
    assert (metrics["numTargetRowsUpdated"], metrics["numTargetRowsDeleted"]) == (1, 2)
    assert names_of(table) == {1: "first", 7: "first"}
    assert not {13, 23} & set(ids(table))


def test_a_file_is_changed_once(root: Path) -> None:
    """As for the other verbs; what was staged before remains."""
    table = made(root)
    with table.transaction() as tx:
        upsert(tx, rows(1, name="first")).execute()
        for again in (upsert(tx, rows(2, 9)), tx.merge(rows(3), on=ON).when_matched_delete()):
            with pytest.raises(ValueError, match="is staged already"):
                again.execute()
        with pytest.raises(ValueError, match="is staged already"):
            tx.delete("id = 0")
    assert names_of(table) == {1: "first"}
    assert len(ids(table)) == 12


def test_the_rows_of_the_snapshot_are_matched(root: Path) -> None:
    """Staged rows are not matched, and rows that the transaction deletes are."""
    table = made(root)
    with table.transaction() as tx:
        tx.append(rows(40, name="appended"))
        tx.delete("id = 22")
        inserted = tx.merge(rows(22, 40, 41, name="merged"), on=ON).when_not_matched_insert_all()
        assert inserted.execute() == 2
        rest = tx.merge(rows(0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 23), on=ON)
        assert rest.when_not_matched_by_source_update({"name": "'rest'"}, "day = 1").execute() == 0
    names = table.snapshot().scan(["name"], "id = 40").to_arrow()["name"].to_pylist()
    assert sorted(names) == ["appended", "merged"]
    assert 22 not in ids(table)


def test_a_refused_merge_leaves_the_rest_staged(root: Path) -> None:
    table = made(root)
    with table.transaction() as tx:
        tx.append(rows(5, name="appended"))
        before = sorted(root.rglob("*.parquet"))
        with pytest.raises(deltaic.ConstraintViolation, match="several rows of the source"):
            upsert(tx, rows(1, 1, 9)).execute()
        overflow = tx.merge(rows(1, 9), on=ON).when_matched_update(
            {"day": "cast(source.id AS INT) + 2147483647"}
        )
        with pytest.raises(deltaic.InvalidPredicate):
            overflow.execute()
        assert sorted(root.rglob("*.parquet")) == before
    assert names_of(table) == {5: "appended"}


def test_a_merge_that_changes_nothing_commits_nothing(root: Path) -> None:
    table = made(root)
    with table.transaction() as tx:
        assert tx.merge(rows(99), on=ON).when_matched_delete().execute() == 0
    assert (tx.committed, table.snapshot().version) == (None, 3)


def test_a_failed_block_leaves_no_file(root: Path) -> None:
    table = made(root)
    before = sorted(root.rglob("*.parquet"))
    with pytest.raises(KeyError), table.transaction() as tx:
        upsert(tx, rows(1, 9)).execute()
        assert len(list(root.rglob("*.parquet"))) > len(before)
        raise KeyError("of the caller")
    assert sorted(root.rglob("*.parquet")) == before


@WAYS
def test_a_dry_run(root: Path, properties: dict[str, str]) -> None:
    table = made(root, properties)
    before = sorted(root.rglob("*"))
    with table.transaction(dry_run=True) as tx:
        tx.delete("id = 22")
        assert upsert(tx, rows(1, 9)).execute() == 2
    assert tx.dry_run is not None
    assert (tx.dry_run.rows, tx.dry_run.added_rows) == (2, 1)
    assert (sorted(root.rglob("*")), table.snapshot().version) == (before, 3)


def test_a_committed_application_version_reads_no_source(root: Path) -> None:
    table = made(root)
    table.append(rows(5), app_transaction=("nightly", 7))

    def never() -> Any:
        raise AssertionError("the rows are not needed")
        yield

    with table.transaction(app_transaction=("nightly", 7)) as tx:
        assert upsert(tx, pa.RecordBatchReader.from_batches(SCHEMA, never())).execute() == 0
    assert tx.committed is not None
    assert tx.committed.skipped


@pytest.mark.parametrize(
    ("theirs", "conflict"),
    [
        (lambda other: other.append(rows(8)), deltaic.ConcurrentAppend),
        (lambda other: other.append(rows(9)), None),
        (lambda other: other.append(rows(24, day=2)), None),
        (lambda other: other.delete("id = 1"), deltaic.CommitConflict),
        (lambda other: other.delete("id = 21"), None),
    ],
    ids=[
        "a key appears",
        "another key appears",
        "a row of another day appears",
        "a row is deleted",
        "one of another day is deleted",
    ],
)
def test_conflicts(root: Path, theirs: Any, conflict: type[Exception] | None) -> None:
    """They are limited by the keys."""
    table, other = made(root, by=["day"]), deltaic.Table(root)
    before = sorted(root.rglob("*.parquet"))

    def merged() -> deltaic.Commit | None:
        with table.transaction() as tx:
            merge = tx.merge(rows(1, 2, 8, name="merged"), on=f"{ON} AND target.day = source.day")
            assert merge.when_matched_update_all().when_not_matched_insert_all().execute() == 3
            theirs(other)
        return tx.committed

    if conflict is None:
        commit = merged()
        assert commit is not None
        assert len(commit.conflicts_resolved) == 1
        assert names_of(table) == {1: "merged", 2: "merged", 8: "merged"}
        return
    with pytest.raises(conflict):
        merged()
    assert names_of(table) == {}
    assert set(before) <= set(root.rglob("*.parquet"))


def test_a_function_is_run_again_after_a_conflict(root: Path) -> None:
    table, other = made(root), deltaic.Table(root)
    runs: list[int] = []

    def merged(tx: deltaic.Transaction) -> None:
        upsert(tx, rows(1, 9, name="merged")).execute()
        if not runs:
            other.append(rows(9, name="theirs"))
        runs.append(tx.snapshot.version)

    commit = table.run_transaction(merged)
    assert commit is not None
    assert runs == [3, 4]
    assert names_of(table) == {1: "merged", 9: "merged"}


def test_a_merge_belongs_to_its_block(root: Path) -> None:
    table = made(root)
    with table.transaction() as tx:
        merge = upsert(tx, rows(1))
    with pytest.raises(ValueError, match="the transaction has ended"):
        merge.execute()
    with pytest.raises(ValueError, match="is used in a block"):
        table.transaction().merge(rows(1), on=ON)
    assert repr(merge).startswith("MERGE INTO target USING source ON target.id = source.id\nWHEN MATCHED")


def test_the_insert_of_a_merge_is_no_rewrite(root: Path) -> None:
    table = made(root)
    with table.transaction() as tx:
        tx.merge(rows(1, 9), on=ON).when_not_matched_insert_all().execute()
        tx.append(rows(10))
    assert not of_kind(root, 4, "remove")
    assert len(of_kind(root, 4, "add")) == 2
