"""Two writers delete different rows of one file: both commit, unless `row_level=False`."""

# A transaction raises at the end of its block.
# ruff: noqa: PT012

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic
from tests.api.log_files import of_kind
from tests.protocol.handmade_log import HandmadeTable, ids, metadata, protocol

VECTORS = ["deletionVectors"]
ROWS = 8


def made(root: Path, *more: str, rows: int = ROWS, **properties: str) -> deltaic.Table:
    """Returns a table of one file in which the id of each row is its position."""
    table = HandmadeTable(root)
    asked = {"delta.enableDeletionVectors": "true", **properties}
    first = [protocol(3, 7, VECTORS, [*VECTORS, *more]), metadata(configuration=asked)]
    table.commit(*first)
    handle = deltaic.Table(root)
    handle.append(ids(*range(rows)))
    return handle


def path_of(table: deltaic.Table) -> str:
    [path] = table.snapshot().files().to_arrow()["path"].to_pylist()
    return path


def left(root: Path) -> list[int]:
    return sorted(deltaic.Table(root).snapshot().scan().to_arrow()["id"].to_pylist())


def vector_files(root: Path) -> set[str]:
    return {path.name for path in root.glob("deletion_vector_*.bin")}


def test_rows_go_by_a_vector(tmp_path: Path) -> None:
    """protocol: deletion-vectors.4, writer-requirement-for-deletion-vectors.1, per-file-statistics.1."""
    table = made(tmp_path / "t")
    path = path_of(table)
    with table.transaction(operation="DELETE") as tx:
        assert tx.delete_rows({path: [1, 3, 3]}) == 2
    assert left(tmp_path / "t") == [0, 2, 4, 5, 6, 7]
    [add], [remove] = of_kind(tmp_path / "t", 2, "add"), of_kind(tmp_path / "t", 2, "remove")
    assert add["path"] == remove["path"] == path
    assert add["deletionVector"]["cardinality"] == 2
    assert "deletionVector" not in remove
    stats = json.loads(add["stats"])
    assert (stats["numRecords"], stats["tightBounds"]) == (8, False)
    # Deleting deleted rows changes nothing, and a file without remaining rows is removed.
    with table.transaction() as tx:
        assert tx.delete_rows({path: [1]}) == 0
    assert tx.committed is None
    with table.transaction() as tx:
        assert tx.delete_rows({path: range(ROWS)}) == 6
    assert (table.snapshot().num_files, left(tmp_path / "t")) == (0, [])
    assert of_kind(tmp_path / "t", 3, "remove")[0]["deletionVector"]["cardinality"] == 2


@pytest.mark.parametrize("times", [1, 40], ids=["inline vectors", "vectors in files"])
def test_both_win_on_different_rows(tmp_path: Path, times: int) -> None:
    root = tmp_path / "t"
    table = made(root, rows=times * ROWS)
    path = path_of(table)

    def positions(*rows: int) -> list[int]:
        return [turn * ROWS + row for turn in range(times) for row in rows]

    with table.transaction(operation="DELETE") as tx:
        tx.delete_rows({path: positions(0, 7)})
        for row in (3, 4):
            with deltaic.Table(root).transaction(operation="DELETE") as winner:
                winner.delete_rows({path: positions(row)})
    assert tx.committed is not None
    assert tx.committed.version == 4
    assert [text for text in tx.committed.conflicts_resolved if "other rows of one file" in text] == [
        "version 2: DELETE; it deleted other rows of one file",
        "version 3: DELETE; it deleted other rows of one file",
    ]
    assert left(root) == positions(1, 2, 5, 6)
    [add], [remove] = of_kind(root, 4, "add"), of_kind(root, 4, "remove")
    assert add["deletionVector"]["cardinality"] == 4 * times
    [before] = of_kind(root, 3, "add")
    assert remove["deletionVector"] == before["deletionVector"]
    # Uncommitted files are deleted: one deletion vector remains for each of the three versions.
    assert len(vector_files(root)) == (0 if times == 1 else 3)
    assert table.check(deep=True).is_healthy


def test_one_row_goes_once(tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = made(root, rows=100)
    path = path_of(table)
    with pytest.raises(deltaic.ConcurrentDeleteRead) as raised, table.transaction() as tx:
        tx.delete_rows({path: range(0, 50, 2)})
        with deltaic.Table(root).transaction() as winner:
            winner.delete_rows({path: range(48, 100, 2)})
    assert raised.value.context["path"] == path
    assert left(root) == [row for row in range(100) if row < 48 or row % 2]
    assert len(vector_files(root)) == 1, "what the loser wrote is gone"


def test_files_alone_may_be_requested(tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = made(root)
    path = path_of(table)
    with pytest.raises(deltaic.ConcurrentDeleteRead), table.transaction(row_level=False) as tx:
        tx.delete_rows({path: [2]})
        with deltaic.Table(root).transaction() as winner:
            winner.delete_rows({path: [3]})
    assert left(root) == [0, 1, 2, 4, 5, 6, 7]


def test_transactions_that_read_rows_conflict_by_file(tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = made(root)
    path = path_of(table)
    with pytest.raises(deltaic.CommitConflict), table.transaction() as tx:
        # The largest row depends on the others.
        [largest] = tx.read("id = 7").to_arrow()["id"].to_pylist()
        tx.delete_rows({path: [largest]})
        with deltaic.Table(root).transaction() as winner:
            winner.delete_rows({path: [3]})
    assert left(root) == [0, 1, 2, 4, 5, 6, 7]


def test_row_ids_stay(tmp_path: Path) -> None:
    """protocol: writer-requirements-for-row-tracking.4, writer-requirements-for-row-tracking.12."""
    root = tmp_path / "t"
    properties = {
        "delta.enableRowTracking": "true",
        "delta.rowTracking.materializedRowIdColumnName": "_row-id",
        "delta.rowTracking.materializedRowCommitVersionColumnName": "_row-version",
    }
    table = made(root, "rowTracking", "domainMetadata", **properties)
    path = path_of(table)

    def row_ids() -> dict[int, tuple[int, int]]:
        rows = deltaic.Table(root).snapshot().scan(row_ids=True).to_arrow().to_pylist()
        return {row["id"]: (row["_row_id"], row["_row_commit_version"]) for row in rows}

    before = row_ids()
    with table.transaction() as tx:
        tx.delete_rows({path: [1]})
        with deltaic.Table(root).transaction() as winner:
            winner.delete_rows({path: [2]})
    assert row_ids() == {key: value for key, value in before.items() if key not in (1, 2)}
    [add], [remove] = of_kind(root, 3, "add"), of_kind(root, 3, "remove")
    assert add["baseRowId"] == remove["baseRowId"] == 0
    assert add["defaultRowCommitVersion"] == remove["defaultRowCommitVersion"] == 1


def test_invalid_deletions(tmp_path: Path) -> None:
    table = made(tmp_path / "t")
    path = path_of(table)
    with table.transaction() as tx:
        for rows, error, match in [
            ({path: [8]}, ValueError, "8 rows, and none at 8"),
            ({path: [-1]}, ValueError, "must be between 0"),
            ({path: [1 << 63]}, ValueError, "must be between 0"),
            ({path: [True]}, TypeError, "must be an integer"),
            ({"elsewhere.parquet": [1]}, ValueError, "not a live file"),
        ]:
            with pytest.raises(error, match=match):
                tx.delete_rows(rows)
        tx.delete_rows({path: [1]})
        with pytest.raises(ValueError, match="staged already"):
            tx.delete_rows({path: [2]})
    plain = deltaic.Table.create(tmp_path / "plain", pa.schema([("id", pa.int64())]))
    plain.append(pa.table({"id": [1, 2]}))
    with plain.transaction() as tx, pytest.raises(deltaic.UnsupportedFeature, match="deletion vectors"):
        tx.delete_rows({path_of(plain): [0]})


DELETER = """
import signal, sys, deltaic
# No test hangs on a process that waits for the other.
signal.alarm(300)
root, path, rows = sys.argv[1], sys.argv[2], [int(row) for row in sys.argv[3].split(",")]
table = deltaic.Table(root)
for row in rows:
    sys.stdin.readline()
    with table.transaction(operation="DELETE") as tx:
        tx.delete_rows({path: [row]})
        print("staged", flush=True)
        sys.stdin.readline()
    told = [text for text in tx.committed.conflicts_resolved if "other rows of one file" in text]
    print(row, tx.committed.version, len(tx.committed.conflicts_resolved), len(told), flush=True)
"""


def go(processes: list[subprocess.Popen[str]]) -> None:
    """Lets each process continue to its next wait."""
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()


def test_processes_delete_rows_of_one_file(tmp_path: Path) -> None:
    """In each round both have staged their rows before either commits."""
    root = tmp_path / "t"
    table = made(root)
    path = path_of(table)
    shares = [[0, 1, 2], [3, 4, 5]]
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", DELETER, str(root), path, ",".join(map(str, rows))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for rows in shares
    ]
    version = 1
    for rows in zip(*shares, strict=True):
        go(processes)
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "staged\n"
        go(processes)
        told = [list(map(int, process.stdout.readline().split())) for process in processes if process.stdout]
        assert [row for row, *_ in told] == list(rows)
        # The later writer resolved exactly one conflict, with the other's commit.
        assert sorted(numbers for _, *numbers in told) == [[version + 1, 0, 0], [version + 2, 1, 1]]
        version += 2
    for process in processes:
        assert process.communicate() == ("", None)
        assert process.returncode == 0
    assert left(root) == [6, 7]
    assert table.check(deep=True).is_healthy
