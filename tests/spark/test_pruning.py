"""Filters that are passed before `load`: which files they prune, and that the rows equal Spark's."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import deltaic
import deltaic.spark as ds
from deltaic import col
from deltaic.alter import RenameColumn
from tests.protocol.handmade_log import HandmadeTable, metadata, protocol

from .conftest import Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("small_queries")

HOUR = 3_600_000_000


@pytest.fixture
def hours(tmp_path: Path) -> Path:
    """Ten files of ten rows: `id` from 0 to 99, `at` an hour apart, each `day` a separate partition."""
    rows = pa.table(
        {
            "id": pa.array(range(100), pa.int64()),
            "at": pa.array([n * HOUR for n in range(100)], pa.timestamp("us", "UTC")),
            "day": pa.array([n // 50 for n in range(100)], pa.int32()),
        }
    )
    table = deltaic.Table.create(tmp_path / "t", rows.schema, partition_by=["day"])
    for start in range(0, 100, 10):
        table.append(rows.slice(start, 10))
    return tmp_path / "t"


def test_files_are_ruled_out_before_spark_sees_them(spark: SparkSession, hours: Path) -> None:
    frame = ds.read(spark).where("id >= 42 and day = 0").load(hours)
    assert sorted(row.id for row in frame.collect()) == list(range(42, 50))
    assert "10 in all, 5 after partitions, 1 after statistics" in ds.explain(frame)
    assert len(frame.inputFiles()) == 1


@pytest.mark.parametrize(
    ("condition", "files"),
    [
        ("day = 1 OR id < 20", 7),
        ("hash(day) = 5 OR id < 20", 10),
        ("id IN (SELECT id FROM range(3))", 10),
        ("id BETWEEN 15 AND 31 AND id IN (SELECT id FROM range(100))", 3),
        ("rand() < 2 AND id = 5", 1),
        ("rand() < 2 OR id = 5", 10),
    ],
)
def test_files_are_ruled_out_by_what_spark_plans(
    spark: SparkSession, hours: Path, condition: str, files: int
) -> None:
    frame = ds.read(spark).where(condition).load(hours)
    expected = ds.read(spark).load(hours).where(condition)
    assert sorted(frame.collect()) == sorted(expected.collect())
    assert len(frame.inputFiles()) == files


def test_a_partition_column_with_the_name_of_another_in_files(spark: SparkSession, tmp_path: Path) -> None:
    types = pa.schema({"q": pa.int64(), "p": pa.int64(), "z": pa.int64()})
    properties = {"delta.columnMapping.mode": "name"}
    table = deltaic.Table.create(tmp_path / "t", types, partition_by=["q"], properties=properties)
    table.alter(RenameColumn("p", "b"), RenameColumn("q", "p"))
    for number in (1, 2):
        table.append(pa.table({"p": [number], "b": [number * 100], "z": [3]}))
    for condition, expected in (("b = 200", 2), ("p = 1", 1), ("p = 2 OR b = 1", 2)):
        before = ds.read(spark).where(condition).load(table.uri)
        after = ds.read(spark).load(table.uri).where(condition)
        assert [row.p for row in before.collect()] == [row.p for row in after.collect()] == [expected]
        assert len(before.inputFiles()) == 1


def test_a_subquery_over_a_table_without_files(spark: SparkSession, hours: Path) -> None:
    ds.read(spark).where("id > 1000").load(hours).createOrReplaceTempView("nothing_left")
    for condition, expected in (
        ("id NOT IN (SELECT id FROM nothing_left)", 100),
        ("NOT EXISTS (SELECT 1 FROM nothing_left n WHERE n.day = 1)", 100),
        ("id IN (SELECT id FROM nothing_left) OR id < 3", 3),
        ("id > (SELECT count(*) + 90 FROM nothing_left WHERE day = 0)", 9),
    ):
        assert ds.read(spark).where(condition).load(hours).count() == expected, condition


@pytest.mark.parametrize("many", [0, 1, 2])
def test_conditions_add_up(spark: SparkSession, hours: Path, many: int) -> None:
    reader = ds.read(spark).option("predicate", "id < 60 -- below")
    for condition in [col("id") >= 15, "day = 1 or id < 20"][:many]:
        reader = reader.where(condition)
    expected = [set(range(60)), set(range(15, 60)), {*range(15, 20), *range(50, 60)}][many]
    assert {row.id for row in reader.load(hours).collect()} == expected


def test_all_files_ruled_out(spark: SparkSession, hours: Path) -> None:
    frame = ds.read(spark).where("id > 1000").load(hours)
    assert frame.count() == 0
    assert frame.columns == ["id", "at", "day"]


def test_conditions_of_spark_are_evaluated_on_rows(spark: SparkSession, hours: Path) -> None:
    frame = ds.read(spark).where("pmod(id, 7) = 3 and hash(id) is not null").load(hours)
    assert frame.count() == len([n for n in range(100) if n % 7 == 3])
    assert "10 in all, 10 after partitions, 10 after statistics" in ds.explain(frame)


def test_unsupported_by_spark(spark: SparkSession, hours: Path) -> None:
    for condition in ("id >", "nothing = 1"):
        with pytest.raises(deltaic.InvalidPredicate, match="Spark does not understand"):
            ds.read(spark).where(condition).load(hours)


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "America/Los_Angeles"])
@pytest.mark.parametrize("condition", ["at >= '1970-01-02 00:00:00'", "at < TIMESTAMP '1970-01-03'"])
def test_times_are_in_the_sessions_zone(
    spark: SparkSession, hours: Path, settings: Settings, zone: str, condition: str
) -> None:
    with settings({"spark.sql.session.timeZone": zone}):
        pruned = {row.id for row in ds.read(spark).where(condition).load(hours).collect()}
        assert pruned == {row.id for row in ds.read(spark).load(hours).where(condition).collect()}
        told = ds.explain(ds.read(spark).where(condition).load(hours))
        files = len({row.id // 10 for row in ds.read(spark).load(hours).where(condition).collect()})
        assert f"10 in all, 10 after partitions, {files} after statistics" in told


def test_the_time_of_a_file_by_option(spark: SparkSession, hours: Path) -> None:
    before = datetime.now(timezone.utc).replace(microsecond=0)
    deltaic.Table(hours).append(pa.table({"id": [1000], "day": pa.array([3], pa.int32())}))
    frame = ds.read(spark).option("fileModificationTime", True).load(hours)
    assert frame.columns[-1] == "_file_modification_time"
    newest = frame.where("id = 1000").selectExpr("unix_millis(_file_modification_time) AS ms").first()
    assert newest.ms >= before.timestamp() * 1000


def test_a_frame_of_two_tables_is_explained_table_by_table(spark: SparkSession, hours: Path) -> None:
    joined = ds.read(spark).load(hours).join(ds.read(spark).option("versionAsOf", 3).load(hours), "id")
    told = ds.explain(joined)
    assert "at version 10" in told
    assert "at version 3" in told
    with pytest.raises(ValueError, match="no table that deltaic reads"):
        ds.explain(spark.range(3))


@pytest.mark.parametrize(
    ("setting", "condition"),
    [
        ("spark.sql.ansi.doubleQuotedIdentifiers", 's = "t"'),
        ("spark.sql.parser.escapedStringLiterals", r"s = 'a\tb'"),
        ("spark.sql.legacy.consecutiveStringLiterals.enabled", "s = 'a''b'"),
    ],
)
def test_settings_that_change_what_a_condition_means(
    spark: SparkSession, tmp_path: Path, settings: Settings, setting: str, condition: str
) -> None:
    rows = pa.table({"s": ["x", "t", r"a\tb", "a\tb", "ab", "a'b"], "t": ["x", "y", "", "", "", ""]})
    table = deltaic.Table.create(tmp_path / "t", rows.schema)
    for row in range(rows.num_rows):
        table.append(rows.slice(row, 1))
    with settings({setting: "true", "spark.sql.ansi.enabled": "true"}):
        before = ds.read(spark).where(condition).load(tmp_path / "t")
        after = ds.read(spark).load(tmp_path / "t").where(condition)
        assert before.collect() == after.collect()


@pytest.mark.parametrize(
    "condition",
    [
        "s = 'a' -- c\\\n AND n = 999",
        "s = 'a' /* /* */ AND n = 999 -- */",
        "s = 'a' -- x\r OR n = 1",
        "s = 'a' /* c */ OR n = 1 -- d",
    ],
)
def test_comments_end_where_spark_has_them_end(spark: SparkSession, tmp_path: Path, condition: str) -> None:
    rows = pa.table({"s": ["a", "b", "c"], "n": [0, 1, 999]})
    table = deltaic.Table.create(tmp_path / "t", rows.schema)
    for row in range(rows.num_rows):
        table.append(rows.slice(row, 1))
    before = ds.read(spark).where(condition).load(tmp_path / "t")
    after = ds.read(spark).load(tmp_path / "t").where(condition)
    assert sorted(before.collect()) == sorted(after.collect())


def test_a_schema_of_another_writer_names_its_times_too(
    spark: SparkSession, tmp_path: Path, settings: Settings
) -> None:
    declared = '{"type":"struct","fields":[{"type":"timestamp","nullable":true,"metadata":{},"name":"at"}]}'
    made = HandmadeTable(tmp_path / "t")
    made.commit(protocol(), metadata(declared))
    rows = pa.table({"at": pa.array([n * HOUR for n in range(4)], pa.timestamp("us", "UTC"))})
    for row in range(rows.num_rows):
        bound = {"at": f"1970-01-01T0{row}:00:00.000Z"}
        stats = json.dumps({"numRecords": 1, "minValues": bound, "maxValues": bound, "nullCount": {"at": 0}})
        made.commit(made.data(f"{row}.parquet", rows.slice(row, 1), stats=stats))
    with settings({"spark.sql.session.timeZone": "Europe/Rome"}):
        assert ds.read(spark).where("at <= '1970-01-01 02:00:00'").load(made.root).count() == 2


def test_a_table_in_a_folder_that_spark_passes_over(spark: SparkSession, hours: Path, tmp_path: Path) -> None:
    moved = hours.rename(tmp_path / "_Temporary")
    assert len(ds.read(spark).load(moved).collect()) == 100
