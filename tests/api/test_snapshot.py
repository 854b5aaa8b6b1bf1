"""`Table.snapshot` by version and by time, `Snapshot.refresh`, and the properties of a snapshot."""

from __future__ import annotations

import json
import shutil
import warnings
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic
from tests.api.log_files import actions, commit_file, of_kind, set_commit_time, write_commit

T0 = 1_793_491_200_000  # 2026-11-01T00:00:00Z
HOUR = 3_600_000


def at(hours: float) -> datetime:
    return datetime(2026, 11, 1, tzinfo=timezone.utc) + timedelta(hours=hours)


@pytest.fixture
def hourly(numbers: deltaic.Table, root: Path) -> deltaic.Table:
    """The three versions of `numbers`, committed at 0:00, 1:00 and 2:00 UTC."""
    for version in range(3):
        set_commit_time(root, version, T0 + version * HOUR)
    return numbers


def test_each_version_is_as_it_was(numbers: deltaic.Table) -> None:
    assert [numbers.snapshot(version=version).num_rows for version in range(3)] == [0, 3, 6]
    assert numbers.snapshot().version == 2
    assert numbers.snapshot(version=1).scan().to_arrow().sort_by("id")["id"].to_pylist() == [0, 1, 2]


@pytest.mark.parametrize(("hours", "version"), [(0, 0), (0.5, 0), (1, 1), (1.99, 1), (2, 2)], ids=str)
def test_a_time_finds_the_newest_version_not_after_it(
    hourly: deltaic.Table, hours: float, version: int
) -> None:
    moment = at(hours)
    local = moment.astimezone(timezone(timedelta(hours=-5)))
    for when in (moment, local, moment.isoformat(), moment.isoformat().replace("+00:00", "Z")):
        snapshot = hourly.snapshot(timestamp=when)
        assert snapshot.version == version
        assert snapshot.timestamp == at(version)
        assert snapshot.timestamp.utcoffset() == timedelta(0)


def test_a_millisecond_before_a_commit_is_before_it(hourly: deltaic.Table) -> None:
    assert hourly.snapshot(timestamp=at(1) - timedelta(milliseconds=1)).version == 0
    assert hourly.snapshot(timestamp=at(1) - timedelta(microseconds=1)).version == 0


def test_a_time_before_the_first_commit_is_out_of_range(hourly: deltaic.Table) -> None:
    with pytest.raises(deltaic.VersionNotFound) as caught:
        hourly.snapshot(timestamp=at(-1))
    assert "2026-11-01" in str(caught.value)


def test_until_now_the_newest_version_is_that_of_a_time(hourly: deltaic.Table) -> None:
    now = datetime.now(timezone.utc)
    for when in (at(3), now):
        assert hourly.snapshot(timestamp=when).version == 2
    with pytest.raises(deltaic.VersionNotFound) as caught:
        hourly.snapshot(timestamp=now + timedelta(days=1))
    assert "2026-11-01T02:00:00" in str(caught.value)


def test_times_of_files_are_made_to_grow(hourly: deltaic.Table, root: Path) -> None:
    set_commit_time(root, 1, T0 - HOUR)
    times = [commit.timestamp for commit in reversed(hourly.history())]
    assert times == [at(0), at(0) + timedelta(milliseconds=1), at(2)]
    assert hourly.snapshot(version=1).timestamp == times[1]
    assert hourly.snapshot(timestamp=at(0)).version == 0
    assert hourly.snapshot(timestamp=at(1)).version == 1


@pytest.mark.parametrize("when", ["2026-11-01T00:00:00", "2026-11-01", datetime(2026, 11, 1)])  # noqa: DTZ001
def test_a_time_without_zone_is_refused(hourly: deltaic.Table, when: str | datetime) -> None:
    with pytest.raises(ValueError, match="zone"):
        hourly.snapshot(timestamp=when)


@pytest.mark.parametrize("when", ["yesterday", "", "Z"])
def test_invalid_times_are_refused(hourly: deltaic.Table, when: str) -> None:
    with pytest.raises(ValueError, match="ISO 8601"):
        hourly.snapshot(timestamp=when)


def test_wrong_arguments_are_refused(numbers: deltaic.Table) -> None:
    with pytest.raises(ValueError, match="not both"):
        numbers.snapshot(version=1, timestamp="2026-11-01T00:00:00Z")
    with pytest.raises(ValueError, match="-1"):
        numbers.snapshot(version=-1)
    with pytest.raises(TypeError, match="aware datetime"):
        numbers.snapshot(timestamp=T0)  # type: ignore[arg-type]


def test_a_version_out_of_range_gives_the_range(numbers: deltaic.Table) -> None:
    with pytest.raises(deltaic.VersionNotFound) as caught:
        numbers.snapshot(version=3)
    assert caught.value.context["version"] == 3
    assert "0" in str(caught.value)
    assert "2" in str(caught.value)


def test_refresh_gives_the_newest_and_leaves_the_old(numbers: deltaic.Table, root: Path) -> None:
    old = numbers.snapshot(version=1)
    numbers.append(pa.table({"id": [6], "name": ["six"]}))
    new = old.refresh()
    assert (old.version, old.num_files, old.num_rows) == (1, 1, 3)
    assert (new.version, new.num_files, new.num_rows) == (3, 3, 7)
    assert new.refresh().version == 3
    fresh = deltaic.Table(root).snapshot()
    assert new.size_in_bytes == fresh.size_in_bytes
    assert sorted(new.files().to_arrow()["path"].to_pylist()) == sorted(
        fresh.files().to_arrow()["path"].to_pylist()
    )


def test_refresh_reads_only_what_is_new(numbers: deltaic.Table, root: Path) -> None:
    """Damage to a commit that the snapshot has already read has no effect on it."""
    snapshot = numbers.snapshot()
    numbers.append(pa.table({"id": [6], "name": ["six"]}))
    commit_file(root, 1).write_text("damaged\n")
    assert (snapshot.refresh().version, snapshot.refresh().num_files) == (3, 3)
    with pytest.raises(deltaic.CorruptLog):
        deltaic.Table(root).snapshot()


def test_the_handle_sees_what_others_commit(numbers: deltaic.Table, root: Path) -> None:
    assert numbers.snapshot().version == 2
    deltaic.Table(root).append(pa.table({"id": [6], "name": ["six"]}))
    assert numbers.snapshot().version == 3


def test_refresh_follows_removes_and_metadata(numbers: deltaic.Table, root: Path) -> None:
    snapshot = numbers.snapshot()
    [add] = of_kind(root, 1, "add")
    [metadata] = of_kind(root, 0, "metaData")
    write_commit(
        root,
        3,
        {"remove": {"path": add["path"], "dataChange": True, "deletionTimestamp": T0}},
        {"metaData": {**metadata, "name": "renamed"}},
        {"txn": {"appId": "loader", "version": 7}},
    )
    new = snapshot.refresh()
    assert (new.num_files, new.num_rows, new.metadata.name) == (1, 3, "renamed")
    assert new.app_transactions == {"loader": 7}
    assert snapshot.app_transactions == {}
    assert new.tombstones().to_arrow()["path"].to_pylist() == [add["path"]]
    assert new.tombstones().to_arrow()["deletion_timestamp"].to_pylist() == [T0]
    assert snapshot.tombstones().num_rows == 0


def test_a_table_recreated_at_the_same_place_is_not_mixed_up(numbers: deltaic.Table, root: Path) -> None:
    assert numbers.snapshot().num_rows == 6
    shutil.rmtree(root)
    again = deltaic.Table.create(root, pa.schema([("other", pa.float64())]))
    for _ in range(4):
        again.append(pa.table({"other": [1.0]}))
    try:
        snapshot = numbers.snapshot()
    except deltaic.DeltaicError:
        return
    assert snapshot.schema.names == ["other"]
    assert snapshot.num_rows == 4


def test_features_and_properties_are_as_in_the_log(numbers: deltaic.Table, root: Path) -> None:
    protocol = {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": ["timestampNtz"]}
    protocol["writerFeatures"] = ["timestampNtz", "appendOnly"]
    write_commit(root, 3, {"protocol": protocol})
    snapshot = numbers.snapshot()
    assert snapshot.protocol.min_reader_version == 3
    assert snapshot.protocol.reader_features == frozenset({"timestampNtz"})
    assert snapshot.protocol.writer_features == frozenset({"timestampNtz", "appendOnly"})
    assert json.loads(snapshot.protocol.to_json()) == protocol
    assert snapshot.metadata.to_json() == numbers.snapshot(version=0).metadata.to_json()
    assert snapshot.domain_metadata == {}


@pytest.mark.usefixtures("numbers")
def test_rows_are_unknown_when_one_file_does_not_state(root: Path) -> None:
    [add] = of_kind(root, 2, "add")
    lines = [action for action in actions(root, 2) if "add" not in action]
    del add["stats"]
    commit_file(root, 2).write_text("\n".join(json.dumps(line) for line in [*lines, {"add": add}]) + "\n")
    snapshot = deltaic.Table(root).snapshot()
    assert snapshot.num_rows is None
    assert snapshot.num_files == 2
    assert snapshot.scan().count() == 6


@pytest.mark.usefixtures("numbers")
def test_a_held_snapshot_does_not_look_for_rows_that_no_file_states(root: Path) -> None:
    """Its log files have been cleaned up since, without effect: they did not contain `numRecords`."""
    for version in (1, 2):
        lines = actions(root, version)
        for line in lines:
            line.get("add", {}).pop("stats", None)
        commit_file(root, version).write_text("\n".join(map(json.dumps, lines)) + "\n")
    table = deltaic.Table(root)
    held = deltaic.Table(root).snapshot()
    table.append(pa.table({"id": [7]}))
    table.checkpoint()
    for version in (0, 1, 2):
        commit_file(root, version).unlink()
    assert held.num_rows is None


@pytest.mark.usefixtures("numbers")
def test_a_damaged_hint_is_passed_over_with_a_warning(root: Path) -> None:
    (root / "_delta_log" / "_last_checkpoint").write_text("not json")
    with pytest.warns(deltaic.DeltaicWarning, match="_last_checkpoint") as caught:
        snapshot = deltaic.Table(root).snapshot()
    assert [str(warning.message) for warning in caught] == snapshot.warnings
    assert caught[0].filename == __file__
    assert snapshot.num_rows == 6


def test_a_healthy_table_gives_no_warning(numbers: deltaic.Table) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert numbers.snapshot().warnings == []


def test_there_must_be_a_table(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    for place in ("nothing", "plain"):
        with pytest.raises(deltaic.TableNotFound) as caught:
            deltaic.Table(tmp_path / place).snapshot()
        assert place in str(caught.value)
        assert caught.value.hint is not None


def test_a_snapshot_prints_what_matters(regions: deltaic.Table, root: Path) -> None:
    lines = repr(regions.snapshot()).splitlines()
    assert lines[0] == f"<deltaic.Snapshot version 1 of {root.as_uri()}/"
    assert "UTC" in lines[1]
    assert lines[2].strip().startswith("3 files, ")
    assert lines[3] == "  partitioned by region>"
