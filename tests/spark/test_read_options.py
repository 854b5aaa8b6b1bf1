"""The options of a read: their meaning, conflicting and unknown options. Without Spark."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from datetime import datetime, timezone
from functools import partial
from pathlib import Path

import pytest

import deltaic
from deltaic.spark.instants import instant, path_time
from deltaic.spark.read_options import ChangeRange, ReadOptions
from tests.protocol.handmade_log import HandmadeTable, ids

NOON = datetime(2026, 11, 1, 12, tzinfo=timezone.utc)
FEED = {"readChangeFeed": "true", "startingVersion": "1"}


def parse(options: Mapping[str, object], *, zone: str | None = None, streaming: bool = False) -> ReadOptions:
    return ReadOptions.parse(
        {"path": "/data/t", **options},
        lambda name, value: instant(name, value, zone),
        path_instant=partial(path_time, time_zone=zone),
        streaming=streaming,
    )


def test_a_path_alone() -> None:
    assert parse({}) == ReadOptions("/data/t")
    assert parse({"versionAsOf": None}) == ReadOptions("/data/t")


@pytest.mark.parametrize("name", ["versionAsOf", "versionasof", "VERSIONASOF"])
@pytest.mark.parametrize("value", [12, "12", "012"])
def test_a_version(name: str, value: object) -> None:
    assert parse({name: value}).version == 12


@pytest.mark.parametrize("value", ["-1", "1.0", " 1", "x", "", True, 1.0, "²", -1])
@pytest.mark.parametrize("name", ["versionAsOf", "startingVersion", "endingVersion"])
def test_a_version_that_is_none(name: str, value: object) -> None:
    options = {name: value} if name == "versionAsOf" else {**FEED, name: value}
    with pytest.raises(ValueError, match=rf"{name} must be a version"):
        parse(options)


@pytest.mark.parametrize(
    ("text", "zone"),
    [
        ("2026-11-01T12:00:00Z", None),
        ("2026-11-01 12:00:00Z", "Asia/Tokyo"),
        ("2026-11-01 13:00:00+01:00", "Asia/Tokyo"),
        ("2026-11-01 04:30:00.000000-0730", None),
        ("2026-11-01 12:00:00 UTC", None),
        ("2026-11-01 21:00:00 Asia/Tokyo", None),
        ("2026-11-01 14:00 GMT+2", None),
        ("2026-11-1 21:0:0", "Asia/Tokyo"),
        ("2026-11-01 05:00", "America/Denver"),
        ("2026-11-01 12:00:00", "+00:00"),
    ],
)
def test_a_time(text: str, zone: str | None) -> None:
    assert parse({"timestampAsOf": text}, zone=zone).timestamp == NOON


def test_a_day_begins_at_its_midnight() -> None:
    found = parse({"timestampAsOf": "2026-11-01"}, zone="Asia/Tokyo").timestamp
    assert found == datetime(2026, 10, 31, 15, tzinfo=timezone.utc)


def test_times_that_are_twice_or_never_are_javas() -> None:
    """In an overlap the earlier time; in a gap the offset before it applies."""
    twice = parse({"timestampAsOf": "2026-11-01 01:30:00"}, zone="America/New_York").timestamp
    assert twice == datetime(2026, 11, 1, 5, 30, tzinfo=timezone.utc)
    never = parse({"timestampAsOf": "2026-03-08 02:30:00"}, zone="America/New_York").timestamp
    assert never == datetime(2026, 3, 8, 7, 30, tzinfo=timezone.utc)


@pytest.mark.parametrize("text", ["2026-11-01", "2026-11-01 12:00:00", "2026-11-01T12:00"])
def test_a_time_without_zone_is_not_a_guess(text: str) -> None:
    with pytest.raises(ValueError, match=r"timestampAsOf has no time zone.*option\('timeZone'"):
        parse({"timestampAsOf": text})


@pytest.mark.parametrize(
    "text",
    [
        "yesterday",
        "",
        "2026-13-01Z",
        "2026-02-30 00:00:00Z",
        "2026-11-01 25:00:00Z",
        "1793491200",
        "20261101",
    ],
)
def test_a_time_that_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="timestampAsOf is not a time"):
        parse({"timestampAsOf": text}, zone="UTC")


def test_a_zone_that_is_none() -> None:
    with pytest.raises(ValueError, match="no time zone that is known: 'Mars/Olympus'"):
        parse({"timestampAsOf": "2026-11-01 12:00:00 Mars/Olympus"})


def test_a_change_feed() -> None:
    assert parse(FEED).changes == ChangeRange(1, None)
    assert parse({"readChangeData": True, "startingVersion": 1}).changes == ChangeRange(1, None)
    times = {"startingTimestamp": "2026-11-01T12:00:00Z", "endingVersion": "3"}
    assert parse({"readChangeFeed": "TRUE", **times}).changes == ChangeRange(NOON, 3)
    assert parse({"readChangeFeed": "false"}).changes is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"versionAsOf": 1, "timestampAsOf": "2026-11-01T00:00:00Z"},
            "versionAsOf and timestampAsOf exclude",
        ),
        ({"startingVersion": 1}, "startingVersion applies to a change feed"),
        ({"endingTimestamp": "2026-11-01T00:00:00Z"}, "endingTimestamp applies to a change feed"),
        ({"readChangeFeed": "false", "startingVersion": 1}, "startingVersion applies to a change feed"),
        ({"readChangeFeed": True}, "readChangeFeed needs a start"),
        ({**FEED, "startingTimestamp": "2026-11-01T00:00:00Z"}, "startingVersion and startingTimestamp"),
        ({**FEED, "endingVersion": 1, "endingTimestamp": "2026-11-01T00:00:00Z"}, "endingVersion and ending"),
        ({**FEED, "readChangeData": "false"}, "are the same option"),
        ({**FEED, "startingVersion": "latest"}, "for the start of a stream"),
        ({**FEED, "versionAsOf": 1}, "a change feed has no single version"),
        ({**FEED, "path": "/data/t@v1"}, "a change feed has no single version"),
        ({**FEED, "rowIds": True}, "readChangeFeed and rowIds"),
        ({**FEED, "fileModificationTime": True}, "readChangeFeed and fileModificationTime"),
        ({**FEED, "predicate": "id > 1"}, "readChangeFeed and predicate"),
        ({"readChangeFeed": "yes"}, "readChangeFeed must be true or false"),
        ({"rowIds": "1"}, "rowIds must be true or false"),
        ({"path": None}, "no path was given"),
        ({"path": ""}, "no path was given"),
        ({"paths": '["a","b"]'}, "only one path can be loaded"),
        ({"path": "/data/t@v1", "versionAsOf": 1}, "so does versionAsOf"),
        ({"path": "/data/t@v1", "timestampAsOf": "2026-11-01T00:00:00Z"}, "so does timestampAsOf"),
        ({"maxFilesPerTrigger": 1}, "'maxFilesPerTrigger' is for a stream"),
    ],
)
def test_contradictions(options: Mapping[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse(options)


def test_options_of_streams_only() -> None:
    assert parse({"maxFilesPerTrigger": 1, "startingVersion": 3}, streaming=True) == ReadOptions("/data/t")
    feed = parse({"readChangeFeed": True, "startingVersion": "latest"}, streaming=True)
    assert feed.changes == ChangeRange("latest", None)
    with pytest.raises(ValueError, match="endingVersion applies to a change feed"):
        parse({"endingVersion": 3}, streaming=True)


@pytest.mark.parametrize(
    ("name", "meant"),
    [("versonAsOf", "versionAsOf"), ("rowid", "rowIds"), ("readchangefed", "readChangeFeed")],
)
@pytest.mark.parametrize("path", ["/data/t", "s3://bucket/t"])
def test_an_unknown_option_names_the_nearest(path: str, name: str, meant: str) -> None:
    with pytest.raises(ValueError, match=f"unknown option '{name}': did you mean '{meant}'"):
        parse({"path": path, name: "1"})


def test_an_unknown_option_like_none() -> None:
    with pytest.raises(
        ValueError, match=r"'mergeSchema'.*versionAsOf, timestampAsOf.*unknown storage option"
    ):
        parse({"mergeSchema": "true"})
    with pytest.raises(ValueError, match='did you mean "aws_region"'):
        parse({"path": "s3://bucket/t", "aws_regin": "x"})


@pytest.mark.parametrize(
    "store",
    [
        {"aws_access_key_id": "planted-key-id", "aws_secret_access_key": "planted-secret-key"},
        {"fs.s3a.access.key": "planted-key-id", "fs.s3a.secret.key": "planted-secret-key"},
    ],
)
def test_the_stores_options_go_to_the_store(store: Mapping[str, str]) -> None:
    found = parse({"path": "s3://bucket/t", **store})
    assert found.storage_options == store
    assert found.table().uri == "s3://bucket/t/"
    assert "planted" not in repr(found)
    assert pickle.loads(pickle.dumps(found)) == found


def test_a_path_with_a_version_or_a_time(tmp_path: Path) -> None:
    made = HandmadeTable(tmp_path / "t")
    made.create()
    found = parse({"path": f"{made.root}@v12"})
    assert (found.path, found.version) == (str(made.root), 12)
    found = parse({"path": f"{made.root}@20261101120000000"}, zone="UTC")
    assert (found.path, found.timestamp) == (str(made.root), NOON)
    with pytest.raises(ValueError, match="the path's time has no time zone"):
        parse({"path": f"{made.root}@20261101120000000"})
    with pytest.raises(ValueError, match="the path's time is not a time"):
        parse({"path": f"{made.root}@20261301120000000"}, zone="UTC")


def test_a_table_whose_name_resembles_one_with_a_version(tmp_path: Path) -> None:
    made = HandmadeTable(tmp_path / "t@v12")
    made.create()
    assert parse({"path": str(made.root)}) == ReadOptions(str(made.root))
    assert parse({"path": f"{made.root}@v0"}).snapshot().version == 0


def test_a_pinned_read_stays_where_it_is(tmp_path: Path) -> None:
    made = HandmadeTable(tmp_path / "t")
    made.create()
    options = parse({"path": str(made.root)})
    pinned = options.pinned(options.snapshot())
    made.commit(made.data("1.parquet", ids(1)))
    assert (pinned.snapshot().version, options.snapshot().version) == (0, 1)
    feed = parse({"path": str(made.root), **FEED})
    assert feed.pinned(feed.snapshot()).changes == ChangeRange(1, 1)
    with pytest.raises(deltaic.VersionNotFound):
        parse({"path": str(made.root), **FEED, "endingVersion": 9}).snapshot()
