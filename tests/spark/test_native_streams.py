"""Streams that Spark's own reader reads, in a session with `deltaic.spark.enable`."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import deltaic
import deltaic.spark as ds
from deltaic.alter import RenameColumn, SetProperties
from tests.golden.rows import difference

from .streams import run

pytest.importorskip("pyspark", reason="missing: PySpark")

from pyspark.errors import IllegalArgumentException

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = pa.schema({"id": pa.int64(), "day": pa.date32(), "text": pa.string()})


@pytest.fixture(scope="module")
def sql(spark: SparkSession) -> SparkSession:
    return ds.enable(spark.newSession())


@pytest.fixture
def days(tmp_path: Path) -> deltaic.Table:
    """A table of two partitions with deletion vectors: `id` from 0 to 39, ten rows in each version."""
    properties = {"delta.enableDeletionVectors": "true", "delta.columnMapping.mode": "name"}
    table = deltaic.Table.create(tmp_path / "days", SCHEMA, partition_by=["day"], properties=properties)
    for start in range(0, 40, 10):
        table.append(rows(start, 10))
    return table


def rows(start: int, many: int) -> pa.Table:
    ids = range(start, start + many)
    day = datetime.date(2026, 1, 1 + start // 10 % 2)
    return pa.table({"id": ids, "day": [day] * many, "text": [str(n) for n in ids]}, schema=SCHEMA)


def taken(stream: DataFrame, checkpoint: Path) -> tuple[list[Any], list[str], list[dict[str, Any]]]:
    """Runs a stream until it has read all: its rows, its plans, and what it reports."""
    found: list[Any] = []
    plans: list[str] = []

    def take(frame: DataFrame, _batch: int) -> None:
        found.extend(frame.collect())

    writer = stream.writeStream.foreachBatch(take).option("checkpointLocation", str(checkpoint))
    query = writer.trigger(availableNow=True).start()
    try:
        query.awaitTermination()
        plans.append(query._jsq.explainInternal(False))
        return found, plans, list(query.recentProgress)
    finally:
        query.stop()


def ids_of(found: list[Any]) -> list[int]:
    return sorted(row["id"] for row in found)


def test_sparks_own_reader_reads_a_stream(sql: SparkSession, days: deltaic.Table, tmp_path: Path) -> None:
    stream = sql.readStream.format("delta").option("maxFilesPerTrigger", 1).load(days.uri)
    found, [plan], progress = taken(stream.where("day = '2026-01-02'"), tmp_path / "c")
    assert ids_of(found) == [*range(10, 20), *range(30, 40)]
    assert "FileScan parquet" in plan
    assert "Python" not in plan
    assert [each["numInputRows"] for each in progress] == [0, 10, 0, 10]
    assert progress[0]["sources"][0]["description"] == f"deltaic[{days.uri}]"


def test_a_stream_goes_on_where_it_was(sql: SparkSession, days: deltaic.Table, tmp_path: Path) -> None:
    stream = sql.readStream.format("deltaic").option("skipChangeCommits", True).load(days.uri)
    assert ids_of(taken(stream, tmp_path / "c")[0]) == list(range(40))
    assert taken(stream, tmp_path / "c")[0] == []
    days.delete("id = 3")
    days.append(rows(40, 5))
    assert ids_of(taken(stream, tmp_path / "c")[0]) == list(range(40, 45))


@pytest.mark.parametrize("first", ["data source", "native"])
def test_a_checkpoint_is_one_for_both_ways(
    spark: SparkSession, sql: SparkSession, days: deltaic.Table, tmp_path: Path, first: str
) -> None:
    one, other = (sql, spark) if first == "native" else (spark, sql)
    root, checkpoint, out = tmp_path / "days", tmp_path / "checkpoint", tmp_path / "out"
    run(one, root, checkpoint, out, {"maxFilesPerTrigger": "3"})
    days.append(rows(40, 3))
    run(other, root, checkpoint, out, {"maxFilesPerTrigger": "3"})
    days.append(rows(50, 2))
    run(one, root, checkpoint, out, {"maxFilesPerTrigger": "3"})
    found = [row["id"] for row in spark.read.parquet(str(out)).collect()]
    assert sorted(found) == [*range(43), 50, 51]


def test_rows_deleted_before_and_a_column_renamed(
    sql: SparkSession, days: deltaic.Table, tmp_path: Path
) -> None:
    """protocol: reader-requirements-for-deletion-vectors.1, reader-requirements-for-column-mapping.2."""
    days.delete("id % 10 = 7")
    days.alter(RenameColumn("text", "name"))
    days.alter(RenameColumn("day", "on"))
    days.append(rows(40, 1).rename_columns(["id", "on", "name"]))
    stream = sql.readStream.format("delta").load(days.uri)
    found = taken(stream, tmp_path / "c")[0]
    assert (
        difference(
            pa.Table.from_pylist([row.asDict() for row in found]).sort_by("id"), days.to_arrow().sort_by("id")
        )
        is None
    )
    older = sql.readStream.format("delta").options(startingVersion=0, ignoreChanges=True).load(days.uri)
    again = taken(older, tmp_path / "again")[0]
    # A file whose rows were deleted by a vector comes again, without them.
    assert ids_of(again) == sorted([*range(41), *(n for n in range(40) if n % 10 != 7)])
    assert {(row["on"], row["name"]) for row in again if row["id"] == 12} == {
        (datetime.date(2026, 1, 2), "12")
    }


def test_a_stream_by_name(sql: SparkSession, days: deltaic.Table, tmp_path: Path) -> None:
    stream = sql.readStream.option("maxFilesPerTrigger", 2).table(f"delta.`{days.uri}`")
    found, [plan], progress = taken(stream.select("id"), tmp_path / "c")
    assert ids_of(found) == list(range(40))
    assert "FileScan parquet" in plan
    assert [each["numInputRows"] for each in progress] == [20, 20]


def test_an_aggregation_counts_the_rows_of_the_stream(
    sql: SparkSession, days: deltaic.Table, tmp_path: Path
) -> None:
    """The number of rows in the log is that of the table, not that of a batch."""
    stream = sql.readStream.format("delta").option("maxFilesPerTrigger", 1).load(days.uri)
    counted = stream.groupBy().count().writeStream.outputMode("update")
    counts: list[int] = []

    def take(frame: DataFrame, _batch: int) -> None:
        counts.extend(row["count"] for row in frame.collect())

    writer = counted.foreachBatch(take).option("checkpointLocation", str(tmp_path / "c"))
    query = writer.trigger(availableNow=True).start()
    try:
        query.awaitTermination()
    finally:
        query.stop()
    assert counts == [10, 20, 30, 40]


def test_what_only_the_data_source_reads(sql: SparkSession, tmp_path: Path) -> None:
    feed = deltaic.Table.create(
        tmp_path / "feed", pa.schema({"id": pa.int64()}), properties={"delta.enableChangeDataFeed": "true"}
    )
    feed.append(pa.table({"id": [1, 2]}))
    feed.delete("id = 1")
    stream = sql.readStream.format("delta").options(readChangeFeed=True, startingVersion=0).load(feed.uri)
    found, [plan], _ = taken(stream, tmp_path / "c")
    assert sorted((row["id"], row["_change_type"]) for row in found) == [
        (1, "delete"),
        (1, "insert"),
        (2, "insert"),
    ]
    assert "Python" in plan or "MicroBatchScan" in plan
    batch = sql.read.format("delta").options(readChangeFeed=True, startingVersion=0).load(feed.uri)
    assert batch.count() == 3


def test_a_table_that_only_the_data_source_reads(sql: SparkSession, tmp_path: Path) -> None:
    properties = {"delta.columnMapping.mode": "id"}
    table = deltaic.Table.create(tmp_path / "t", SCHEMA, properties=properties)
    table.append(rows(0, 3))
    stream = sql.readStream.format("delta").load(table.uri)
    found, [plan], _ = taken(stream, tmp_path / "c")
    assert ids_of(found) == [0, 1, 2]
    assert "FileScan parquet" not in plan
    frame = sql.read.format("delta").load(table.uri)
    assert frame.count() == 3
    assert "data source" in ds.explain(frame)


def test_errors_are_those_of_deltaic(sql: SparkSession, days: deltaic.Table, tmp_path: Path) -> None:
    with pytest.raises(deltaic.TableNotFound):
        sql.readStream.format("delta").load(str(tmp_path / "nothing"))
    with pytest.raises(ValueError, match="did you mean 'maxFilesPerTrigger'"):
        sql.readStream.format("delta").option("maxFilePerTrigger", 1).load(days.uri)
    stream = sql.readStream.format("delta").load(days.uri)
    taken(stream, tmp_path / "c")
    days.delete("id = 1")
    with pytest.raises(deltaic.UnsupportedFeature, match="rewrote rows"):
        taken(stream, tmp_path / "c")


def test_columns_that_changed_since_the_stream_was_loaded(sql: SparkSession, tmp_path: Path) -> None:
    point = pa.struct([("x", pa.int32())])
    table = deltaic.Table.create(tmp_path / "t", pa.schema({"id": pa.int64(), "at": point}))
    table.append(pa.table({"id": [1], "at": [{"x": 5}]}, schema=pa.schema({"id": pa.int64(), "at": point})))
    stream = sql.readStream.format("delta").load(table.uri)
    table.append(pa.table({"id": [2], "at": [{"x": 6, "z": 7}], "new": [1]}), schema_mode="merge")
    with pytest.raises(
        deltaic.SchemaMismatch, match=r"at is struct<x:int,z:bigint> now[\s\S]*load the stream"
    ):
        taken(stream, tmp_path / "again")


def test_the_last_batch_is_not_needed_again(sql: SparkSession, days: deltaic.Table, tmp_path: Path) -> None:
    """At a restart Spark asks for the batch that ended last; a compaction and a vacuum removed its files."""
    stream = sql.readStream.format("delta").load(days.uri)
    taken(stream, tmp_path / "c")
    days.append(rows(40, 5))
    taken(stream, tmp_path / "c")
    before = set(days.snapshot().files().to_arrow().column("path").to_pylist())
    days.optimize()
    for path in before - set(days.snapshot().files().to_arrow().column("path").to_pylist()):
        (tmp_path / "days" / path).unlink()
    days.append(rows(50, 2))
    assert ids_of(taken(stream, tmp_path / "c")[0]) == [50, 51]


def test_a_batch_that_failed_needs_its_files(sql: SparkSession, days: deltaic.Table, tmp_path: Path) -> None:
    def fail(_frame: DataFrame, _batch: int) -> None:
        raise RuntimeError("no room")

    stream = sql.readStream.format("delta").load(days.uri)
    writer = stream.writeStream.foreachBatch(fail).option("checkpointLocation", str(tmp_path / "c"))
    query = writer.trigger(availableNow=True).start()
    with pytest.raises(Exception, match="no room"):
        query.awaitTermination()
    for file in (tmp_path / "days").glob("**/*.parquet"):
        file.unlink()
    with pytest.raises(Exception, match=r"CorruptData: data file [\s\S]* is missing"):
        taken(stream, tmp_path / "c")


def test_a_query_that_is_stopped_has_no_error(sql: SparkSession, days: deltaic.Table, tmp_path: Path) -> None:
    stream = sql.readStream.format("delta").load(days.uri)
    for number in range(5):
        writer = stream.writeStream.format("noop").option("checkpointLocation", str(tmp_path / str(number)))
        query = writer.trigger(processingTime="0 seconds").start()
        query.processAllAvailable()
        query.stop()
        assert query.exception() is None


def test_a_change_feed_has_no_name(sql: SparkSession, days: deltaic.Table) -> None:
    days.alter(SetProperties({"delta.enableChangeDataFeed": "true"}))
    reader = sql.readStream.options(readChangeFeed=True, startingVersion=days.version)
    with pytest.raises(IllegalArgumentException, match=r'read the path by format\("delta"\)'):
        reader.table(f"delta.`{days.uri}`")


def test_a_stream_that_ended_leaves_nothing(sql: SparkSession, days: deltaic.Table, tmp_path: Path) -> None:
    from deltaic.spark.sql.enable import _streams

    stream = sql.readStream.format("delta").load(days.uri)
    taken(stream, tmp_path / "c")
    assert not _streams._open


def test_another_session_keeps_the_data_source(
    spark: SparkSession, sql: SparkSession, days: deltaic.Table
) -> None:
    """Spark's sessions share their rules, and the first query of this one may come after `enable`."""
    assert "sql           yes" in ds.status(sql)
    other = spark.newSession()
    ds.register(other)
    assert "data source: its format was asked for" in ds.explain(other.read.format("deltaic").load(days.uri))
