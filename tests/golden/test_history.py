"""Commit times, history and time travel of the tables that have their times, on copies of their logs."""

from __future__ import annotations

import os
import shutil
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

import deltaic

from .reference import FRESH, GOLDEN, reference
from .test_golden import TABLES, expectations, needs_golden

SAMPLES = 20
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
READ = [name for name in TABLES if name.startswith(FRESH) and expectations().get(name) == "read"]


def moment(milliseconds: int) -> datetime:
    return EPOCH + timedelta(milliseconds=milliseconds)


def copy_of_the_log(name: str, meta: dict[str, Any], place: Path) -> Path:
    """The table's log with the times that its commits had; data files are not needed."""
    shutil.copytree(GOLDEN / name / "delta" / "_delta_log", place / "_delta_log")
    for file, milliseconds in meta["log_mtimes_ms"].items():
        os.utime(place / "_delta_log" / file, ns=(milliseconds * 10**6, milliseconds * 10**6))
    return place


def oldest_version(log: Path) -> int:
    """The oldest version that can still be made: the first commit, or else the oldest checkpoint's."""
    if (log / f"{0:020}.json").exists():
        return 0
    return min(int(path.name[:20]) for path in log.glob("*.checkpoint*"))


@needs_golden
@pytest.mark.parametrize("name", READ)
def test_history_and_time_travel(name: str, tmp_path: Path) -> None:
    meta = reference(name).meta
    assert meta is not None
    root = copy_of_the_log(name, meta, tmp_path / "t")
    table = deltaic.Table(root)

    times = {entry["version"]: moment(entry["timestamp"]) for entry in meta["history"]}
    operations = {entry["version"]: entry["operation"] for entry in meta["history"]}
    shown = table.history()
    assert [commit.version for commit in shown] == sorted(times, reverse=True)
    assert {commit.version: commit.timestamp for commit in shown} == times
    assert {commit.version: commit.operation for commit in shown} == operations
    assert table.snapshot().timestamp == times[meta["version"]]

    oldest = oldest_version(root / "_delta_log")
    reachable = sorted(version for version in times if version >= oldest)
    for version in reachable[:: 1 + len(reachable) // SAMPLES]:
        assert travel(table, times[version]) in (version, None)
        following = times.get(version + 1)
        if following is not None:
            assert travel(table, following - timedelta(milliseconds=1)) in (version, None)
    with pytest.raises(deltaic.VersionNotFound):
        table.snapshot(timestamp=min(times.values()) - timedelta(milliseconds=1))


def travel(table: deltaic.Table, time: datetime) -> int | None:
    """The version at a time; None where that version asks for what is not implemented."""
    try:
        return table.snapshot(timestamp=time).version
    except deltaic.UnsupportedFeature:
        return None
