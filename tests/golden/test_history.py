"""Commit times, history and time travel of the tables whose file times are known, on copies of their logs."""

from __future__ import annotations

import os
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

import deltaic
from tests.protocol import naive_log

from .opening import OPENED, copy_of_the_log, needs_golden
from .reference import FRESH, reference

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
TICK = timedelta(milliseconds=1)
TIMED = [name for name in OPENED if name.startswith(FRESH)]


def moment(milliseconds: int) -> datetime:
    return EPOCH + timedelta(milliseconds=milliseconds)


def timed_copy(name: str, place: Path) -> dict[int, dict[str, Any]]:
    """Copies the table's log and restores the times of its commits; returns the expected history."""
    meta = reference(name).meta
    assert meta is not None
    root = copy_of_the_log(name, place)
    for file, milliseconds in meta["log_mtimes_ms"].items():
        os.utime(root / "_delta_log" / file, ns=(milliseconds * 10**6, milliseconds * 10**6))
    return {entry["version"]: entry for entry in meta["history"]}


@needs_golden
@pytest.mark.parametrize("name", TIMED)
def test_history(name: str, tmp_path: Path) -> None:
    entries = timed_copy(name, tmp_path)
    table = deltaic.Table(tmp_path)
    shown = table.history()
    assert [commit.version for commit in shown] == sorted(entries, reverse=True)
    for commit in shown:
        assert commit.timestamp == moment(entries[commit.version]["timestamp"])
        assert commit.operation == entries[commit.version]["operation"]
    few = table.history(limit=2)
    assert [(one.version, one.timestamp) for one in few] == [
        (one.version, one.timestamp) for one in shown[:2]
    ]
    assert table.snapshot().timestamp == shown[0].timestamp


@needs_golden
@pytest.mark.parametrize("name", TIMED)
def test_time_travel_by_every_time(name: str, tmp_path: Path) -> None:
    """The time of a commit resolves to its version, a millisecond earlier to the version before.

    protocol: recommendations-for-readers-of-tables-with-in-commit-timestamps.1,
    recommendations-for-readers-of-tables-with-in-commit-timestamps.2
    """
    entries = timed_copy(name, tmp_path)
    table = deltaic.Table(tmp_path)
    reachable = naive_log.reachable(tmp_path / "_delta_log")
    versions = [version for version in sorted(entries) if version in reachable]
    times = {version: moment(entries[version]["timestamp"]) for version in versions}
    for version, following in zip(versions, [*versions[1:], None], strict=True):
        assert table.snapshot(timestamp=times[version]).version == version
        if following is not None and times[following] - times[version] > TICK:
            assert table.snapshot(timestamp=times[following] - TICK).version == version


@needs_golden
@pytest.mark.parametrize("name", TIMED)
def test_no_time_outside_of_the_history(name: str, tmp_path: Path) -> None:
    entries = timed_copy(name, tmp_path)
    table = deltaic.Table(tmp_path)
    first, last = min(entries), max(entries)
    reachable = naive_log.reachable(tmp_path / "_delta_log")
    before = moment(entries[max(first, reachable[0])]["timestamp"]) - TICK
    assert table.snapshot(timestamp=moment(entries[last]["timestamp"]) + TICK).version == last
    for time in (before, datetime.now(timezone.utc) + timedelta(days=1)):
        with pytest.raises(deltaic.VersionNotFound) as caught:
            table.snapshot(timestamp=time)
        assert caught.value.hint
        assert str(last) in f"{caught.value}"
    for version in (reachable[0] - 1, last + 1):
        if version >= 0:
            with pytest.raises(deltaic.VersionNotFound, match=rf"{reachable[0]}\b.*\b{last}\b"):
                table.snapshot(version=version)


@needs_golden
def test_the_version_that_added_in_commit_timestamps_is_a_boundary(tmp_path: Path) -> None:
    """Before it, adjusted file times apply; from it on, only the in-commit timestamps.

    protocol: recommendations-for-readers-of-tables-with-in-commit-timestamps.3,
    recommendations-for-readers-of-tables-with-in-commit-timestamps.5,
    recommendations-for-readers-of-tables-with-in-commit-timestamps.6
    """
    entries = timed_copy(f"{FRESH}/ict_enabled_later", tmp_path)
    table = deltaic.Table(tmp_path)
    properties = table.snapshot().properties
    since = int(properties["delta.inCommitTimestampEnablementVersion"])
    enabled = moment(int(properties["delta.inCommitTimestampEnablementTimestamp"]))
    assert moment(entries[since]["timestamp"]) == enabled
    assert table.snapshot(timestamp=enabled).version == since
    assert table.snapshot(timestamp=enabled - TICK).version == since - 1
    assert table.snapshot(version=since).timestamp == enabled
    assert table.snapshot(version=since - 1).timestamp == moment(entries[since - 1]["timestamp"])
