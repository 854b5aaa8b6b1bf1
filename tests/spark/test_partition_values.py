"""Partition values of every type reach Spark exactly, in any session time zone."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import deltaic
import deltaic.spark as ds
from tests.golden.rows import difference
from tests.interop.values import PARTITION_VALUES
from tests.protocol.handmade_log import HandmadeTable, field, ids, metadata, protocol, schema
from tests.protocol.test_tables_of_partition_columns import (
    ALL,
    Write,
    counted,
    expected,
    file_of,
    uncounted,
    with_others,
    with_values,
)

from .ways import WAYS, loader

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from .conftest import Settings

ZONES = ["UTC", "America/New_York", "Asia/Kolkata"]


@pytest.mark.parametrize("kind", PARTITION_VALUES)
def test_each_type_with_null(spark: SparkSession, tmp_path: Path, settings: Settings, kind: str) -> None:
    values = pa.concat_arrays([PARTITION_VALUES[kind], pa.nulls(1, PARTITION_VALUES[kind].type)])
    rows = pa.table({"id": pa.array(range(len(values)), pa.int64()), "p": values})
    table = deltaic.Table.create(tmp_path / "t", rows.schema, partition_by=["p"])
    table.append(rows)
    for zone in ZONES:
        with settings({"spark.sql.session.timeZone": zone}):
            assert difference(ds.read(spark).load(tmp_path / "t").toArrow(), rows) is None, zone


@pytest.mark.parametrize("zone", ZONES)
def test_timestamps_without_zone(spark: SparkSession, tmp_path: Path, settings: Settings, zone: str) -> None:
    texts = ["0001-01-01 00:00:00", "2024-11-03 01:30:00.123456", "2024-03-10 02:30:00", None]
    naive = field("p", "timestamp_ntz")
    made = HandmadeTable(tmp_path / "t")
    made.commit(
        protocol(3, 7, ["timestampNtz"], ["timestampNtz"]), metadata(schema(field("id"), naive), ["p"])
    )
    made.commit(*[made.data(f"{n}.parquet", ids(n), values={"p": text}) for n, text in enumerate(texts)])
    with settings({"spark.sql.session.timeZone": zone}):
        frame = ds.read(spark).load(made.root).selectExpr("id", "CAST(p AS STRING)").orderBy("id")
        assert [row.p for row in frame.collect()] == texts


@pytest.mark.parametrize("zone", ZONES)
def test_timestamps_in_both_spellings(
    spark: SparkSession, tmp_path: Path, settings: Settings, zone: str
) -> None:
    texts = ["2021-03-04T05:06:07.123456Z", "2021-03-04 05:06:07.123456", "2021-03-04 05:06:07"]
    made = HandmadeTable(tmp_path / "t")
    made.commit(protocol(), metadata(schema(field("id"), field("p", "timestamp")), ["p"]))
    made.commit(*[made.data(f"{n}.parquet", ids(n), values={"p": text}) for n, text in enumerate(texts)])
    whole = 1_614_834_367_000_000
    with settings({"spark.sql.session.timeZone": zone}):
        frame = ds.read(spark).load(made.root).selectExpr("id", "unix_micros(p) AS p").orderBy("id")
        assert [row.p for row in frame.collect()] == [whole + 123_456, whole + 123_456, whole]


@pytest.mark.parametrize("kind", ["string", "integer", "date", "boolean", "binary"])
def test_the_empty_text_is_null(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    made = HandmadeTable(tmp_path / "t")
    made.commit(protocol(), metadata(schema(field("id"), field("p", kind)), ["p"]))
    made.commit(made.data("1.parquet", ids(1), values={"p": ""}))
    assert ds.read(spark).load(made.root).where("p IS NULL").count() == 1


@pytest.mark.parametrize("values", [{"p": "abc"}, {}])
def test_a_value_that_cannot_be_read_is_an_error_and_not_null(
    spark: SparkSession, tmp_path: Path, values: dict[str, str]
) -> None:
    made = HandmadeTable(tmp_path / "t")
    made.commit(protocol(), metadata(schema(field("id"), field("p`q", "integer")), ["p`q"]))
    written = {f"{key}`q": text for key, text in values.items()}
    made.commit(
        made.data("1.parquet", ids(1), values=written), made.data("2.parquet", ids(2), values={"p`q": "2"})
    )
    with pytest.raises(deltaic.CorruptLog, match="p`q"):
        ds.read(spark).load(made.root)


def test_several_partition_columns_between_the_others(spark: SparkSession, tmp_path: Path) -> None:
    columns: dict[str, Any] = {
        "b": pa.array([1, 2, 1, None], pa.int32()),
        "id": pa.array(range(4), pa.int64()),
        "a": ["x", "x", None, "y"],
        "value": [0.5, None, 1.5, 2.5],
        "c": pa.array([date(2026, 1, 1), None, date(2026, 1, 1), date(2026, 1, 2)]),
    }
    rows = pa.table(columns)
    table = deltaic.Table.create(tmp_path / "t", rows.schema, partition_by=["c", "a", "b"])
    table.append(rows)
    frame = ds.read(spark).load(tmp_path / "t")
    assert frame.columns == list(columns)
    assert difference(frame.toArrow(), rows) is None
    assert difference(frame.select("a", "c").toArrow(), rows.select(["a", "c"])) is None


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("write", [counted, uncounted, with_values, with_others])
def test_tables_whose_columns_are_all_partition_columns(
    spark: SparkSession, tmp_path: Path, way: str, write: Write
) -> None:
    """Their data files may have no columns, and then may have no row counts."""
    made = HandmadeTable(tmp_path / "t")
    files = [file_of(made, write, rows) for rows in (3, 5)]
    made.create(*files, schema_string=ALL, partition_by=["p", "q"])
    frame = loader(spark, way)(made.root)
    assert difference(frame.toArrow(), expected(3, 5)) is None
    assert frame.count() == 8
    assert frame.where("q = 5").count() == 5
    assert frame.selectExpr("sum(q)").collect()[0][0] == 34
