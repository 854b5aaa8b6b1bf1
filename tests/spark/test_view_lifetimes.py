"""Lifetimes of DataFrames, views and caches of a table; no load leaves a temporary file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import deltaic
import deltaic.spark as ds

from .ways import WAYS, Load, loader

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("small_queries")


@pytest.fixture(params=WAYS)
def load(request: pytest.FixtureRequest, spark: SparkSession) -> Load:
    return loader(spark, request.param)


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def table(tmp_path: Path) -> deltaic.Table:
    """Ten rows in two partitions."""
    rows = pa.table({"id": pa.array(range(10), pa.int64()), "p": ["a", "b"] * 5})
    made = deltaic.Table.create(tmp_path / "table", rows.schema, partition_by=["p"])
    made.append(rows)
    return made


def one_more(table: deltaic.Table) -> None:
    table.append(pa.table({"id": pa.array([10], pa.int64()), "p": ["a"]}))


def place(table: deltaic.Table) -> str:
    return deltaic.Table(table.uri).uri.removeprefix("file://")


def test_a_view_is_the_snapshot_of_its_load(spark: SparkSession, load: Load, table: deltaic.Table) -> None:
    load(place(table)).createOrReplaceTempView("lifetimes")
    assert spark.sql("SELECT count(*) AS n FROM lifetimes").first().n == 10
    one_more(table)
    assert spark.table("lifetimes").where("p = 'a'").count() == 5
    load(place(table)).createOrReplaceTempView("lifetimes")
    assert spark.table("lifetimes").where("p = 'a'").count() == 6
    spark.catalog.dropTempView("lifetimes")


def test_a_cache_is_the_snapshot_of_its_load(load: Load, table: deltaic.Table) -> None:
    older = load(place(table)).cache()
    assert older.count() == 10
    one_more(table)
    newer = load(place(table))
    assert newer.count() == 11, "the cache of another version is not taken for it"
    assert older.count() == 10
    older.unpersist()
    assert older.count() == 10
    assert newer.cache().count() == 11
    newer.unpersist()


@pytest.mark.parametrize("cached", [False, True])
def test_refreshing_changes_nothing(
    spark: SparkSession, load: Load, table: deltaic.Table, cached: bool
) -> None:
    frame = load(place(table))
    if cached:
        frame.cache().count()
    frame.createOrReplaceTempView("refreshed")
    one_more(table)
    spark.catalog.refreshTable("refreshed")
    assert spark.table("refreshed").count() == frame.count() == 10
    for path in (place(table), table.uri):
        spark.catalog.refreshByPath(path)
        assert spark.table("refreshed").count() == frame.count() == 10
    spark.sql("REFRESH TABLE refreshed")
    spark.catalog.clearCache()
    assert spark.table("refreshed").where("id > 4").count() == frame.where("id > 4").count() == 5
    spark.catalog.dropTempView("refreshed")


def test_a_global_view_is_observed_from_another_session(
    spark: SparkSession, load: Load, table: deltaic.Table
) -> None:
    load(place(table)).createOrReplaceGlobalTempView("everywhere")
    try:
        assert spark.newSession().table("global_temp.everywhere").count() == 10
    finally:
        spark.catalog.dropGlobalTempView("everywhere")


@pytest.mark.parametrize("way", WAYS)
def test_two_sessions_on_one_table_at_once(
    spark: SparkSession, table: deltaic.Table, scratch: Path, way: str
) -> None:
    """Concurrent sessions each read their own version with their own settings."""
    one_more(table)
    sessions = [spark.newSession(), spark.newSession()]
    loads = [loader(session, way) for session in sessions]
    for session, zone in zip(sessions, ("UTC", "Asia/Tokyo"), strict=True):
        session.conf.set("spark.sql.session.timeZone", zone)

    def rows(turn: int) -> int:
        number = turn % 2
        frame = loads[number](place(table), versionAsOf=number + 1)
        frame.createOrReplaceTempView("mine")
        return sessions[number].table("mine").count()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(rows, range(12))) == [10, 11] * 6
    # Each session has a view of the same name: never the other session's rows.
    assert [session.table("mine").count() for session in sessions] == [10, 11]
    assert list(scratch.iterdir()) == []


def test_no_load_leaves_a_file(load: Load, table: deltaic.Table, scratch: Path) -> None:
    frames = [load(place(table)) for _ in range(5)]
    assert list(scratch.iterdir()) == []
    assert frames[0].union(frames[1]).join(frames[2], "id").count() == 20
    assert list(scratch.iterdir()) == []


def test_loads_of_many_threads_leave_no_file(
    spark: SparkSession, table: deltaic.Table, scratch: Path
) -> None:
    with ThreadPoolExecutor(8) as pool:
        counts = pool.map(lambda _: ds.read(spark).load(place(table)).count(), range(16))
        assert list(counts) == [10] * 16
    assert list(scratch.iterdir()) == []


@pytest.fixture
def remote_default(spark: SparkSession) -> Iterator[None]:
    """Hadoop's default file system is one that does not respond."""
    context: Any = spark.sparkContext
    hadoop = context._jsc.hadoopConfiguration()
    changed = {"fs.defaultFS": "hdfs://127.0.0.1:9", "ipc.client.connect.max.retries": "0"}
    before = {name: hadoop.get(name) for name in changed}
    for name, value in changed.items():
        hadoop.set(name, value)
    yield
    for name, value in before.items():
        hadoop.set(name, value)


@pytest.mark.usefixtures("remote_default")
def test_a_driver_whose_own_file_system_is_remote(
    spark: SparkSession, load: Load, table: deltaic.Table, scratch: Path
) -> None:
    """A path without a scheme is local for deltaic, and so it is for Spark: no request to a NameNode."""
    sums = load(place(table)).groupBy("p").agg({"id": "sum"}).toDF("p", "s").collect()
    assert {row.p: row.s for row in sums} == {"a": 20, "b": 25}
    assert list(scratch.iterdir()) == []
    with pytest.raises(Exception, match=r"(localhost|127\.0\.0\.1):9\b"):
        spark.read.parquet(place(table))
