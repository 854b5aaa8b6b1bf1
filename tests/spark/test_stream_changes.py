"""Streams of a change feed: every change exactly once, and all changes of a version in one batch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import deltaic
from deltaic.spark.stream.options import Limits
from tests.protocol.handmade_log import HandmadeTable, ids, metadata, protocol, remove
from tests.spark.change_tables import EIGHT_O_CLOCK, HOUR, make_prices, make_stock
from tests.spark.streams import opened, run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FEED = {"readChangeFeed": "true"}
CHANGES = [
    (1, "insert", "figs", 8),
    (1, "insert", "pears", 10),
    (1, "insert", "plums", 5),
    (2, "update_postimage", "plums", 7),
    (2, "update_preimage", "plums", 5),
    (3, "delete", "figs", 8),
]


@pytest.fixture
def stock(tmp_path: Path) -> Path:
    """Three rows, an update with recorded changes, and a delete without."""
    make_stock(tmp_path)
    return tmp_path / "stock"


def changes_in(spark: SparkSession, out: Path) -> list[tuple[object, ...]]:
    frame = spark.read.parquet(str(out))
    return sorted(map(tuple, frame.select("_commit_version", "_change_type", "item", "pieces").collect()))


@pytest.mark.parametrize("max_files", [None, 1, 2, 3])
def test_a_version_is_never_split(stock: Path, max_files: int | None) -> None:
    """protocol: add-cdc-file.1, reader-requirements-for-addcdcfile.1."""
    files = opened(stock, startingVersion="0", **FEED)
    place, found = files.beginning(), list[tuple[object, ...]]()
    while (end := files.end_of_batch(place, Limits(max_files))) != place:
        assert end.index == 0
        for file in files.between(place, end):
            for row in file.task.read().read_all().to_pylist():
                found.append((row["_commit_version"], row["_change_type"], row["item"], row["pieces"]))
        place = end
    assert sorted(found) == CHANGES
    assert place.version == 4


def test_a_feed_stream_from_a_version(spark: SparkSession, stock: Path, tmp_path: Path) -> None:
    """protocol: reader-requirements-for-addcdcfile.3."""
    checkpoint, out = tmp_path / "checkpoint", tmp_path / "out"
    options = {**FEED, "startingVersion": "1"}
    run(spark, stock, checkpoint, out, options)
    assert changes_in(spark, out) == CHANGES
    times = spark.read.parquet(str(out)).selectExpr("_commit_version", "unix_millis(_commit_timestamp) AS ms")
    assert {row["_commit_version"]: row["ms"] for row in times.collect()} == {
        version: EIGHT_O_CLOCK + version * HOUR for version in (1, 2, 3)
    }
    run(spark, stock, checkpoint, out, options)
    assert changes_in(spark, out) == CHANGES


def test_a_feed_stream_begins_with_the_table_as_inserts(
    spark: SparkSession, stock: Path, tmp_path: Path
) -> None:
    checkpoint, out = tmp_path / "checkpoint", tmp_path / "out"
    run(spark, stock, checkpoint, out, FEED)
    begun = [(3, "insert", "pears", 10), (3, "insert", "plums", 7)]
    assert changes_in(spark, out) == begun
    [time] = {
        row["ms"]
        for row in spark.read.parquet(str(out)).selectExpr("unix_millis(_commit_timestamp) AS ms").collect()
    }
    assert time == EIGHT_O_CLOCK + 3 * HOUR

    table = HandmadeTable.__new__(HandmadeTable)
    table.root, table.log, table.next_version = stock, stock / "_delta_log", 4
    table.commit(remove("b.parquet"))
    run(spark, stock, checkpoint, out, FEED)
    assert changes_in(spark, out) == [*begun, (4, "delete", "plums", 7)]


def test_a_table_without_a_feed_is_refused(tmp_path: Path) -> None:
    make_prices(tmp_path)
    files = opened(tmp_path / "prices", startingVersion="0", **FEED)
    with pytest.raises(deltaic.UnsupportedFeature, match="change data feed is not enabled at version 0"):
        files.end_of_batch(files.beginning(), Limits())


def test_a_feed_that_is_turned_off_ends_the_stream_there(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    kept = metadata(configuration={"delta.enableChangeDataFeed": "true"})
    table.commit(protocol(1, 4), kept, table.data("a.parquet", ids(1)))
    files = opened(table.root, startingVersion="0", **FEED)
    table.commit(metadata(), table.data("b.parquet", ids(2)))
    end = files.end_of_batch(files.beginning(), Limits())
    assert end.version == 1
    with pytest.raises(deltaic.UnsupportedFeature, match="version 1"):
        files.end_of_batch(end, Limits())
