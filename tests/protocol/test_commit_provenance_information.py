"""Heading *Commit Provenance Information*: how `history` returns it, and the times of commits."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

import deltaic

from .handmade_log import Action, HandmadeTable, add, ids, metadata, protocol, read_commit

START = 1_600_000_000_000
ICT = ["inCommitTimestamp"]


def at(milliseconds: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=milliseconds)


def info(**body: object) -> Action:
    return {"commitInfo": body}


def test_history_shows_what_commits_state_newest_first(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.create(info(timestamp=START, operation="CREATE TABLE", operationParameters={"mode": "x", "n": 1}))
    table.commit(add("a.parquet"))
    table.commit(
        add("b.parquet"), info(operation="WRITE", engineInfo="some engine", strange={"a": [1, None]})
    )
    commits = deltaic.Table(table.root).history()
    assert [commit.version for commit in commits] == [2, 1, 0]
    assert [commit.operation for commit in commits] == ["WRITE", None, "CREATE TABLE"]
    assert commits[0].engine == "some engine"
    assert [commit.version for commit in deltaic.Table(table.root).history(limit=2)] == [2, 1]


def test_a_commits_time_is_its_files_made_monotonic(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.create()
    for _ in range(3):
        table.commit(info(timestamp=1, operation="X"))
    for version, time in enumerate((START, START + 500, START + 400, START + 900)):
        table.set_time(version, time)
    times = [commit.timestamp for commit in deltaic.Table(table.root).history()]
    assert times == [at(START + 900), at(START + 501), at(START + 500), at(START)]


def test_time_travel_finds_the_last_commit_at_or_before(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.create()
    for version in (1, 2):
        table.commit(add(f"{version}.parquet"))
    for version in range(3):
        table.set_time(version, START + 1000 * version)
    handle = deltaic.Table(table.root)
    for offset, version in ((0, 0), (999, 0), (1000, 1), (1001, 1), (2000, 2)):
        assert handle.snapshot(timestamp=at(START + offset)).version == version
    text = at(START + 1500).isoformat()
    assert handle.snapshot(timestamp=text).version == 1
    assert handle.snapshot(version=1).timestamp == at(START + 1000)
    assert handle.snapshot(timestamp=at(START + 2001)).version == 2
    for outside in (START - 1, 2**45):  # in the year 3084
        with pytest.raises(deltaic.VersionNotFound) as caught:
            handle.snapshot(timestamp=at(outside))
        assert "2020-09-13" in caught.value.message


def test_in_commit_timestamps_rule_over_file_times(tmp_path: Path) -> None:
    # protocol: recommendations-for-readers-of-tables-with-in-commit-timestamps.1
    table = HandmadeTable(tmp_path / "t")
    on = metadata(configuration={"delta.enableInCommitTimestamps": "true"})
    table.commit(info(inCommitTimestamp=START, operation="A"), protocol(1, 7, None, ICT), on)
    table.commit(info(inCommitTimestamp=START + 5, operation="B"), add("a.parquet"))
    table.set_time(0, START + 9_000_000)
    table.set_time(1, START - 9_000_000)
    handle = deltaic.Table(table.root)
    assert [commit.timestamp for commit in handle.history()] == [at(START + 5), at(START)]
    assert handle.snapshot().timestamp == at(START + 5)
    assert [handle.snapshot(timestamp=at(START + offset)).version for offset in (0, 4, 5)] == [0, 0, 1]


def test_in_commit_timestamps_enabled_later(tmp_path: Path) -> None:
    # protocol: recommendations-for-readers-of-tables-with-in-commit-timestamps.2,
    # recommendations-for-readers-of-tables-with-in-commit-timestamps.3,
    # recommendations-for-readers-of-tables-with-in-commit-timestamps.5,
    # recommendations-for-readers-of-tables-with-in-commit-timestamps.6
    table = HandmadeTable(tmp_path / "t")
    table.create()
    table.commit(add("a.parquet"))
    on = metadata(
        configuration={
            "delta.enableInCommitTimestamps": "true",
            "delta.inCommitTimestampEnablementVersion": "2",
            "delta.inCommitTimestampEnablementTimestamp": str(START + 1000),
        }
    )
    table.commit(info(inCommitTimestamp=START + 1000, operation="X"), protocol(1, 7, None, ICT), on)
    table.commit(info(inCommitTimestamp=START + 2000, operation="X"), add("b.parquet"))
    # Misleading file times for the last two: one far in the past, one far in the future.
    for version, time in enumerate((START, START + 500, START - 10**9, START + 10**9)):
        table.set_time(version, time)
    handle = deltaic.Table(table.root)
    assert [commit.timestamp for commit in handle.history()] == [
        at(START + 2000),
        at(START + 1000),
        at(START + 500),
        at(START),
    ]
    offsets = {0: 0, 499: 0, 500: 1, 999: 1, 1000: 2, 1999: 2, 2000: 3}
    assert {o: handle.snapshot(timestamp=at(START + o)).version for o in offsets} == offsets


def test_an_append_states_who_and_what(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.create()
    commit = deltaic.Table(table.root).append(ids(1), commit_info={"userName": "Ada", "deep": {"a": [1]}})
    first = read_commit(table.root, 1)[0]["commitInfo"]
    assert first["operation"] == "WRITE"
    assert first["operationParameters"]["mode"] == "Append"
    assert first["isBlindAppend"] is True
    assert first["engineInfo"].startswith("deltaic")
    assert isinstance(first["txnId"], str)
    assert isinstance(first["timestamp"], int)
    assert (first["userName"], first["deep"]) == ("Ada", {"a": [1]})
    (newest, *_) = deltaic.Table(table.root).history()
    assert (newest.version, newest.operation) == (commit.version, "WRITE")
