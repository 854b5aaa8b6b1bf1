"""Heading *In-Commit Timestamps*: enabled by a feature, a writer version and a property, all three."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

import deltaic

from .handmade_log import Action, HandmadeTable, add, metadata, protocol

START = 1_600_000_000_000
IN_FILE, IN_COMMIT = START, START + 5000
ENABLED = {"delta.enableInCommitTimestamps": "true"}


def at(milliseconds: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=milliseconds)


def info(time: int | None) -> Action:
    body = {"operation": "X"} if time is None else {"inCommitTimestamp": time, "operation": "X"}
    return {"commitInfo": body}


def table_of(root: Path, needs: Action, properties: dict[str, str]) -> deltaic.Table:
    """A table whose two commits say one time and whose files have another."""
    table = HandmadeTable(root)
    table.commit(info(IN_COMMIT), needs, metadata(configuration=properties))
    table.commit(info(IN_COMMIT + 1000), add("a.parquet"))
    for version in (0, 1):
        table.set_time(version, IN_FILE + 1000 * version)
    return deltaic.Table(table.root)


@pytest.mark.parametrize(
    ("needs", "properties", "time"),
    [
        pytest.param(protocol(1, 7, None, ["inCommitTimestamp"]), ENABLED, IN_COMMIT, id="enabled"),
        pytest.param(
            protocol(1, 7, None, ["inCommitTimestamp-preview"]), ENABLED, IN_COMMIT, id="under the old name"
        ),
        pytest.param(protocol(1, 7, None, ["inCommitTimestamp"]), {}, IN_FILE, id="without the property"),
        pytest.param(
            protocol(1, 7, None, ["inCommitTimestamp"]),
            {"delta.enableInCommitTimestamps": "false"},
            IN_FILE,
            id="switched off",
        ),
        pytest.param(protocol(1, 7, None, ["appendOnly"]), ENABLED, IN_FILE, id="without the feature"),
        pytest.param(protocol(1, 2), ENABLED, IN_FILE, id="at an older writer version"),
    ],
)
def test_enabled_by_all_three(tmp_path: Path, needs: Action, properties: dict[str, str], time: int) -> None:
    """protocol: in-commit-timestamps.1, in-commit-timestamps.2, in-commit-timestamps.3."""
    table = table_of(tmp_path / "t", needs, properties)
    assert [commit.timestamp for commit in table.history()] == [at(time + 1000), at(time)]
    assert [table.snapshot(version=version).timestamp for version in (0, 1)] == [at(time), at(time + 1000)]
    assert table.snapshot(timestamp=at(time + 999)).version == 0
    assert table.snapshot(timestamp=at(time + 1000)).version == 1


def test_a_commit_without_its_time_is_damage_where_it_is_needed(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.commit(info(START), protocol(1, 7, None, ["inCommitTimestamp"]), metadata(configuration=ENABLED))
    table.commit(info(None), add("a.parquet"))
    snapshot = deltaic.Table(table.root).snapshot()
    assert snapshot.num_files == 1
    with pytest.raises(deltaic.CorruptLog) as caught:
        _ = deltaic.Table(table.root).snapshot().timestamp
    assert caught.value.context["version"] == 1


def test_switched_off_again(tmp_path: Path) -> None:
    """What counts is whether the version that is asked about has them enabled."""
    table = HandmadeTable(tmp_path / "t")
    needs = protocol(1, 7, None, ["inCommitTimestamp"])
    table.commit(info(IN_COMMIT), needs, metadata(configuration=ENABLED))
    table.commit(info(IN_COMMIT + 1000), metadata(configuration={}))
    table.set_time(0, START + 50_000)
    table.set_time(1, START + 60_000)
    assert deltaic.Table(table.root).snapshot().timestamp == at(START + 60_000)
    assert deltaic.Table(table.root).snapshot(version=0).timestamp == at(IN_COMMIT)
