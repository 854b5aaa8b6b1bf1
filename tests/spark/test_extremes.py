"""The least and greatest values of columns of a whole table come from the log, where it has them exactly."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import deltaic
import deltaic.spark as ds
from deltaic.alter import RenameColumn
from tests.protocol.handmade_log import HandmadeTable, field, metadata, protocol, schema

from .plans import plan_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.usefixtures("small_queries")

EXACT = {
    "byte": pa.int8(),
    "short": pa.int16(),
    "int": pa.int32(),
    "long": pa.int64(),
    "day": pa.date32(),
    "price": pa.decimal128(15, 3),
}
OTHERS = {
    "text": pa.string(),
    "at": pa.timestamp("us", "UTC"),
    "local": pa.timestamp("us"),
    "double": pa.float64(),
    "wide": pa.decimal128(20, 3),
}
DAY = datetime.date(2026, 11, 1)
NOON = datetime.datetime(2026, 11, 1, 12, tzinfo=datetime.timezone.utc)


def values(number: int) -> dict[str, Any]:
    """A row: equal numbers in all columns, negative ones too."""
    later = datetime.timedelta(days=number)
    return {
        **dict.fromkeys(("byte", "short", "int"), number),
        "long": number * 2**55,
        "day": DAY + later,
        "price": Decimal(number) / 8,
        "text": str(number),
        "at": NOON + later,
        "local": (NOON + later).replace(tzinfo=None),
        "double": number / 8,
        "wide": Decimal(number) / 8,
    }


@pytest.fixture(scope="module", params=["unpartitioned", "partitioned", "mapped"])
def frame(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, request: Any) -> DataFrame:
    """Three files, of which one has only NULL."""
    types = pa.schema([*EXACT.items(), *OTHERS.items()])
    made = deltaic.Table.create(
        tmp_path_factory.mktemp("extremes") / "t",
        types,
        partition_by=["int", "day"] if request.param == "partitioned" else [],
        properties={"delta.columnMapping.mode": "name"} if request.param == "mapped" else {},
    )
    for numbers in ([1, 2, 3], [-7, 100], []):
        rows = [values(number) for number in numbers] or [dict.fromkeys(types.names)]
        made.append(pa.Table.from_pylist([*rows, dict.fromkeys(types.names)], schema=types))
    if request.param == "mapped":
        made.alter(RenameColumn("long", "longer"), RenameColumn("short", "long"))
    return ds.read(spark).load(made.uri)


def scans(frame: DataFrame) -> bool:
    return "FileScan" in plan_of(frame)


def test_values_of_exact_types(frame: DataFrame) -> None:
    names = [name for name in frame.columns if name not in OTHERS]
    asked = frame.selectExpr(*(f"{by}({name})" for name in names for by in ("min", "max")), "count(*)")
    assert not scans(asked)
    computed = frame.where("coalesce(int, 0) > -1000").selectExpr(*asked.columns[:-1], "count(*)")
    assert scans(computed)
    assert asked.collect() == computed.collect()
    assert asked.schema == computed.schema


def test_expressions_of_them(spark: SparkSession, frame: DataFrame) -> None:
    frame.createOrReplaceTempView("extremes")
    text = "SELECT max(int) - min(int) + 1 AS n, date_add(max(day), 1) AS d, count(1) AS c FROM extremes"
    assert not scans(spark.sql(text))
    assert [tuple(row) for row in spark.sql(text).collect()] == [(108, DAY + datetime.timedelta(days=101), 9)]
    renamed = spark.sql("SELECT max(b) FROM (SELECT int AS a, byte AS b FROM extremes)")
    assert not scans(renamed)
    assert renamed.first()[0] == 100


@pytest.mark.parametrize("column", OTHERS)
def test_the_log_has_no_exact_values_of(frame: DataFrame, column: str) -> None:
    asked = frame.selectExpr(f"max({column}) AS m", "count(*)")
    assert scans(asked)
    assert asked.first()[0] is not None


@pytest.mark.parametrize(
    "query",
    [
        "SELECT max(int) FROM extremes WHERE int < 3",
        "SELECT max(int) FROM extremes GROUP BY byte",
        "SELECT max(int) FILTER (WHERE int < 3) FROM extremes",
        "SELECT max(int + 1) FROM extremes",
        "SELECT max(int) FROM (SELECT int FROM extremes LIMIT 2)",
        "SELECT max(int), sum(int) FROM extremes",
        "SELECT max(a.int) FROM extremes a JOIN extremes b ON a.int = b.int + 1",
    ],
)
def test_other_queries_are_sparks(spark: SparkSession, frame: DataFrame, query: str) -> None:
    frame.createOrReplaceTempView("extremes")
    assert scans(spark.sql(query))


def test_a_table_without_rows(spark: SparkSession, tmp_path: Path) -> None:
    made = deltaic.Table.create(tmp_path / "t", pa.schema({"id": pa.int64()}))
    asked = ds.read(spark).load(made.uri).selectExpr("min(id)", "max(id)", "count(*)")
    assert not scans(asked)
    assert tuple(asked.first()) == (None, None, 0)


def test_deleted_rows_may_have_been_the_greatest(spark: SparkSession, tmp_path: Path) -> None:
    properties = {"delta.enableDeletionVectors": "true"}
    made = deltaic.Table.create(tmp_path / "t", pa.schema({"id": pa.int64()}), properties=properties)
    made.append(pa.table({"id": [1, 2, 3]}))
    made.delete("id = 3")
    asked = ds.read(spark).load(made.uri).selectExpr("max(id)", "count(*)")
    assert tuple(asked.first()) == (2, 2)
    assert scans(asked)


@pytest.mark.parametrize(
    ("statistics", "answered"),
    [
        ({"numRecords": 2, "maxValues": {"id": 9}, "nullCount": {"id": 0}}, True),
        ({"numRecords": 2, "maxValues": {"id": 9}, "nullCount": {"id": 0}, "tightBounds": True}, True),
        ({"numRecords": 2, "maxValues": {"id": 9}, "nullCount": {"id": 0}, "tightBounds": False}, False),
        ({"numRecords": 2, "maxValues": {"id": 9}}, True),
        ({"maxValues": {"id": 9}, "nullCount": {"id": 0}}, False),
        ({"numRecords": 2, "nullCount": {"id": 0}}, False),
        ({"numRecords": 2, "nullCount": {"id": 2}}, True),
        ({"numRecords": 2}, False),
        (None, False),
    ],
)
def test_what_statistics_say(
    spark: SparkSession, tmp_path: Path, statistics: dict[str, Any] | None, *, answered: bool
) -> None:
    """protocol: per-file-statistics.1."""
    made = HandmadeTable(tmp_path / "t")
    made.commit(protocol(), metadata(schema(field("id"))))
    known = json.dumps({"numRecords": 1, "maxValues": {"id": 4}, "nullCount": {"id": 0}})
    made.commit(made.data("a.parquet", pa.table({"id": pa.array([4], pa.int64())}), stats=known))
    rows = pa.table({"id": pa.array([None, None], pa.int64())})
    stats = None if statistics is None else json.dumps(statistics)
    made.commit(made.data("b.parquet", rows, stats=stats))
    asked = ds.read(spark).load(made.root).selectExpr("max(id)")
    assert scans(asked) is not answered
    if answered:
        bound = (statistics or {}).get("maxValues", {"id": 4})["id"]
        assert asked.first()[0] == bound
