"""The number of rows of a whole table comes from the log; everything else is counted by Spark."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import deltaic
import deltaic.spark as ds

from .plans import plan_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.usefixtures("small_queries")

ROWS = 60


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three files of twenty rows, in two partitions."""
    path = tmp_path_factory.mktemp("counts") / "t"
    ids = pa.array(range(ROWS), pa.int64())
    rows = pa.table({"id": ids, "p": pa.array([n // 40 for n in range(ROWS)], pa.int32())})
    made = deltaic.Table.create(path, rows.schema, partition_by=["p"])
    for start in range(0, ROWS, 20):
        made.append(rows.slice(start, 20))
    return path


def with_deleted(path: Path) -> Path:
    """A table of 9,000 rows, of which a deletion vector deletes ten."""
    rows = pa.table({"id": pa.array(range(9_000), pa.int64())})
    made = deltaic.Table.create(path, rows.schema, properties={"delta.enableDeletionVectors": "true"})
    made.append(rows)
    made.delete("id BETWEEN 10 AND 19")
    assert made.snapshot().deletion_vectors().num_rows == 1
    return path


def scans(frame: DataFrame) -> bool:
    return "FileScan" in plan_of(frame)


def test_no_file_is_opened(spark: SparkSession, table: Path) -> None:
    frame = ds.read(spark).load(table)
    frame.createOrReplaceTempView("counted")
    for text in ("count(*)", "count(1) AS n", "count(*), count(*) * 2 + 1 AS m", "CAST(count(1) AS STRING)"):
        counted = spark.sql(f"SELECT {text} FROM counted")  # noqa: S608 - constants
        assert not scans(counted), text
        assert str(counted.first()[0]) == str(ROWS), text
    assert frame.count() == ROWS
    assert not scans(frame.groupBy().count())
    assert not scans(frame.select("id").coalesce(1).groupBy().count())
    assert spark.sql("SELECT id FROM counted WHERE id + 1 = (SELECT count(*) FROM counted)").count() == 1


def test_the_files_need_not_exist(spark: SparkSession, tmp_path: Path) -> None:
    frame = ds.read(spark).load(with_deleted(tmp_path / "t"))
    for file in (tmp_path / "t").glob("*.parquet"):
        file.unlink()
    assert frame.count() == 8_990


OTHERS: dict[str, tuple[Callable[[DataFrame], DataFrame], int]] = {
    "filter": (lambda frame: frame.where("id < 10"), 10),
    "partition": (lambda frame: frame.where("p = 1"), 20),
    "limit": (lambda frame: frame.limit(7), 7),
    "offset": (lambda frame: frame.offset(7), 53),
    "distinct": (lambda frame: frame.select("p").distinct(), 2),
    "union": (lambda frame: frame.union(frame), 120),
    "join": (lambda frame: frame.join(frame.select("id").where("id > 50"), "id", "left_semi"), 9),
    "left join": (lambda frame: frame.alias("a").join(frame.where("id < 3"), "p", "left"), 140),
    "explode": (lambda frame: frame.selectExpr("explode(array(1, 2)) AS e"), 120),
    "sample": (lambda frame: frame.sample(1e-9), 0),
    "groups": (lambda frame: frame.groupBy("p").count(), 2),
    "filter and vectors": (lambda frame: frame.where("id > 57").sort("id"), 2),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_plans_are_counted_by_spark(spark: SparkSession, table: Path, name: str) -> None:
    change, expected = OTHERS[name]
    frame = change(ds.read(spark).load(table))
    assert frame.count() == len(frame.collect()) == expected
    assert scans(frame.groupBy().count())


@pytest.mark.parametrize("change", ["where", "limit", "join", "all"])
def test_deleted_rows(spark: SparkSession, tmp_path: Path, change: str) -> None:
    frame = ds.read(spark).load(with_deleted(tmp_path / "t"))
    if change == "where":
        assert frame.where("id < 25").count() == 15
    elif change == "limit":
        assert frame.limit(100).count() == 100
    elif change == "join":
        assert frame.join(spark.range(5, 12), "id", "left").where("id < 12").count() == 10
    else:
        assert not scans(frame.groupBy().count())
        assert frame.count() == len(frame.collect()) == 8_990


COLUMNS = ["count(id)", "count(DISTINCT p)", "count(NULL)", "count(*) FILTER (WHERE id < 5)", "max(id)"]


def test_expressions_of_rows_are_counted_by_spark(spark: SparkSession, table: Path) -> None:
    ds.read(spark).load(table).createOrReplaceTempView("counted")
    assert tuple(spark.table("counted").selectExpr(*COLUMNS).first()) == (ROWS, 2, 0, 5, ROWS - 1)


def test_a_predicate_of_the_load(spark: SparkSession, table: Path) -> None:
    assert ds.read(spark).where("p = 1").load(table).count() == 20
    assert ds.read(spark).where("id = id").load(table).count() == ROWS
    assert ds.read(spark).where("1 = 1").load(table).count() == ROWS


def test_a_cached_frame_is_filled_by_its_count(spark: SparkSession, table: Path) -> None:
    frame = ds.read(spark).option("versionAsOf", 2).load(table).cache()
    assert frame.count() == 40
    assert "InMemoryTableScan" in plan_of(frame)
    assert frame.storageLevel.useMemory
    frame.unpersist()


def test_an_empty_table(spark: SparkSession, tmp_path: Path) -> None:
    deltaic.Table.create(tmp_path / "t", pa.schema([("id", pa.int64())]))
    assert ds.read(spark).load(tmp_path / "t").count() == 0
