"""`table.transaction()`: several changes in one atomic commit, checked against its read set."""

# A transaction raises at the end of its block.
# ruff: noqa: PT012

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic
from tests.api.log_files import of_kind

ROWS = pa.table({"id": [1, 2, 3]})
DAYS = pa.table({"day": [1, 1, 2], "id": [1, 2, 3]})


def ids(root: Path) -> list[int]:
    return sorted(deltaic.Table(root).snapshot().scan().to_arrow()["id"].to_pylist())


def paths(files: deltaic.ArrowTable) -> list[str]:
    return files.to_arrow()["path"].to_pylist()


def data_files(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*.parquet"))


def test_a_block_is_one_commit(root: Path) -> None:
    table = deltaic.Table.create(root, ROWS.schema)
    table.append(ROWS)
    with table.transaction(commit_info={"job": "tidy"}) as tx:
        tx.remove(paths(tx.files()))
        assert (tx.append(pa.table({"id": [7]})), tx.append(pa.table({"id": [8, 9]}))) == (1, 2)
        assert ids(root) == [1, 2, 3]
        assert tx.committed is None
    assert tx.committed is not None
    assert (tx.committed.version, tx.committed.operation, tx.committed.info["job"]) == (2, "WRITE", "tidy")
    assert tx.committed.metrics["numOutputRows"] == 3
    assert tx.committed.metrics["numRemovedFiles"] == 1
    assert tx.committed.is_blind_append is False
    assert ids(root) == [7, 8, 9]
    assert len(of_kind(root, 2, "add")) == 2
    [removed] = of_kind(root, 2, "remove")
    assert (removed["dataChange"], removed["extendedFileMetadata"]) == (True, True)


def test_an_exception_commits_nothing_and_leaves_no_file(root: Path) -> None:
    table = deltaic.Table.create(root, ROWS.schema)
    table.append(ROWS)
    before = data_files(root)
    with pytest.raises(KeyError), table.transaction() as tx:
        tx.append(ROWS)
        assert len(data_files(root)) == 2
        raise KeyError("the user's own")
    assert data_files(root) == before
    assert (tx.committed, table.snapshot().version) == (None, 1)


def test_a_block_that_staged_nothing_commits_nothing(root: Path) -> None:
    table = deltaic.Table.create(root, ROWS.schema)
    with table.transaction() as tx:
        assert tx.read().count() == 0
    assert (tx.committed, table.snapshot().version) == (None, 0)
    with table.transaction(app_transaction=("nightly", 1)) as tx:
        pass
    assert tx.committed is not None
    assert tx.committed.version == 1
    assert table.snapshot().app_transactions == {"nightly": 1}


def test_a_batch_that_is_there_is_not_read_again(root: Path) -> None:
    """protocol: transaction-identifiers.1, transaction-identifiers.2."""
    table = deltaic.Table.create(root, ROWS.schema)
    table.append(ROWS, app_transaction=("nightly", 7))

    def never() -> Any:
        raise AssertionError("nobody reads these rows")
        yield

    with table.transaction(app_transaction=("nightly", 7)) as tx:
        assert tx.is_done
        assert tx.append(pa.RecordBatchReader.from_batches(ROWS.schema, never())) == 0
        tx.remove(paths(tx.snapshot.files()))
    assert tx.committed is not None
    assert (tx.committed.skipped, tx.committed.version) == (True, 1)
    assert len(data_files(root)) == 1


def test_conflicts_depend_on_the_read_set(root: Path) -> None:
    table = deltaic.Table.create(root, DAYS.schema, partition_by=["day"])
    table.append(DAYS)
    other = deltaic.Table(root)
    late = pa.table({"day": [2], "id": [4]})
    with pytest.raises(deltaic.ConcurrentAppend) as raised, table.transaction() as tx:
        assert tx.read("day = 2").count() == 1
        tx.append(pa.table({"day": [3], "id": [5]}))
        other.append(late)
    assert raised.value.context["version"] == 2
    assert len(data_files(root)) == 3, "what the loser wrote is gone"
    # A read of another day does not conflict, nor does a blind append.
    for read in ("day = 2", None):
        with table.transaction() as tx:
            if read:
                assert tx.read(read, columns=["id"]).count() >= 1
            tx.append(pa.table({"day": [3], "id": [5]}))
            other.append(pa.table({"day": [1], "id": [6]}))
        assert tx.committed is not None
        assert len(tx.committed.conflicts_resolved) == 1


@pytest.mark.parametrize(
    ("isolation", "conflicts"),
    [(None, True), ("Serializable", True), ("WriteSerializable", False), ("SnapshotIsolation", False)],
)
def test_isolation_is_requested(root: Path, isolation: Any, conflicts: bool) -> None:
    table = deltaic.Table.create(root, ROWS.schema)
    table.append(ROWS)

    def run() -> deltaic.Transaction:
        with table.transaction(isolation=isolation) as tx:
            tx.append(pa.table({"id": [tx.read().count()]}))
            deltaic.Table(root).append(ROWS)
        return tx

    if conflicts:
        with pytest.raises(deltaic.ConcurrentAppend):
            run()
    else:
        commit = run().committed
        assert commit is not None
        assert commit.info["isolationLevel"] == isolation


def test_files_that_go_under_us(root: Path) -> None:
    table = deltaic.Table.create(root, ROWS.schema)
    table.append(ROWS)
    other = deltaic.Table(root)
    with pytest.raises(deltaic.ConcurrentDeleteDelete), table.transaction() as tx:
        tx.remove(paths(tx.snapshot.files()))
        with other.transaction() as winner:
            winner.remove(paths(winner.snapshot.files()))
    other.append(ROWS)
    with pytest.raises(deltaic.ConcurrentDeleteRead), table.transaction() as tx:
        tx.files()
        tx.append(ROWS)
        with other.transaction() as winner:
            winner.remove(paths(winner.snapshot.files()))
    assert table.snapshot().num_files == 0


def test_another_run_of_an_application(root: Path) -> None:
    table = deltaic.Table.create(root, ROWS.schema)
    table.append(ROWS, app_transaction=("nightly", 3))
    with pytest.raises(deltaic.ConcurrentTransaction), table.transaction() as tx:
        assert (tx.read_app("nightly"), tx.read_app("hourly")) == (3, None)
        tx.append(ROWS)
        deltaic.Table(root).append(ROWS, app_transaction=("nightly", 4))


@pytest.mark.parametrize(
    "of",
    [
        lambda files: files,
        lambda files: files.to_arrow()["path"],
        lambda files: files.to_arrow()["path"].combine_chunks(),
        lambda files: files.to_polars()["path"],
        lambda files: files.to_pandas()["path"],
        lambda files: iter(files.to_arrow()["path"].to_pylist()),
    ],
)
def test_files_are_removed_by_any_column_of_paths(root: Path, of: Callable[[Any], Any]) -> None:
    table = deltaic.Table.create(root, ROWS.schema)
    table.append(ROWS)
    table.append(ROWS)
    with table.transaction() as tx:
        tx.remove(of(tx.files()))
    assert table.snapshot().num_files == 0


REMOVALS: dict[str, Callable[[deltaic.Transaction, str], Any]] = {
    "WRITE": lambda tx, _: tx.overwrite(ROWS, "id > 0"),
    "DELETE": lambda tx, _: tx.delete("id = 1"),
    "UPDATE": lambda tx, _: tx.update({"id": "id + 1"}, "id = 2"),
    "MERGE": lambda tx, _: tx.merge(ROWS, "target.id = source.id").when_matched_delete().execute(),
    "DELETE of a file": lambda tx, path: tx.remove([path]),
    "DELETE of rows": lambda tx, path: tx.delete_rows({path: [0]}),
}


@pytest.mark.parametrize("second", REMOVALS)
@pytest.mark.parametrize("first", REMOVALS)
def test_a_file_that_two_verbs_change_is_an_error_with_both(root: Path, first: str, second: str) -> None:
    table = deltaic.Table.create(root, ROWS.schema, properties={"delta.enableDeletionVectors": "true"})
    table.append(ROWS)
    [path] = paths(table.snapshot().files())
    changes, again = first.split(maxsplit=1)[0], second.split(maxsplit=1)[0]
    with table.transaction() as tx:
        REMOVALS[first](tx, path)
        what = f"{path}.* is staged already: {changes} changes it, and {again} would change it again"
        with pytest.raises(ValueError, match=what) as caught:
            REMOVALS[second](tx, path)
        assert "commit what is staged first" in str(caught.value)
    assert tx.committed is not None


def test_invalid_removals(root: Path) -> None:
    table = deltaic.Table.create(root, ROWS.schema)
    table.append(ROWS)
    table.append(ROWS)
    with table.transaction() as tx:
        first, second = paths(tx.files())
        with pytest.raises(ValueError, match="not a live file of version 2"):
            tx.remove([first, "part-of-nothing.parquet"])
        with pytest.raises(ValueError, match="staged already"):
            tx.remove([first, first])
        tx.remove([first])
        with pytest.raises(ValueError, match="staged already"):
            tx.remove([second, first])
        with pytest.raises(TypeError, match=r"write remove\(\["):
            tx.remove(second)
    assert [paths(table.snapshot().files())] == [[second]]


def test_no_row_goes_from_an_append_only_table(root: Path) -> None:
    """protocol: append-only-tables.3, supported-features.5."""
    table = deltaic.Table.create(root, ROWS.schema, properties={"delta.appendOnly": "true"})
    table.append(ROWS)
    with table.transaction() as tx:
        with pytest.raises(deltaic.ConstraintViolation, match="append-only"):
            tx.remove(paths(tx.snapshot.files()))
        tx.append(ROWS)
    assert ids(root) == [1, 1, 2, 2, 3, 3]


def test_a_failed_append_leaves_the_rest_staged(root: Path) -> None:
    table = deltaic.Table.create(root, ROWS.schema)
    with table.transaction() as tx:
        tx.append(ROWS)
        with pytest.raises(deltaic.SchemaMismatch):
            tx.append(pa.table({"other": ["x"]}))
    assert ids(root) == [1, 2, 3]
    assert len(data_files(root)) == 1


def test_a_transaction_is_used_once_and_in_a_block(root: Path) -> None:
    table = deltaic.Table.create(root, ROWS.schema)
    tx = table.transaction()
    with pytest.raises(ValueError, match="in a block"):
        tx.append(ROWS)
    with tx:
        tx.append(ROWS)
    with pytest.raises(ValueError, match="has ended"):
        tx.append(ROWS)
    with pytest.raises(ValueError, match="used once"):
        tx.__enter__()


def test_a_deadline_that_is_over(root: Path) -> None:
    table = deltaic.Table.create(root, ROWS.schema)
    for deadline in (0, timedelta(0)):
        with (
            pytest.raises(deltaic.ConcurrentWrite, match="the deadline passed"),
            table.transaction(deadline=deadline) as tx,
        ):
            tx.append(ROWS)
        with pytest.raises(deltaic.ConcurrentWrite, match="the deadline passed"):
            table.append(ROWS, deadline=deadline)
    assert (table.snapshot().version, data_files(root)) == (0, [])
    assert table.append(ROWS, deadline=timedelta(days=1)).version == 1


def test_shown_values(root: Path) -> None:
    table = deltaic.Table.create(root, ROWS.schema)
    table.append(ROWS)
    with table.transaction(operation="UPDATE") as tx:
        tx.append(ROWS)
        tx.remove(paths(tx.snapshot.files()))
        shown = repr(tx)
    assert shown == f"<deltaic.Transaction UPDATE on {table.uri} at version 1: 1 files to add, 1 to remove>"
    assert repr(tx).endswith("at version 1: committed as version 2>")
    with table.transaction() as tx:
        pass
    assert repr(tx).endswith("at version 2: nothing committed>")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"isolation": "ReadCommitted"}, ValueError),
        ({"isolation": 1}, TypeError),
        ({"row_level": "yes"}, TypeError),
        ({"max_attempts": 0}, ValueError),
        ({"deadline": -1}, ValueError),
        ({"deadline": float("nan")}, ValueError),
        ({"deadline": "soon"}, TypeError),
        ({"deadline": True}, TypeError),
        ({"operation": "REPLACE TABLE"}, ValueError),
        ({"commit_info": {"txnId": "x"}}, ValueError),
        ({"app_transaction": ("", 1)}, ValueError),
    ],
)
def test_unknown_options(root: Path, options: dict[str, Any], error: type[Exception]) -> None:
    table = deltaic.Table.create(root, ROWS.schema)
    with pytest.raises(error):
        table.transaction(**options)
    if "operation" not in options:
        with pytest.raises(error):
            table.append(ROWS, **options)


def counted(table: deltaic.Table) -> int:
    [count] = table.snapshot().scan().to_arrow()["id"].to_pylist()
    return count


def test_a_function_is_run_again_after_a_conflict(root: Path) -> None:
    table = deltaic.Table.create(root, ROWS.schema)
    table.append(pa.table({"id": [0]}))
    others = [deltaic.Table(root), deltaic.Table(root)]

    def add_one(tx: deltaic.Transaction) -> None:
        [count] = tx.read().to_arrow()["id"].to_pylist()
        tx.remove(paths(tx.files()))
        tx.append(pa.table({"id": [count + 1]}))
        if others:
            others.pop().run_transaction(add_one_alone)

    def add_one_alone(tx: deltaic.Transaction) -> None:
        tx.remove(paths(tx.files()))
        tx.append(pa.table({"id": [counted(table) + 1]}))

    commit = table.run_transaction(add_one)
    assert commit is not None
    assert (commit.version, counted(table)) == (4, 3)
    told = [text.rpartition("; ")[2] for text in commit.conflicts_resolved]
    assert told == ["planned again at version 2", "planned again at version 3"]
    assert len(data_files(root)) == 4, "what lost is gone"


def test_a_function_is_not_run_again_if_its_file_was_added(root: Path) -> None:
    """The commit that added the file may be our own: another run could add its rows twice."""
    table = deltaic.Table.create(root, ROWS.schema)
    shared = root / "shared.parquet"
    pq.write_table(ROWS, shared)
    file = {
        "path": shared.name,
        "size": shared.stat().st_size,
        "modification_time": 0,
        "stats": json.dumps({"numRecords": ROWS.num_rows}),
    }
    runs = 0

    def add(tx: deltaic.Transaction) -> None:
        nonlocal runs
        runs += 1
        tx.add([file])
        if runs == 1:
            with deltaic.Table(root).transaction() as other:
                other.add([file])

    with pytest.raises(deltaic.ConcurrentAppend, match="also adds"):
        table.run_transaction(add)
    assert runs == 1
    assert table.snapshot().num_rows == ROWS.num_rows


def test_a_function_is_run_no_more_often_than_it_may(root: Path) -> None:
    table = deltaic.Table.create(root, ROWS.schema)
    runs = 0

    def late(tx: deltaic.Transaction) -> None:
        nonlocal runs
        runs += 1
        tx.append(pa.table({"id": [tx.read().count()]}))
        deltaic.Table(root).append(ROWS)

    for max_runs in (1, 3):
        runs = 0
        with pytest.raises(deltaic.ConcurrentAppend):
            table.run_transaction(late, max_runs=max_runs)
        assert runs == max_runs
    runs = 0
    with pytest.raises(deltaic.CommitConflict):
        table.run_transaction(late, deadline=0)
    assert runs == 1
    with pytest.raises(ValueError, match="max_runs"):
        table.run_transaction(late, max_runs=0)


def test_an_exception_of_the_function_ends_the_transaction(root: Path) -> None:
    table = deltaic.Table.create(root, ROWS.schema)
    runs = 0

    def fails(tx: deltaic.Transaction) -> None:
        nonlocal runs
        runs += 1
        tx.append(ROWS)
        raise deltaic.ConcurrentAppend("of another table, not of this transaction")

    with pytest.raises(deltaic.ConcurrentAppend):
        table.run_transaction(fails)
    assert (runs, table.snapshot().version, data_files(root)) == (1, 0, [])
    assert table.run_transaction(lambda tx: tx.read()) is None


def given(root: Path, path: str, **more: Any) -> dict[str, Any]:
    """Writes a data file as another engine would."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"id": [7, 8]}), file)
    about: dict[str, Any] = {"path": path, "size": file.stat().st_size, "modification_time": 5}
    return {**about, "stats": '{"numRecords":2}', **more}


def test_files_of_another_engine(root: Path) -> None:
    table = deltaic.Table.create(root, DAYS.schema, partition_by=["day"])
    files = [
        given(root, "day=1/a.parquet", partition_values={"day": 1}),
        given(root, "day=2/b.parquet", partition_values={"day": "2"}),
    ]
    with table.transaction() as tx:
        tx.add(files[:1])
        tx.add(pa.Table.from_pylist(files[1:]))
    assert tx.committed is not None
    assert tx.committed.metrics["numOutputRows"] == 4
    rows = table.snapshot().scan().to_arrow().sort_by([("day", "ascending"), ("id", "ascending")])
    assert rows.to_pylist() == [{"day": day, "id": id_} for day in (1, 2) for id_ in (7, 8)]
    first, second = of_kind(root, 1, "add")
    assert (first["dataChange"], second["dataChange"]) == (True, True)
    assert (first["modificationTime"], first["partitionValues"]) == (5, {"day": "1"})


@pytest.mark.parametrize(
    ("more", "error", "match"),
    [
        ({"size": 1}, ValueError, "bytes, not 1"),
        ({"path": "day=1/nowhere.parquet"}, ValueError, "does not exist"),
        ({"path": "../out.parquet"}, deltaic.PathEscape, None),
        ({"partition_values": {}}, ValueError, "no value for the partition column 'day'|column \"day\""),
        ({"partition_values": {"day": "x"}}, ValueError, "cannot be added"),
        ({"partition_values": {"day": "1", "id": "2"}}, ValueError, "not a partition column"),
        ({"partition_values": {"day": 1.5}}, TypeError, "as a string"),
        ({"stats": "3"}, ValueError, "JSON object"),
        ({"stats": '{"numRecords":-1}'}, ValueError, "number of rows"),
        ({"siez": 1}, ValueError, "siez"),
    ],
)
def test_files_that_do_not_fit(root: Path, more: dict[str, Any], error: Any, match: str | None) -> None:
    table = deltaic.Table.create(root, DAYS.schema, partition_by=["day"])
    file = given(root, "day=1/a.parquet", partition_values={"day": 1})
    with table.transaction() as tx:
        with pytest.raises(error, match=match):
            tx.add([{**file, **more}])
        tx.add([file])
        with pytest.raises(ValueError, match="staged already"):
            tx.add([file])
    assert table.snapshot().num_files == 1
    with table.transaction() as tx, pytest.raises(ValueError, match="live file"):
        tx.add([file])


@pytest.mark.parametrize(
    "spelling",
    [
        "a%20b.parquet",
        "a b.parquet",
        "./a%20b.parquet",
        "x/../a%20b.parquet",
        "%61%20b.parquet",
        "{root}/a%20b.parquet",
        "{root}/x/../a b.parquet",
        "file:{root}/a%20b.parquet",
        "file://{root}/a%20b.parquet",
    ],
)
def test_a_file_counts_by_where_its_path_leads(root: Path, spelling: str) -> None:
    again = spelling.format(root=root)
    table = deltaic.Table.create(root, ROWS.schema)
    file = {**given(root, "a b.parquet"), "path": "a%20b.parquet"}
    with table.transaction() as tx:
        tx.add([file])
        with pytest.raises(ValueError, match="staged already"):
            tx.add([{**file, "path": again}])
    with table.transaction() as tx:
        with pytest.raises(ValueError, match="live file"):
            tx.add([{**file, "path": again}])
        # It would be removed and added in one commit.
        tx.remove(["a%20b.parquet"])
        with pytest.raises(ValueError, match="live file"):
            tx.add([{**file, "path": again}])
        tx.add([given(root, "e.parquet")])
    with table.transaction() as tx, pytest.raises(ValueError, match="staged already"):
        tx.add(
            [{**given(root, "c d.parquet"), "path": path} for path in ("c%20d.parquet", "./c%20d.parquet")]
        )
    assert ids(root) == [7, 8]


def test_a_file_of_the_log_is_not_a_data(root: Path) -> None:
    table = deltaic.Table.create(root, ROWS.schema)
    path = "_delta_log/00000000000000000000.json"
    size = (root / path).stat().st_size
    with table.transaction() as tx, pytest.raises(ValueError, match="a file of the log"):
        tx.add([{"path": f"./{path}", "size": size, "modification_time": 1}])


def test_one_file_of_two_transactions(root: Path) -> None:
    table = deltaic.Table.create(root, ROWS.schema, properties={"delta.enableDeletionVectors": "true"})
    file = given(root, "a.parquet")
    with pytest.raises(deltaic.ConcurrentAppend, match="also adds"), table.transaction() as slow:
        slow.add([file])
        with deltaic.Table(root).transaction() as first:
            first.add([file])
        with deltaic.Table(root).transaction() as second:
            second.delete_rows({"a.parquet": [0]})
    assert ids(root) == [8]


def test_rows_in_other_files_are_not_change_of_data(root: Path) -> None:
    # protocol: add-file-and-remove-file.10, add-file-and-remove-file.14,
    # writer-requirements-for-row-tracking.32
    table = deltaic.Table.create(root, ROWS.schema, properties={"delta.enableRowTracking": "true"})
    for id_ in (7, 8):
        table.append(pa.table({"id": [id_]}))
    assert of_kind(root, 2, "commitInfo")[0]["tags"] == {"delta.rowTracking.preserved": "true"}
    with table.transaction() as tx:
        tx.remove(paths(tx.files()), data_change=False)
        tx.add([given(root, "both.parquet", data_change=False)])
    assert ids(root) == [7, 8]
    assert table.changes(3, infer=True).to_arrow().num_rows == 0
    assert not any(action["dataChange"] for kind in ("add", "remove") for action in of_kind(root, 3, kind))
    # The rows are added again, with different row ids.
    assert of_kind(root, 3, "commitInfo")[0]["tags"] == {"delta.rowTracking.preserved": "false"}


@pytest.mark.parametrize(
    ("ending", "told"),
    [
        (KeyboardInterrupt(), "whether it is committed is unknown"),
        (deltaic.CommitUnknown("no answer"), "whether it is committed is unknown"),
        (deltaic.StorageError("no"), "nothing committed"),
    ],
)
def test_a_commit_that_ends_in_the_middle(root: Path, ending: BaseException, told: str) -> None:
    class Ended:
        def __init__(self, rust: Any) -> None:
            self.rust = rust

        def __getattr__(self, name: str) -> Any:
            return getattr(self.rust, name)

        def commit(self) -> None:
            raise ending

    tx = deltaic.Table.create(root, ROWS.schema).transaction()
    with pytest.raises(type(ending)), tx:
        tx._rust = Ended(tx._rust)  # type: ignore[assignment]
    assert told in repr(tx)
    assert tx.committed is None


@pytest.mark.parametrize(
    ("gone", "come", "match"),
    [
        (["a"], [{}], "removed 1 rows, added 2 rows"),
        (["a"], [], "removed 1 rows, added 0 rows"),
        ([], [{}], "removed 0 rows, added 2 rows"),
        ([], [{"stats": None}], "removed 0 rows, added 1 files of unknown rows"),
        (["a", "b"], [{"stats": None}], None),
        (["a", "b"], [{}], None),
    ],
)
def test_rows_neither_come_nor_go_without_a_change_of_data(
    root: Path, gone: list[str], come: list[dict[str, Any]], match: str | None
) -> None:
    """protocol: add-file-and-remove-file.10, add-file-and-remove-file.14."""
    table = deltaic.Table.create(root, ROWS.schema)
    for id_ in (7, 8):
        table.append(pa.table({"id": [id_]}))
    refused = nullcontext() if match is None else pytest.raises(deltaic.ConstraintViolation, match=match)
    with refused, table.transaction() as tx:
        tx.remove(paths(tx.files())[: len(gone)], data_change=False)
        tx.add([given(root, "c.parquet", data_change=False, **more) for more in come])
    assert table.snapshot().version == (2 if match else 3)


def test_a_change_feed_reports_what_came_and_went(root: Path) -> None:
    """Rows are not updated in place, so that no change data files are required.

    protocol: writer-requirements-for-addcdcfile.2
    """
    on = {"delta.enableChangeDataFeed": "true", "delta.enableDeletionVectors": "true"}
    table = deltaic.Table.create(root, ROWS.schema, properties=on)
    table.append(ROWS)
    table.append(pa.table({"id": [4, 5]}))
    with table.transaction() as tx:
        [old] = paths(table.snapshot(version=1).files())
        [new] = set(paths(tx.files())) - {old}
        tx.delete_rows({old: [1]})
        tx.remove([new])
        tx.append(pa.table({"id": [9]}))
    changes = table.changes(3).to_arrow()
    told = sorted(zip(changes["id"].to_pylist(), changes["_change_type"].to_pylist(), strict=True))
    assert told == [(2, "delete"), (4, "delete"), (5, "delete"), (9, "insert")]


def test_a_file_goes_once_two_transactions_have_deleted_its_rows(root: Path) -> None:
    """protocol: deletion-vectors.2."""
    table = deltaic.Table.create(root, ROWS.schema, properties={"delta.enableDeletionVectors": "true"})
    table.append(pa.table({"id": range(100)}))
    [path] = paths(table.snapshot().files())
    with table.transaction(operation="DELETE") as late:
        assert late.delete_rows({path: range(0, 100, 2)}) == 50
        with table.transaction(operation="DELETE") as early:
            assert early.delete_rows({path: range(1, 100, 2)}) == 50
    assert late.committed is not None
    assert (late.committed.version, late.committed.metrics["numRemovedFiles"]) == (3, 1)
    snapshot = table.snapshot()
    assert (snapshot.num_files, snapshot.num_rows, ids(root)) == (0, 0, [])
    assert of_kind(root, 3, "add") == []
    [removed] = of_kind(root, 3, "remove")
    assert removed["deletionVector"]["cardinality"] == 50
    assert len(list(root.rglob("*.bin"))) == 1, "the vector that no commit names is deleted"


def clean_up(root: Path, before: int) -> None:
    for version in range(before):
        (root / "_delta_log" / f"{version:020}.json").unlink()


def test_a_version_whose_commits_were_cleaned_up(root: Path) -> None:
    """File statistics from deleted commits are in the checkpoint of the version.

    protocol: metadata-cleanup.1
    """
    table = deltaic.Table.create(root, ROWS.schema, properties={"delta.enableDeletionVectors": "true"})
    table.append(ROWS)
    table.append(ROWS)
    other = deltaic.Table(root)
    opened = table.snapshot()
    first, second = sorted(paths(opened.files()))
    with table.transaction(operation="DELETE") as tx:
        other.checkpoint()
        clean_up(root, 2)
        assert opened.num_rows == 6
        assert tx.delete_rows({first: [0], second: [1, 2]}) == 3
    assert tx.committed is not None
    assert tx.committed.version == 3
    assert table.snapshot().num_rows == 3
    assert len(ids(root)) == 3


def test_a_version_that_was_cleaned_up(root: Path) -> None:
    """The error reports the version as cleaned up, with a hint, and not as damage."""
    table = deltaic.Table.create(root, ROWS.schema, properties={"delta.enableDeletionVectors": "true"})
    table.append(ROWS)
    other = deltaic.Table(root)
    opened = table.snapshot()
    [path] = paths(opened.files())
    with table.transaction(operation="DELETE") as tx:
        other.append(ROWS)
        other.append(ROWS)
        other.checkpoint()
        clean_up(root, 3)
        with pytest.raises(deltaic.VersionNotFound, match="cleaned up") as caught:
            tx.delete_rows({path: [0]})
    assert caught.value.context["version"] == 1
    assert caught.value.hint is not None
    assert "newest version" in caught.value.hint
    with pytest.raises(deltaic.VersionNotFound, match="cleaned up"):
        _ = opened.num_rows
    assert sorted(opened.scan().to_arrow()["id"].to_pylist()) == [1, 2, 3], "its rows can still be read"
    assert table.snapshot().num_rows == 9
