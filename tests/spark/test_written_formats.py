"""`DataFrame.write` and `writeStream` with the formats "delta" and "deltaic" in an enabled session."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import date, datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

pytest.importorskip("pyspark", reason="missing: PySpark")

import deltaic
import deltaic.spark as ds
from deltaic.exceptions import ConstraintViolation, SchemaMismatch, TableExists, UnsupportedFeature
from deltaic.spark.frame_write.source_options import CLUSTERING, MODE, PARTITIONING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery


@pytest.fixture(scope="module")
def sql(spark: SparkSession) -> SparkSession:
    return ds.enable(spark.newSession())


def ids_of(path: Path) -> list[int]:
    return sorted(deltaic.Table(path).to_arrow()["id"].to_pylist())


@pytest.mark.parametrize("name", ["delta", "deltaic"])
def test_all_modes(sql: SparkSession, tmp_path: Path, name: str) -> None:
    path = tmp_path / "t"
    frame = sql.range(4).selectExpr("id", "id % 2 AS p")
    frame.write.format(name).partitionBy("p").save(str(path))
    assert deltaic.Table(path).snapshot().partition_columns == ["p"]
    with pytest.raises(TableExists, match="there is a table at"):
        frame.write.format(name).save(str(path))
    frame.write.format(name).mode("ignore").save(str(path))
    frame.write.format(name).mode("append").save(str(path))
    assert ids_of(path) == [0, 0, 1, 1, 2, 2, 3, 3]
    frame.where("p = 0").write.format(name).mode("overwrite").option("replaceWhere", "p = 0").save(str(path))
    assert ids_of(path) == [0, 1, 1, 2, 3, 3]
    frame.write.format(name).mode("overwrite").save(str(path))
    assert ids_of(path) == [0, 1, 2, 3]
    assert sql.read.format(name).load(str(path)).count() == 4


def test_options_and_errors_are_those_of_a_write(sql: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    writer = sql.range(2).write.format("delta").mode("append")
    writer.option("delta.appendOnly", "true").option("userMetadata", "first").save(path)
    table = deltaic.Table(path)
    assert table.snapshot().metadata.properties["delta.appendOnly"] == "true"
    assert table.history()[0].info["userMetadata"] == "first"
    with pytest.raises(SchemaMismatch, match=r'option\("mergeSchema", "true"\)'):
        sql.range(2).selectExpr("id", "1 AS x").write.format("delta").mode("append").save(path)
    with pytest.raises(ValueError, match="did you mean 'mergeSchema'"):
        sql.range(2).write.format("delta").mode("append").save(path, mergeShema="true")


def test_spark_evaluates_the_expressions(sql: SparkSession, tmp_path: Path) -> None:
    columns = [
        deltaic.Column("at", "timestamp"),
        deltaic.Column("day", "date", generated="CAST(at AS DATE)"),
        deltaic.Column("id", "bigint", identity=deltaic.Identity()),
    ]
    table = deltaic.Table.create(tmp_path / "t", columns)
    table.alter(deltaic.alter.AddConstraint("late", "day > '2026-11-01'"))
    moment = datetime(2026, 11, 1, 16, tzinfo=timezone.utc)
    frame = sql.createDataFrame([(moment,)], "at timestamp").coalesce(1)
    writer = frame.write.format("delta").mode("append")
    with pytest.raises(ConstraintViolation, match="late") as raised:
        writer.save(table.uri)
    assert raised.value.context["row"] == "day = 2026-11-01"
    sql.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        writer.save(table.uri)
    finally:
        sql.conf.set("spark.sql.session.timeZone", "UTC")
    assert table.to_arrow().to_pylist() == [{"at": moment, "day": date(2026, 11, 2), "id": 1}]


def test_a_session_that_is_not_enabled(spark: SparkSession, sql: SparkSession, tmp_path: Path) -> None:
    """The formats are those of the JVM; the data source, which reads, is that of a session."""
    sql.range(2).write.format("delta").save(str(tmp_path / "t"))
    other = spark.newSession()
    ds.register(other)
    assert other.read.format("delta").load(str(tmp_path / "t")).count() == 2
    other.range(2, 4).write.format("deltaic").mode("append").save(str(tmp_path / "t"))
    with pytest.raises(TableExists):
        other.range(2).write.format("deltaic").save(str(tmp_path / "t"))
    assert ids_of(tmp_path / "t") == [0, 1, 2, 3]


def test_what_a_session_of_connect_gives(sql: SparkSession, tmp_path: Path) -> None:
    """In a JVM with an enabled session, the class writes what the data source would write for others."""
    given = {MODE: "ignore", PARTITIONING: '["p"]', CLUSTERING: "[]", "timezone": "UTC"}
    frame = sql.range(4).selectExpr("id", "id % 2 AS p")
    for _ in range(2):
        frame.write.format("deltaic").mode("append").options(**given).save(str(tmp_path / "t"))
    assert ids_of(tmp_path / "t") == [0, 1, 2, 3]
    assert deltaic.Table(tmp_path / "t").snapshot().partition_columns == ["p"]


@pytest.fixture
def source(tmp_path: Path) -> deltaic.Table:
    """A table of three versions of two rows each."""
    table = deltaic.Table.create(tmp_path / "source", pa.schema({"id": pa.int64(), "p": pa.int64()}))
    for start in range(0, 6, 2):
        table.append(pa.table({"id": [start, start + 1], "p": [0, 1]}))
    return table


def started(
    stream: DataFrame, target: Path, checkpoint: Path, mode: str = "append", **options: str
) -> StreamingQuery:
    writer = stream.writeStream.format("delta").outputMode(mode).options(**options)
    writer = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True)
    return writer.partitionBy(*(["p"] if "p" in stream.columns else [])).start(str(target))


def test_a_stream_is_written_once(sql: SparkSession, source: deltaic.Table, tmp_path: Path) -> None:
    """Also if Spark does not know that a batch has ended, and after a restart."""
    target, checkpoint = tmp_path / "target", tmp_path / "checkpoint"
    stream = sql.readStream.format("delta").option("maxFilesPerTrigger", 1).load(source.uri)
    query = started(stream, target, checkpoint)
    query.awaitTermination()
    assert ids_of(target) == [0, 1, 2, 3, 4, 5]
    table = deltaic.Table(target)
    assert table.snapshot().partition_columns == ["p"]
    assert table.snapshot().app_transactions == {query.id: 2}
    assert [commit.operation for commit in table.history()] == ["WRITE", "WRITE", "CREATE TABLE AS SELECT"]
    for commit in ("2", ".2.crc"):
        (checkpoint / "commits" / commit).unlink()
    source.append(pa.table({"id": [6], "p": [0]}))
    again = started(stream, target, checkpoint)
    again.awaitTermination()
    assert ids_of(target) == [0, 1, 2, 3, 4, 5, 6]
    assert table.snapshot().app_transactions == {query.id: 3}


def test_a_complete_result_replaces_all_rows(
    sql: SparkSession, source: deltaic.Table, tmp_path: Path
) -> None:
    target, checkpoint = tmp_path / "target", tmp_path / "checkpoint"
    stream = sql.readStream.format("delta").option("maxFilesPerTrigger", 1).load(source.uri)
    counts = stream.groupBy("p").count().withColumnRenamed("count", "n")
    started(counts, target, checkpoint, "complete").awaitTermination()
    rows = deltaic.Table(target).to_arrow().to_pylist()
    assert sorted((row["p"], row["n"]) for row in rows) == [(0, 3), (1, 3)]


def test_new_columns_of_a_stream_need_the_option(
    sql: SparkSession, source: deltaic.Table, tmp_path: Path
) -> None:
    target = tmp_path / "target"
    deltaic.Table.create(target, pa.schema({"id": pa.int64()}))
    stream = sql.readStream.format("delta").load(source.uri).selectExpr("id", "p AS new")
    query = started(stream, target, tmp_path / "checkpoint")
    with pytest.raises(SchemaMismatch, match="the table has no column"):
        query.awaitTermination()
    started(stream, target, tmp_path / "checkpoint", mergeSchema="true").awaitTermination()
    assert ids_of(target) == [0, 1, 2, 3, 4, 5]


def test_streams_that_cannot_be_written(sql: SparkSession, source: deltaic.Table, tmp_path: Path) -> None:
    stream = sql.readStream.format("delta").load(source.uri)
    target, checkpoint = tmp_path / "target", tmp_path / "checkpoint"
    with pytest.raises(UnsupportedFeature, match="foreachBatch"):
        started(stream, target, checkpoint, "update")
    with pytest.raises(ValueError, match="'txnAppId' does not apply to a stream"):
        started(stream, target, checkpoint, txnAppId="job")
    with pytest.raises(ValueError, match="did you mean 'mergeSchema'"):
        started(stream, target, checkpoint, mergeShema="true")
    assert not target.exists()


def test_a_stopped_query_has_written_its_batch_or_never_does(
    sql: SparkSession, source: deltaic.Table, tmp_path: Path
) -> None:
    """The query is stopped while a task computes rows; after a restart each row is there once."""
    begun, may_end = tmp_path / "begun", tmp_path / "may end"
    target, checkpoint = tmp_path / "target", tmp_path / "checkpoint"

    def waiting(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            begun.touch()
            while not may_end.exists():
                time.sleep(0.05)
            yield batch

    stream = sql.readStream.format("delta").load(source.uri).mapInPandas(waiting, "id bigint, p bigint")
    query = started(stream, target, checkpoint)
    while not begun.exists():
        assert query.isActive, query.exception()
        time.sleep(0.05)
    query.stop()
    assert not deltaic.Table.exists(target)
    may_end.touch()
    started(stream, target, checkpoint).awaitTermination()
    assert ids_of(target) == [0, 1, 2, 3, 4, 5]
