"""Streaming queries over a table: every row exactly once, however they are stopped and restarted."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import deltaic
import deltaic.spark as ds
from deltaic.exceptions import CorruptData
from tests.protocol.handmade_log import HandmadeTable, field, ids, metadata, remove, schema
from tests.protocol.handmade_vectors import FEATURE, without
from tests.spark.restored import restored
from tests.spark.streams import run, stream_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.usefixtures("small_queries")


@pytest.fixture(scope="module", params=["data source", "native"])
def spark(session: SparkSession, request: pytest.FixtureRequest) -> Iterator[SparkSession]:
    """A session whose streams the data source reads, and one in which Spark's own reader does."""
    with restored(session):
        if request.param == "native":
            # A session of its own: the settings that `small_queries` makes are not those of others.
            session = ds.enable(session.newSession())
        yield session


def is_native(spark: SparkSession) -> bool:
    return "sql           yes" in ds.status(spark)


def has_one_batch_per_start(spark: SparkSession) -> bool:
    """Whether this Spark asks the data source once per trigger, so that there is one batch per start."""
    return tuple(int(part) for part in spark.version.split(".")[:2]) < (4, 2) and not is_native(spark)


def ids_in(spark: SparkSession, out: Path) -> list[int]:
    return sorted(row["id"] for row in spark.read.parquet(str(out)).collect())


@pytest.fixture
def events(tmp_path: Path) -> HandmadeTable:
    """Three files in two commits."""
    table = HandmadeTable(tmp_path / "events")
    table.create(table.data("a.parquet", ids(1, 2)), table.data("b.parquet", ids(3)))
    table.commit(table.data("c.parquet", ids(4, 5)))
    return table


def test_a_stream_reads_the_table_and_then_what_comes(
    spark: SparkSession, events: HandmadeTable, tmp_path: Path
) -> None:
    checkpoint, out = tmp_path / "checkpoint", tmp_path / "out"
    run(spark, events.root, checkpoint, out)
    assert ids_in(spark, out) == [1, 2, 3, 4, 5]
    events.commit(events.data("d.parquet", ids(6)))
    events.commit(events.data("e.parquet", ids(7)), events.data("f.parquet", ids(8)))
    run(spark, events.root, checkpoint, out)
    assert ids_in(spark, out) == [1, 2, 3, 4, 5, 6, 7, 8]
    run(spark, events.root, checkpoint, out)
    assert ids_in(spark, out) == [1, 2, 3, 4, 5, 6, 7, 8]


def test_a_limit_bounds_each_batch(spark: SparkSession, events: HandmadeTable, tmp_path: Path) -> None:
    checkpoint, out = tmp_path / "checkpoint", tmp_path / "out"
    options = {"maxFilesPerTrigger": "1"}
    batches = run(spark, events.root, checkpoint, out, options)
    if has_one_batch_per_start(spark):
        assert batches == 1
        for _ in range(2):
            assert run(spark, events.root, checkpoint, out, options) == 1
    else:
        assert batches == 3
    assert ids_in(spark, out) == [1, 2, 3, 4, 5]
    events.commit(events.data("d.parquet", ids(6)))
    assert run(spark, events.root, checkpoint, out, options) == 1
    assert ids_in(spark, out) == [1, 2, 3, 4, 5, 6]


def test_a_query_that_runs_on_reads_what_comes_in_bounded_batches(
    spark: SparkSession, events: HandmadeTable, tmp_path: Path
) -> None:
    """A continuous query, as most streams are; in every Spark version a batch respects the limit."""
    stream = stream_of(spark, events.root, {"maxFilesPerTrigger": "1"})
    rows: dict[int, list[int]] = {}

    def take(frame: DataFrame, batch: int) -> None:
        rows[batch] = [row["id"] for row in frame.collect()]

    checkpoint = str(tmp_path / "checkpoint")
    query = stream.writeStream.foreachBatch(take).option("checkpointLocation", checkpoint).start()
    try:
        query.processAllAvailable()
        events.commit(events.data("d.parquet", ids(6)), events.data("e.parquet", ids(7)))
        query.processAllAvailable()
    finally:
        query.stop()
    assert [sorted(found) for _, found in sorted(rows.items()) if found] == [[1, 2], [3], [4, 5], [6], [7]]


def test_a_batch_that_failed_is_read_again(
    spark: SparkSession, events: HandmadeTable, tmp_path: Path
) -> None:
    """A query that failed in its first batch reads the same rows again, even if there is a newer version."""
    checkpoint, taken = str(tmp_path / "checkpoint"), list[list[int]]()

    def fail(_frame: object, batch: int) -> None:
        raise RuntimeError(f"no room for batch {batch}")

    def take(frame: DataFrame, _batch: int) -> None:
        taken.append(sorted(row["id"] for row in frame.collect()))

    def run_into(function: Callable[[DataFrame, int], None]) -> None:
        stream = stream_of(spark, events.root, {"skipChangeCommits": "true"})
        writer = stream.writeStream.foreachBatch(function).option("checkpointLocation", checkpoint)
        query = writer.trigger(availableNow=True).start()
        try:
            query.awaitTermination()
        finally:
            query.stop()

    with pytest.raises(Exception, match="no room for batch 0"):
        run_into(fail)
    events.commit(remove("a.parquet"))
    events.commit(events.data("d.parquet", ids(6)))
    run_into(take)
    run_into(take)
    assert [batch for batch in taken if batch] == [[1, 2, 3, 4, 5], [6]]


def test_partition_values_and_deletion_vectors(spark: SparkSession, tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    first = table.data("r=1/a.parquet", ids(1, 2, 3), values={"r": "EU"})["add"]
    table.commit(
        FEATURE,
        metadata(schema(field("r", "string"), field("id"), field("late", "string")), ["r"]),
        {"add": {**first, **without(1)}},
        table.data("r=2/b.parquet", ids(4), values={"r": None}),
    )
    run(spark, table.root, tmp_path / "checkpoint", tmp_path / "out")
    found = spark.read.parquet(str(tmp_path / "out")).select("r", "id", "late").collect()
    assert sorted(map(tuple, found), key=lambda row: row[1]) == [
        ("EU", 1, None),
        ("EU", 3, None),
        (None, 4, None),
    ]


def test_rows_of_every_type_come_as_they_are(spark: SparkSession, tmp_path: Path) -> None:
    rows = pa.table(
        {
            "id": pa.array([1, 2], pa.int64()),
            "byte": pa.array([1, None], pa.int8()),
            "name": ["ü", None],
            "raw": pa.array([b"\x00", None], pa.binary()),
            "price": pa.array([1, None], pa.decimal128(20, 3)),
            "day": pa.array([19_000, None], pa.date32()),
            "at": pa.array([1_700_000_000_000_000, None], pa.timestamp("us", "UTC")),
            "local": pa.array([1_700_000_000_000_000, None], pa.timestamp("us")),
            "list": pa.array([[1, None], None], pa.list_(pa.int32())),
            "map": pa.array([[("k", 1.5)], None], pa.map_(pa.string(), pa.float64())),
            "struct": pa.array(
                [{"a": 1, "b": None}, None], pa.struct([("a", pa.int16()), ("b", pa.string())])
            ),
        }
    )
    deltaic.Table.create(tmp_path / "t", rows.schema).append(rows)
    run(spark, tmp_path / "t", tmp_path / "checkpoint", tmp_path / "out")
    frame = spark.read.parquet(str(tmp_path / "out")).orderBy("id")
    expected = ds.read(spark).load(tmp_path / "t").orderBy("id")
    assert frame.schema.simpleString() == expected.schema.simpleString()
    assert frame.collect() == expected.collect()


def test_a_column_that_comes_stops_the_query_and_a_new_start_continues(
    spark: SparkSession, events: HandmadeTable, tmp_path: Path
) -> None:
    def take(frame: DataFrame, _batch: int) -> None:
        taken.extend(map(tuple, frame.collect()))

    checkpoint, taken = str(tmp_path / "checkpoint"), list[tuple[object, ...]]()
    writer = stream_of(spark, events.root).writeStream.foreachBatch(take)
    query = writer.option("checkpointLocation", checkpoint).start()
    try:
        query.processAllAvailable()
        events.commit(metadata(schema(field("id"), field("note", "string"))))
        noted = pa.table({"id": pa.array([6], pa.int64()), "note": ["new"]})
        events.commit(events.data("d.parquet", noted))
        with pytest.raises(Exception, match=r"note was added[\s\S]*same checkpoint"):
            query.processAllAvailable()
    finally:
        query.stop()
    assert sorted(taken) == [(1,), (2,), (3,), (4,), (5,)]

    writer = stream_of(spark, events.root).writeStream.foreachBatch(take)
    query = writer.option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
    try:
        query.awaitTermination()
    finally:
        query.stop()
    assert taken[5:] == [(6, "new")]


def test_a_checkpoint_of_another_table(spark: SparkSession, events: HandmadeTable, tmp_path: Path) -> None:
    checkpoint, out = tmp_path / "checkpoint", tmp_path / "out"
    run(spark, events.root, checkpoint, out)
    events.commit(metadata(id="another"), events.data("d.parquet", ids(6)))
    with pytest.raises(Exception, match="the table was replaced since"):
        run(spark, events.root, checkpoint, out)
    assert ids_in(spark, out) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"maxFilePerTrigger": "1"}, "did you mean 'maxFilesPerTrigger'"),
        ({"maxFilesPerTrigger": "0"}, "maxFilesPerTrigger must be at least 1"),
        ({"startingVersion": "7"}, "startingVersion is 7"),
    ],
)
def test_contradictions_are_reported_in_the_first_line(
    spark: SparkSession, events: HandmadeTable, tmp_path: Path, options: dict[str, str], why: str
) -> None:
    with pytest.raises(Exception, match=re.escape(why)) as caught:
        run(spark, events.root, tmp_path / "checkpoint", tmp_path / "out", options)
    assert why in str(caught.value).splitlines()[0]


def test_a_start_without_a_zone(spark: SparkSession, events: HandmadeTable, tmp_path: Path) -> None:
    """The data source does not know the session's zone."""
    options = {"startingTimestamp": "2000-01-01"}
    if is_native(spark):
        run(spark, events.root, tmp_path / "checkpoint", tmp_path / "out", options)
        assert ids_in(spark, tmp_path / "out") == [1, 2, 3, 4, 5]
        return
    with pytest.raises(Exception, match="startingTimestamp has no time zone"):
        run(spark, events.root, tmp_path / "checkpoint", tmp_path / "out", options)


def test_a_data_file_that_is_gone(spark: SparkSession, events: HandmadeTable, tmp_path: Path) -> None:
    (events.root / "c.parquet").unlink()
    # Spark has no types of errors for its Python processes, only texts.
    kind = CorruptData if is_native(spark) else Exception
    with pytest.raises(kind, match=r"c\.parquet") as caught:
        run(spark, events.root, tmp_path / "checkpoint", tmp_path / "out")
    assert is_native(spark) or "CorruptData" in str(caught.value)


def test_some_columns_in_another_order(spark: SparkSession, tmp_path: Path) -> None:
    rows = pa.table({"a": [1], "b.c": ["x"], "d": [2.5]})
    table = HandmadeTable(tmp_path / "t")
    table.create(
        table.data("a.parquet", rows),
        schema_string=schema(field("a"), field("b.c", "string"), field("d", "double")),
    )
    stream_of(spark, table.root)
    reader = spark.readStream.format("deltaic").schema("d DOUBLE, `b.c` STRING")
    query = (
        reader.load(str(table.root)).writeStream.format("memory").queryName("some_columns")
        .option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True).start()
    )  # fmt: skip
    try:
        query.awaitTermination()
        assert [tuple(row) for row in spark.table("some_columns").collect()] == [(2.5, "x")]
    finally:
        query.stop()
        spark.catalog.dropTempView("some_columns")
