"""Heading *In-Commit Timestamps*: enabled by a feature, a writer version and a property, all three."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
    """A table of two commits whose in-commit timestamps differ from their file times."""
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
    """The version that is read determines whether they are enabled."""
    table = HandmadeTable(tmp_path / "t")
    needs = protocol(1, 7, None, ["inCommitTimestamp"])
    table.commit(info(IN_COMMIT), needs, metadata(configuration=ENABLED))
    table.commit(info(IN_COMMIT + 1000), metadata(configuration={}))
    table.set_time(0, START + 50_000)
    table.set_time(1, START + 60_000)
    assert deltaic.Table(table.root).snapshot().timestamp == at(START + 60_000)
    assert deltaic.Table(table.root).snapshot(version=0).timestamp == at(IN_COMMIT)


@dataclass(frozen=True)
class Commits:
    """Each commit's file time and in-commit timestamp, and the version that enables the latter."""

    files: list[int]
    stamps: list[int | None]
    enabled: int | None
    since: int

    def write(self, root: Path) -> deltaic.Table:
        table = HandmadeTable(root)
        for version, stamp in enumerate(self.stamps):
            actions: list[Action] = [info(stamp)]
            if version == 0:
                actions += [protocol(1, 7, None, ["inCommitTimestamp"]), metadata()]
            if version == self.enabled:
                since = {
                    "delta.inCommitTimestampEnablementVersion": str(version),
                    "delta.inCommitTimestampEnablementTimestamp": str(self.since),
                }
                configuration = ENABLED if version == 0 else {**ENABLED, **since}
                actions = [action for action in actions if "metaData" not in action]
                actions.append(metadata(configuration=configuration))
            table.commit(*actions)
        for version, time in enumerate(self.files):
            table.set_time(version, time)
        return deltaic.Table(table.root)


@st.composite
def commits(draw: st.DrawFn, *, one_lacks: bool = False) -> Commits:
    """File times are arbitrary, as after a copy; timestamps before the enablement must be ignored."""
    count = draw(st.integers(1, 7))
    near = st.integers(START - 20, START + 20)
    files = draw(st.lists(near, min_size=count, max_size=count))
    enabled = draw(st.integers(0, count - 1) if one_lacks else st.none() | st.integers(0, count - 1))
    stamps: list[int | None] = [draw(st.none() | near) for _ in range(count)]
    since = last = draw(near)
    for version in range(count if enabled is None else enabled, count):
        stamps[version] = last
        last += draw(st.integers(1, 10))
    if one_lacks:
        assert enabled is not None
        stamps[draw(st.integers(enabled, count - 1))] = None
    return Commits(files, stamps, enabled, since)


@settings(max_examples=50)
@given(commits())
def test_history_rises_and_agrees_with_time_travel(of: Commits) -> None:
    """With any file times, as after a copy.

    protocol: recommendations-for-readers-of-tables-with-in-commit-timestamps.5,
    recommendations-for-readers-of-tables-with-in-commit-timestamps.6.
    """
    with tempfile.TemporaryDirectory() as folder:
        table = of.write(Path(folder) / "t")
        times = {commit.version: commit.timestamp for commit in reversed(table.history())}
        ordered = list(times.values())
        assert all(before < after for before, after in pairwise(ordered))
        for version, stamp in enumerate(of.stamps):
            if of.enabled is not None and version >= of.enabled:
                assert stamp is not None
                assert times[version] == at(stamp)
        assert [commit.timestamp for commit in table.history(limit=2)] == ordered[::-1][:2]
        for version, time in times.items():
            assert deltaic.Table(table.uri).snapshot(version=version).timestamp == time
        for asked in {time + timedelta(milliseconds=by) for time in ordered for by in (-1, 0, 1)}:
            if ordered[0] <= asked:
                newest = max(version for version, time in times.items() if time <= asked)
                assert table.snapshot(timestamp=asked).version == newest
            else:
                with pytest.raises(deltaic.VersionNotFound):
                    table.snapshot(timestamp=asked)


@settings(max_examples=30)
@given(commits(one_lacks=True))
def test_time_travel_past_a_commit_without_its_time_is_right_or_an_error(of: Commits) -> None:
    assert of.enabled is not None
    lacking = of.stamps.index(None, of.enabled)
    with tempfile.TemporaryDirectory() as folder:
        table = of.write(Path(folder) / "t")
        with pytest.raises(deltaic.CorruptLog) as caught:
            table.history()
        assert caught.value.context["version"] == lacking
        for time in range(START - 25, START + 90, 3):
            found = version_at(table, time)
            if isinstance(found, deltaic.CorruptLog):
                assert found.context["version"] == lacking
            elif found is not None:
                assert lacking not in (found, found + 1)
                if found >= of.enabled:
                    assert (of.stamps[found] or 0) <= time
                    assert all((stamp or 0) > time for stamp in of.stamps[found + 1 : found + 2])


def version_at(table: deltaic.Table, time: int) -> int | deltaic.CorruptLog | None:
    try:
        return table.snapshot(timestamp=at(time)).version
    except deltaic.VersionNotFound:
        return None
    except deltaic.CorruptLog as error:
        return error
