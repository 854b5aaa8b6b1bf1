"""`Table.overwrite` and `Transaction.overwrite`: all rows, those of a predicate, and whole partitions."""

# A transaction raises at the end of its block.
# ruff: noqa: PT012

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import deltaic
from tests.api.log_files import of_kind
from tests.api.rows_in_parts import FEED, SCHEMA, TRACKING, VECTORS, ids, made, rows


@pytest.mark.parametrize("properties", [{}, VECTORS, FEED, TRACKING])
@pytest.mark.parametrize("by", [[], ["part"]])
def test_all_rows_are_replaced(root: Path, by: list[str], properties: dict[str, str]) -> None:
    table = made(root, by=by, **properties)
    commit = table.overwrite(rows(100, 101))
    assert ids(table) == [100, 101]
    assert (commit.version, commit.operation, commit.parameters["mode"]) == (3, "WRITE", "Overwrite")
    assert commit.metrics["numOutputRows"] == 2
    assert commit.metrics["numRemovedFiles"] == len(of_kind(root, 3, "remove"))
    assert table.check(deep=True).is_healthy
    # The rows of the earlier version remain readable.
    assert table.snapshot(version=2).num_rows == 10


def test_with_no_rows_the_table_is_empty(root: Path) -> None:
    table = made(root)
    assert table.overwrite(rows()).version == 3
    assert ids(table) == []


@pytest.mark.parametrize("arguments", [{}, {"where": "id > 100"}, {"partitions": "dynamic"}])
def test_an_overwrite_that_changes_nothing_commits_nothing(root: Path, arguments: dict[str, str]) -> None:
    table = made(root, by=["part"])
    if not arguments:
        table.delete()
    version = table.snapshot().version
    commit = table.overwrite(rows(), **arguments)  # pyright: ignore[reportArgumentType]
    assert (commit.version, commit.skipped, table.snapshot().version) == (version, True, version)


@pytest.mark.parametrize("properties", [{}, VECTORS, FEED, {**FEED, **VECTORS}, {**FEED, **TRACKING}])
@pytest.mark.parametrize("by", [[], ["part"]])
@pytest.mark.parametrize(
    ("where", "new", "kept"),
    [
        ("id < 3", rows(0, 1, 1), range(3, 10)),
        ("part = 'a'", rows(20, 30), range(1, 10, 2)),
        ("part = 'a' AND id > 4", rows(50), [0, 1, 2, 3, 4, 5, 7, 9]),
        ("id >= 0", rows(7), []),
        ("id > 1000", rows(2000), range(10)),
    ],
)
def test_rows_of_a_predicate_are_replaced(
    root: Path, *, where: str, new: pa.Table, kept: list[int], by: list[str], properties: dict[str, str]
) -> None:
    table = made(root, by=by, **properties)
    before = ids(table)
    commit = table.overwrite(new, where)
    assert ids(table) == sorted([*kept, *new["id"].to_pylist()])
    assert commit.parameters["predicate"] == where
    if "delta.enableChangeDataFeed" in properties:
        feed = table.changes(3).to_arrow().to_pylist()
        deleted = sorted(row["id"] for row in feed if row["_change_type"] == "delete")
        inserted = sorted(row["id"] for row in feed if row["_change_type"] == "insert")
        assert deleted == sorted(set(before) - set(kept))
        assert inserted == sorted(new["id"].to_pylist())
    assert table.check(deep=True).is_healthy


@pytest.mark.parametrize("where", ["id < 3", "part = 'a'", deltaic.col("n") == 1])
def test_a_new_row_that_does_not_match_is_an_error(root: Path, where: str) -> None:
    table = made(root, by=["part"])
    before = sorted(root.rglob("*.parquet"))
    with pytest.raises(deltaic.ConstraintViolation, match="does not match the predicate") as caught:
        table.overwrite(pa.concat_tables([rows(0, n=1), rows(5)]), where)
    assert "row" in caught.value.context
    assert table.snapshot().version == 2
    assert sorted(root.rglob("*.parquet")) == before


def test_partitions_of_new_rows_are_replaced(root: Path) -> None:
    table = made(root, by=["part"])
    table.append(rows(90, part="c"))
    commit = table.overwrite(
        pa.concat_tables([rows(100, part="b"), rows(200, part="d")]), partitions="dynamic"
    )
    assert ids(table) == [0, 2, 4, 6, 8, 90, 100, 200]
    assert commit.metrics["numRemovedFiles"] == 2
    # Without rows there are no partitions.
    table.overwrite(rows(), partitions="dynamic")
    assert ids(table) == [0, 2, 4, 6, 8, 90, 100, 200]


def test_partitions_with_null_and_two_columns(root: Path) -> None:
    table = deltaic.Table.create(root, SCHEMA, partition_by=["part", "n"])
    parts = [None, None, "x", "x"]
    table.append(pa.table({"id": [1, 2, 3, 4], "part": parts, "n": [None, 1, None, 1]}, schema=SCHEMA))
    new = pa.table({"id": [20, 30], "part": [None, "x"], "n": [1, None]}, schema=SCHEMA)
    table.overwrite(new, partitions="dynamic")
    assert ids(table) == [1, 4, 20, 30]


def test_a_table_without_partitions_is_replaced_as_a_whole(root: Path) -> None:
    table = made(root)
    table.overwrite(rows(1), partitions="dynamic")
    assert ids(table) == [1]


def test_writers_of_different_partitions_do_not_conflict(root: Path) -> None:
    table, other = made(root, by=["part"]), deltaic.Table(root)
    with table.transaction() as tx:
        assert tx.overwrite(rows(2, 4), partitions="dynamic") == 2
        other.overwrite(rows(1), partitions="dynamic")
    assert ids(table) == [1, 2, 4]


def test_writers_of_one_partition_conflict(root: Path) -> None:
    table, other = made(root, by=["part"]), deltaic.Table(root)
    with pytest.raises(deltaic.CommitConflict), table.transaction() as tx:
        tx.overwrite(rows(2, 4), partitions="dynamic")
        other.overwrite(rows(6), partitions="dynamic")
    assert ids(table) == [1, 3, 5, 6, 7, 9]
    assert table.check(deep=True).is_healthy


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"partitions": "some"}, ValueError, "partitions may not be"),
        ({"partitions": "dynamic", "where": "id = 1"}, ValueError, "exclude each other"),
        ({"partitions": None}, TypeError, "partitions must be a string"),
        ({"where": "nothing = 1"}, deltaic.InvalidPredicate, "there is no column"),
        ({"mode": "overwrite"}, TypeError, "has no option"),
    ],
)
def test_wrong_arguments(
    root: Path, arguments: dict[str, object], error: type[Exception], message: str
) -> None:
    table = made(root)
    with pytest.raises(error, match=message):
        table.overwrite(rows(1), **arguments)  # type: ignore[arg-type]
    assert table.snapshot().version == 2


def test_an_append_only_table_keeps_its_rows(root: Path) -> None:
    table = made(root, **{"delta.appendOnly": "true"})
    with pytest.raises(deltaic.ConstraintViolation, match="append-only"):
        table.overwrite(rows(1))
    assert ids(table) == list(range(10))


def test_data_that_does_not_fit_replaces_nothing(root: Path) -> None:
    table = made(root)
    with pytest.raises(deltaic.SchemaMismatch):
        table.overwrite(pa.table({"id": ["x"]}))
    assert ids(table) == list(range(10))


def test_a_failed_overwrite_is_not_committed_with_other_changes(root: Path) -> None:
    table = made(root)
    with table.transaction() as tx:
        with pytest.raises(deltaic.ConstraintViolation):
            tx.overwrite(rows(100), "id < 3")
        with pytest.raises(deltaic.SchemaMismatch):
            tx.overwrite(pa.table({"id": ["x"]}))
        tx.append(rows(50))
    assert ids(table) == [*range(10), 50]
    assert tx.committed is not None
    assert tx.committed.parameters["mode"] == "Append"
    assert table.check(deep=True).is_healthy


def test_a_stream_that_fails_replaces_nothing(root: Path) -> None:
    table = made(root)
    before = sorted(root.rglob("*.parquet"))

    def batches() -> object:
        yield from rows(1, 2).to_batches()
        raise OSError("the source ended")

    with pytest.raises(Exception, match="the source ended"):
        table.overwrite(pa.RecordBatchReader.from_batches(SCHEMA, batches()))
    assert ids(table) == list(range(10))
    assert sorted(root.rglob("*.parquet")) == before


@pytest.mark.parametrize("properties", [{}, VECTORS, FEED])
def test_metrics_count_deleted_and_copied_rows(root: Path, properties: dict[str, str]) -> None:
    """Named and counted as by delta-spark: `numOutputRows` includes the copied rows."""
    table = made(root, **properties)
    metrics = table.overwrite(rows(1), "id IN (1, 2)").metrics
    copied = 0 if properties == VECTORS else 3
    assert (metrics["numDeletedRows"], metrics["numCopiedRows"]) == (2, copied)
    assert metrics["numOutputRows"] == 1 + copied
    sizes = [remove["size"] for remove in of_kind(root, 3, "remove")] if copied else []
    assert (metrics["numRemovedFiles"], metrics["numRemovedBytes"]) == (len(sizes), sum(sizes))
    assert metrics["numAddedChangeFiles"] == len(of_kind(root, 3, "cdc"))
    everything = table.overwrite(rows(7)).metrics
    assert everything["numOutputRows"] == 1
    assert everything["numRemovedBytes"] == sum(remove["size"] for remove in of_kind(root, 4, "remove"))
