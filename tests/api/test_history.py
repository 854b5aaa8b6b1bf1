"""`Table.history`."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import re
from datetime import datetime, timezone
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic
from tests.api.log_files import of_kind, write_commit


def test_commits_come_newest_first(numbers: deltaic.Table, root: Path) -> None:
    commits = numbers.history()
    assert [commit.version for commit in commits] == [2, 1, 0]
    assert [commit.operation for commit in commits] == ["WRITE", "WRITE", "CREATE TABLE"]
    for commit in commits:
        assert [commit.info] == of_kind(root, commit.version, "commitInfo")
        assert commit.timestamp.utcoffset() is not None
        assert commit.conflicts_resolved == []
    assert commits[0].timestamp > commits[1].timestamp > commits[2].timestamp


def test_a_limit_takes_the_newest(numbers: deltaic.Table) -> None:
    assert [commit.version for commit in numbers.history(limit=2)] == [2, 1]
    assert [commit.version for commit in numbers.history(2)] == [2, 1]
    assert numbers.history(limit=0) == []
    assert len(numbers.history(limit=10)) == 3
    with pytest.raises(ValueError, match="-1"):
        numbers.history(limit=-1)


def test_the_commit_of_a_verb_is_the_one_in_the_history(numbers: deltaic.Table) -> None:
    commit = numbers.append(pa.table({"id": [6], "name": ["six"]}))
    recorded = numbers.history(limit=1)[0]
    assert dataclasses.replace(recorded, timestamp=commit.timestamp) == commit
    # Commits within one tick of the file system clock get times one millisecond apart in the history.
    assert recorded.timestamp >= commit.timestamp
    assert numbers.snapshot(timestamp=recorded.timestamp).version == commit.version
    assert pickle.loads(pickle.dumps(commit)) == commit
    assert copy.deepcopy(commit) == commit


def test_a_commit_by_another_writer_may_state_little_or_much(numbers: deltaic.Table, root: Path) -> None:
    write_commit(root, 3, {"txn": {"appId": "a", "version": 1}})
    write_commit(
        root,
        4,
        {
            "commitInfo": {
                "operation": "DELETE",
                "operationParameters": {"predicate": '["id > 3"]'},
                "operationMetrics": {"numDeletedRows": "2", "executionTimeMs": 15, "note": "n/a"},
                "readVersion": 3,
                "isBlindAppend": False,
                "unheardOf": {"x": [1]},
            }
        },
    )
    much, little = numbers.history(limit=2)
    assert (little.operation, little.parameters, little.metrics, little.engine) == (None, {}, {}, None)
    assert (little.read_version, little.is_blind_append, little.info) == (None, None, {})
    assert much.operation == "DELETE"
    assert much.parameters == {"predicate": '["id > 3"]'}
    assert much.metrics == {"numDeletedRows": 2, "executionTimeMs": 15, "note": "n/a"}
    assert much.engine is None
    assert much.read_version == 3
    assert much.is_blind_append is False
    assert much.info["unheardOf"] == {"x": [1]}


def test_there_must_be_a_table(tmp_path: Path) -> None:
    with pytest.raises(deltaic.TableNotFound):
        deltaic.Table(tmp_path / "nothing").history()


NINE = datetime(2026, 11, 22, 9, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("commit", "shown"),
    [
        (
            deltaic.Commit(
                3,
                NINE,
                {"operation": "WRITE", "operationMetrics": {"numFiles": "1", "numOutputRows": "3000"}},
            ),
            "<deltaic.Commit 3 WRITE at 2026-11-22 09:00:00 UTC: 1 file, 3,000 rows>",
        ),
        (
            deltaic.Commit(
                4,
                NINE,
                {
                    "operation": "DELETE",
                    "operationMetrics": {"numAddedFiles": 0, "numRemovedFiles": 2, "numDeletedRows": "1"},
                },
                warnings=("no checkpoint",),
            ),
            "<deltaic.Commit 4 DELETE at 2026-11-22 09:00:00 UTC: 2 files removed, 1 row deleted, 1 warning>",
        ),
        (
            deltaic.Commit(
                4,
                NINE,
                {
                    "operation": "MERGE",
                    "operationMetrics": {
                        "numOutputRows": "12",
                        "numTargetRowsCopied": "9",
                        "numTargetRowsUpdated": "2",
                        "numTargetRowsInserted": "1",
                    },
                },
            ),
            "<deltaic.Commit 4 MERGE at 2026-11-22 09:00:00 UTC: 2 rows updated, 1 row inserted>",
        ),
        (
            deltaic.Commit(
                4,
                NINE,
                {
                    "operation": "RESTORE",
                    "operationMetrics": {"numRestoredFiles": "2", "numRemovedFiles": "1"},
                },
            ),
            "<deltaic.Commit 4 RESTORE at 2026-11-22 09:00:00 UTC: 2 files restored, 1 file removed>",
        ),
        (deltaic.Commit(5, NINE, skipped=True), "<deltaic.Commit 5 skipped at 2026-11-22 09:00:00 UTC>"),
        (deltaic.Commit(6, NINE), "<deltaic.Commit 6 without an operation at 2026-11-22 09:00:00 UTC>"),
        (
            deltaic.Commit(
                7, NINE, {"operation": "a\x1b\n" + "x" * 99, "operationMetrics": {"numFiles": "x"}}
            ),
            f"<deltaic.Commit 7 a\ufffd\ufffd{'x' * 77} at 2026-11-22 09:00:00 UTC>",
        ),
    ],
)
def test_a_commit_shows_itself_in_a_line(commit: deltaic.Commit, shown: str) -> None:
    assert repr(commit) == shown


def test_a_commit_that_was_made_shows_what_came(numbers: deltaic.Table) -> None:
    assert re.fullmatch(
        r"<deltaic\.Commit 2 WRITE at [-0-9]{10} [:0-9]{8} UTC: 1 file, 3 rows>", repr(numbers.history()[0])
    )
