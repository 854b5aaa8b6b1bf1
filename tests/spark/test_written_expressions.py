"""Expressions of a table, which Spark evaluates for the rows of a DataFrame that are written."""

from __future__ import annotations

import itertools
import json
from datetime import date, datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import deltaic
import deltaic.spark as ds
from deltaic.alter import AddConstraint, DropConstraint
from deltaic.exceptions import ConstraintViolation, InvalidPredicate, SchemaMismatch

pytest.importorskip("pyspark", reason="missing: PySpark")

from deltaic.spark.frame_write.arrow_tasks import FileTasks
from deltaic.spark.source.registration import active

from .python_source import in_python

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from .conftest import Settings

TOKYO = {"spark.sql.session.timeZone": "Asia/Tokyo", "spark.sql.ansi.enabled": "false"}
# 2026-11-02 01:00 in Tokyo, still the first of November in UTC.
MOMENT = datetime(2026, 11, 1, 16, tzinfo=timezone.utc)


def rows_of(path: Path) -> list[Any]:
    return sorted(deltaic.Table(path).to_arrow().to_pylist(), key=repr)


@pytest.fixture
def generating(tmp_path: Path) -> Path:
    """A table whose date is generated from a moment."""
    columns = [
        deltaic.Column("at", "timestamp"),
        deltaic.Column("day", "date", generated="CAST(at AS DATE)"),
        deltaic.Column("twice", "bigint", generated="CAST(n AS bigint) * 2"),
        deltaic.Column("n", "int", default="21"),
    ]
    deltaic.Table.create(tmp_path / "t", columns, partition_by=["day"])
    return tmp_path / "t"


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo"])
def test_generated_columns_are_those_of_the_session(
    spark: SparkSession, settings: Settings, generating: Path, zone: str
) -> None:
    day = date(2026, 11, 1) if zone == "UTC" else date(2026, 11, 2)
    with settings({**TOKYO, "spark.sql.session.timeZone": zone}):
        frame = spark.createDataFrame([(MOMENT,)], "at timestamp")
        ds.write(frame).mode("append").save(generating)
        (row,) = rows_of(generating)
        assert row == {"at": MOMENT, "day": day, "twice": 42, "n": 21}
        # Supplied values must be the computed ones.
        supplied = frame.selectExpr("at", "CAST(at AS DATE) AS DAY", "3 AS n")
        ds.write(supplied).mode("append").save(generating)
        wrong = frame.selectExpr("at", "DATE '2026-12-24' AS day")
        with pytest.raises(ConstraintViolation, match="a value of the generated column day is not") as raised:
            ds.write(wrong).mode("append").save(generating)
        assert raised.value.context["expression"] == "CAST(at AS DATE)"
        assert "day = 2026-12-24" in str(raised.value.context["row"])
        assert raised.value.hint == "drop the column from the data: its values are computed then"
    assert [row["twice"] for row in rows_of(generating)] == [42, 6]


def test_the_source_refuses_expressions_of_a_zone(spark: SparkSession, generating: Path) -> None:
    frame = spark.createDataFrame([(MOMENT,)], "at timestamp")
    writer = frame.write.format(in_python(spark)).mode("append")
    with active(spark):
        with pytest.raises(Exception, match="may depend on the session's time zone"):
            writer.save(str(generating))
        writer.option("timeZone", "UTC").save(str(generating))
    assert rows_of(generating)[0]["day"] == date(2026, 11, 1)


def test_defaults_of_the_session(spark: SparkSession, settings: Settings, tmp_path: Path) -> None:
    columns = [
        deltaic.Column("id", "bigint"),
        deltaic.Column("at", "timestamp", default="TIMESTAMP '2026-11-02 01:00:00'"),
        deltaic.Column("price", "decimal(10,2)", default="1.5"),
    ]
    deltaic.Table.create(tmp_path / "t", columns)
    with settings(TOKYO):
        ds.write(spark.range(1)).mode("append").save(tmp_path / "t")
    (row,) = rows_of(tmp_path / "t")
    assert row["at"] == MOMENT
    assert str(row["price"]) == "1.50"


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo"])
def test_times_become_those_of_the_session(
    spark: SparkSession, settings: Settings, tmp_path: Path, zone: str
) -> None:
    schema = pa.schema(
        [
            ("id", pa.int64()),
            ("at", pa.timestamp("us", "UTC")),
            ("local", pa.timestamp("us")),
            ("text", pa.string()),
            ("parts", pa.struct([("at", pa.timestamp("us", "UTC"))])),
            ("list", pa.list_(pa.timestamp("us", "UTC"))),
            ("map", pa.map_(pa.string(), pa.timestamp("us", "UTC"))),
        ]
    )
    deltaic.Table.create(tmp_path / "t", schema)
    with settings({"spark.sql.session.timeZone": zone}):
        day = "DATE '2026-11-02'"
        frame = spark.sql(
            f"SELECT 1 AS id, {day} AS at, TIMESTAMP '2026-11-02 01:00:00' AS local, "
            f"TIMESTAMP '2026-11-02 01:00:00' AS text, NAMED_STRUCT('at', {day}) AS parts, "
            f"ARRAY({day}, NULL) AS list, MAP('k', {day}) AS map"
        )
        nothing = spark.sql(
            "SELECT 2 AS id, CAST(NULL AS STRUCT<at: DATE>) AS parts, CAST(NULL AS ARRAY<DATE>) AS list"
        )
        ds.write(frame).mode("append").save(tmp_path / "t")
        ds.write(nothing).mode("append").save(tmp_path / "t")
    midnight = datetime(2026, 11, 2, tzinfo=timezone.utc) if zone == "UTC" else MOMENT.replace(hour=15)
    first, second = rows_of(tmp_path / "t")
    assert first == {
        "id": 1,
        "at": midnight,
        "local": datetime(2026, 11, 2, 1),  # noqa: DTZ001 - the column has no zone
        "text": "2026-11-02 01:00:00",
        "parts": {"at": midnight},
        "list": [midnight, None],
        "map": [("k", midnight)],
    }
    assert second == {"id": 2, **dict.fromkeys(("at", "local", "text", "parts", "list", "map"))}


def test_constraints(spark: SparkSession, settings: Settings, tmp_path: Path) -> None:
    table = deltaic.Table.create(
        tmp_path / "t",
        pa.schema([pa.field("id", pa.int64(), nullable=False), ("at", pa.timestamp("us", "UTC"))]),
    )
    table.alter(AddConstraint("recent", "at IS NULL OR at >= '2026-11-02 00:00:00'"))
    table.alter(AddConstraint("small", "id < 100"))
    frame = spark.createDataFrame([(1, MOMENT)], "id long, at timestamp")
    writer = ds.write(frame).mode("append")
    with pytest.raises(ConstraintViolation, match="CHECK constraint recent") as raised:
        writer.save(tmp_path / "t")
    assert raised.value.context["constraint"] == "recent"
    assert raised.value.context["row"] == "at = 2026-11-01 16:00:00"
    with settings(TOKYO):
        writer.save(tmp_path / "t")
    with pytest.raises(ConstraintViolation, match="CHECK constraint small") as raised:
        ds.write(spark.range(99, 104)).mode("append").save(tmp_path / "t")
    assert raised.value.context["row"] in {f"id = {number}" for number in range(100, 104)}
    with pytest.raises(ConstraintViolation, match="id") as raised:
        ds.write(spark.sql("SELECT CAST(NULL AS bigint) AS id")).mode("append").save(tmp_path / "t")
    assert len(rows_of(tmp_path / "t")) == 1
    assert len(list((tmp_path / "t").glob("*.parquet"))) == 1, "failed tasks delete their files"


def test_values_that_their_column_cannot_hold(
    spark: SparkSession, settings: Settings, tmp_path: Path
) -> None:
    """Values are kept or refused, also where Spark without ANSI mode would cut them off."""
    deltaic.Table.create(tmp_path / "t", pa.schema([("small", pa.int8()), ("text", pa.string())]))
    with settings({"spark.sql.ansi.enabled": "false"}):
        ds.write(spark.sql("SELECT 100L AS small")).mode("append").save(tmp_path / "t")
        with pytest.raises(SchemaMismatch, match="small") as raised:
            ds.write(spark.sql("SELECT 300L AS small")).mode("append").save(tmp_path / "t")
        assert raised.value.context["row"] == "small = 300, text = NULL"
        with pytest.raises(SchemaMismatch, match="the column small is tinyint in the table and string"):
            ds.write(spark.sql("SELECT '1' AS small")).mode("append").save(tmp_path / "t")
    assert rows_of(tmp_path / "t") == [{"small": 100, "text": None}]


def test_identity_columns(spark: SparkSession, tmp_path: Path) -> None:
    """Tasks generate distinct values without gaps, if they have equal numbers of rows."""
    columns = [
        deltaic.Column("id", "bigint", identity=deltaic.Identity(start=10, step=5)),
        deltaic.Column("n", "bigint"),
    ]
    deltaic.Table.create(tmp_path / "t", columns)
    frame = spark.range(12).repartition(3).selectExpr("id AS n")
    for _ in range(2):
        ds.write(frame).mode("append").save(tmp_path / "t")
    ids = sorted(row["id"] for row in rows_of(tmp_path / "t"))
    assert ids == list(range(10, 10 + 24 * 5, 5))
    # After a shuffle, whose number of tasks adaptive execution determines.
    ds.write(frame.groupBy("n").count().select("n")).mode("append").save(tmp_path / "t")
    ids = [row["id"] for row in rows_of(tmp_path / "t")]
    assert len(set(ids)) == 36
    with active(spark):
        frame.write.format(in_python(spark)).mode("append").save(str(tmp_path / "t"))
    ids = [row["id"] for row in rows_of(tmp_path / "t")]
    assert len(set(ids)) == 48
    table = deltaic.Table(tmp_path / "t")
    table.append(pa.table({"n": [100]}))
    assert max(row["id"] for row in rows_of(tmp_path / "t")) > max(ids)


def test_another_writer_generates_the_same_identity_values(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows are written again, with other values."""
    columns = [deltaic.Column("id", "bigint", identity=deltaic.Identity()), deltaic.Column("n", "bigint")]
    table = deltaic.Table.create(tmp_path / "t", columns)
    original, others = FileTasks.run, iter([100, 101])

    def overtaken(tasks: FileTasks) -> str:
        files = original(tasks)
        for number in itertools.islice(others, 1):
            table.append(pa.table({"n": [number]}))
        return files

    monkeypatch.setattr(FileTasks, "run", overtaken)
    ds.write(spark.range(3).coalesce(1).selectExpr("id AS n")).mode("append").save(tmp_path / "t")
    assert sorted((row["id"], row["n"]) for row in rows_of(tmp_path / "t")) == [
        (1, 100),
        (2, 101),
        (3, 0),
        (4, 1),
        (5, 2),
    ]
    assert len(list((tmp_path / "t").glob("*.parquet"))) == 3


FEATURES: list[dict[str, str]] = [
    {"delta.columnMapping.mode": "name"},
    {"delta.columnMapping.mode": "id"},
    {"delta.enableRowTracking": "true"},
    {"delta.enableChangeDataFeed": "true"},
    {"delta.enableTypeWidening": "true"},
    {"delta.enableDeletionVectors": "true", "delta.enableInCommitTimestamps": "true"},
    {"delta.enableIcebergCompatV2": "true", "delta.columnMapping.mode": "name"},
    {"delta.checkpointInterval": "2", "delta.checkpointPolicy": "v2"},
    {"delta.parquet.compression.codec": "gzip", "delta.randomizeFilePrefixes": "true"},
]


@pytest.mark.parametrize("properties", FEATURES, ids=",".join)
def test_features(spark: SparkSession, tmp_path: Path, properties: dict[str, str]) -> None:
    """Writes of Spark, and of Arrow rows, make the same versions of a table."""
    # Every column may be NULL, also in Arrow's schema.
    values = "FROM VALUES (1, 'a', 1), (2, '', 2), (3, 'b', NULL), (NULL, NULL, 4) AS t(id, p, x)"
    select = f"SELECT id, p, IF(x IS NULL, NULL, NAMED_STRUCT('x', x)) AS s {values}"
    frames = [spark.sql(f"{select} WHERE id = 1"), spark.sql(f"{select} WHERE id > 1")]
    path, other = tmp_path / "spark", tmp_path / "arrow"
    for frame in frames:
        ds.write(frame).mode("append").partitionBy("p").options(**properties).save(path)
        deltaic.write(
            other, frame.toArrow(), partition_by=["p"], properties=properties, empty_partition_text="null"
        )
    wide = spark.sql(
        "SELECT IF(x = 4, 5000000000, NULL) AS id, IF(x = 4, 'a', NULL) AS p, "
        f"IF(x = 4, NAMED_STRUCT('x', x, 'y', IF(x = 4, true, NULL)), NULL) AS s {values} WHERE x = 4"
    )
    widens = "delta.enableTypeWidening" in properties
    wide = wide if widens else wide.selectExpr("s.x AS id", "p", "s")
    ds.write(wide).mode("append").option("mergeSchema", "true").save(path)
    deltaic.Table(other).append(wide.toArrow(), schema_mode="merge")
    ds.write(frames[0]).mode("overwrite").option("replaceWhere", "p = 'a'").save(path)
    deltaic.Table(other).overwrite(frames[0].toArrow(), where="p = 'a'")
    assert rows_of(path) == rows_of(other)
    tables = deltaic.Table(path), deltaic.Table(other)
    columns = [
        [
            (field["name"], str(field["type"]).split("'metadata'")[0])
            for field in json.loads(table.schema.to_json())["fields"]
        ]
        for table in tables
    ]
    assert columns[0] == columns[1]
    assert tables[0].snapshot().protocol == tables[1].snapshot().protocol
    if "delta.enableChangeDataFeed" in properties:
        kept = ("id", "p", "_change_type", "_commit_version")
        feeds = [
            sorted(str([row[name] for name in kept]) for row in table.changes(0).to_arrow().to_pylist())
            for table in tables
        ]
        assert feeds[0] == feeds[1]
    if "delta.enableRowTracking" in properties:
        ids = [table.snapshot().scan(row_ids=True).to_arrow()["_row_id"].to_pylist() for table in tables]
        assert sorted(ids[0]) == sorted(ids[1])
    report = tables[0].check(deep=True)
    assert not report.findings, report


def test_variants(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.sql("""SELECT id, PARSE_JSON(CONCAT('{"a": ', id, '}')) AS v FROM RANGE(3)""")
    for properties in ({}, {"delta.enableVariantShredding": "true"}):
        path = tmp_path / str(len(properties))
        ds.write(frame).options(**properties).save(path)
        rows = deltaic.Table(path).snapshot().scan(variant="json").to_arrow().to_pylist()
        assert sorted(row["v"] for row in rows) == ['{"a":0}', '{"a":1}', '{"a":2}']


def test_a_type_that_tables_lack(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(Exception, match="interval") as raised:
        ds.write(spark.sql("SELECT 1 AS id, INTERVAL '1' DAY AS i")).save(tmp_path / "t")
    assert isinstance(raised.value, deltaic.exceptions.DeltaicError)
    assert not (tmp_path / "t").exists()


STORED = [
    ("double", "5", "CAST(x AS STRING)", "string", "5.0"),
    ("decimal(10,2)", "CAST(5 AS decimal(5,0))", "CAST(x AS STRING)", "string", "5.00"),
    ("double", "CAST(0.5 AS float)", "x * 10", "double", 5.0),
    ("bigint", "5", "CAST(x AS STRING)", "string", "5"),
    ("bigint", "2147483647", "x * 1000", "bigint", 2147483647000),
    ("struct<a:bigint,b:bigint>", "NAMED_STRUCT('a', 2)", "x.b IS NULL", "boolean", True),
    ("string", "'A' COLLATE UTF8_LCASE", "x = 'a'", "boolean", False),
    ("char(3)", "'a'", "LENGTH(x)", "int", 3),
    ("varchar(3)", "'abc   '", "LENGTH(x)", "int", 3),
]


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_expressions_see_the_values_that_are_stored(
    spark: SparkSession, settings: Settings, tmp_path: Path, ansi: str
) -> None:
    """Values are converted to the types of their columns before anything is computed from them."""
    with settings({"spark.sql.ansi.enabled": ansi}):
        for number, (kind, value, expression, result, expected) in enumerate(STORED):
            path = tmp_path / str(number)
            columns = [deltaic.Column("x", kind), deltaic.Column("y", result, generated=expression)]
            deltaic.Table.create(path, columns)
            ds.write(spark.sql(f"SELECT {value} AS x")).mode("append").save(path)
            assert rows_of(path)[0]["y"] == expected, (kind, value)


def test_values_that_do_not_fit_where_expressions_use_them(
    spark: SparkSession, settings: Settings, tmp_path: Path
) -> None:
    columns = [deltaic.Column("x", "tinyint"), deltaic.Column("y", "int", generated="CAST(x AS INT)")]
    deltaic.Table.create(tmp_path / "t", columns)
    for ansi in ("true", "false"):
        with settings({"spark.sql.ansi.enabled": ansi}):
            for value in ("300", "1.5D", "1.5BD"):
                with pytest.raises(
                    SchemaMismatch, match="value of the column x does not fit its type"
                ) as raised:
                    ds.write(spark.sql(f"SELECT {value} AS x")).mode("append").save(tmp_path / "t")
                assert raised.value.context["field"] == "x"
                assert str(raised.value.context["row"]).startswith("x = ")


def test_empty_text_of_a_partition_is_null_for_expressions(spark: SparkSession, tmp_path: Path) -> None:
    table = deltaic.Table.create(
        tmp_path / "t", pa.schema([("x", pa.int64()), ("p", pa.string())]), partition_by=["p"]
    )
    empty = spark.sql("SELECT 5L AS x, '' AS p")
    with pytest.raises(ConstraintViolation, match="does not match the predicate"):
        ds.write(empty).mode("overwrite").option("replaceWhere", "p = ''").save(tmp_path / "t")
    table.alter(AddConstraint("known", "p IS NOT NULL"))
    with pytest.raises(ConstraintViolation, match="CHECK constraint known"):
        ds.write(empty).mode("append").save(tmp_path / "t")


def test_a_collation_does_not_reach_a_constraint(spark: SparkSession, tmp_path: Path) -> None:
    table = deltaic.Table.create(tmp_path / "t", pa.schema([("c", pa.string())]))
    table.alter(AddConstraint("small", "c IN ('a', 'b')"))
    with pytest.raises(ConstraintViolation, match="CHECK constraint small"):
        ds.write(spark.sql("SELECT 'A' COLLATE UTF8_LCASE AS c")).mode("append").save(tmp_path / "t")


def test_conditions_that_mean_something_else_are_refused(
    spark: SparkSession, settings: Settings, tmp_path: Path
) -> None:
    path = tmp_path / "t"
    frame = spark.sql("SELECT DATE '2026-11-01' AS d, '1' AS c, 1 AS x")
    ds.write(frame).save(path)
    writer = ds.write(frame).mode("overwrite")
    for text in ("d = current_date()", "d <= now()", "d = curdate()"):
        with pytest.raises(InvalidPredicate, match="names the current time"):
            writer.option("replaceWhere", text).save(path)
    with settings({"spark.sql.ansi.enabled": "false"}):
        for text in ("coalesce(c, 0) = '01'", "CASE WHEN x > 0 THEN c ELSE 0 END = '1'"):
            with pytest.raises(InvalidPredicate, match="means something else in this session"):
                writer.option("replaceWhere", text).save(path)
        writer.option("replaceWhere", "x IN (1) AND (c = '1')").save(path)
    assert len(rows_of(path)) == 1


def test_constraints_on_generated_identity_values(spark: SparkSession, tmp_path: Path) -> None:
    columns = [deltaic.Column("id", "bigint", identity=deltaic.Identity()), deltaic.Column("x", "bigint")]
    table = deltaic.Table.create(tmp_path / "t", columns)
    table.alter(AddConstraint("few", "id <= 3"))
    frame = spark.range(3).coalesce(1).selectExpr("id AS x")
    ds.write(frame).mode("append").save(tmp_path / "t")
    with pytest.raises(ConstraintViolation, match="CHECK constraint few"):
        ds.write(frame).mode("append").save(tmp_path / "t")
    table.alter(DropConstraint("few"))
    with pytest.raises(ConstraintViolation, match="predicate of the overwrite"):
        ds.write(frame).mode("overwrite").option("replaceWhere", "id > 9").save(tmp_path / "t")
    assert len(rows_of(tmp_path / "t")) == 3


def test_names_in_a_session_that_distinguishes_case(
    spark: SparkSession, settings: Settings, tmp_path: Path
) -> None:
    columns = [deltaic.Column("Id", "bigint"), deltaic.Column("y", "bigint", generated="ID + 1")]
    table = deltaic.Table.create(tmp_path / "t", columns)
    table.alter(AddConstraint("positive", "iD >= 0"))
    with settings({"spark.sql.caseSensitive": "true"}):
        ds.write(spark.range(1)).mode("append").save(tmp_path / "t")
        assert spark.conf.get("spark.sql.caseSensitive") == "true"
        ds.write(spark.range(2).selectExpr("id", "id AS b")).partitionBy("ID").save(tmp_path / "new")
    assert rows_of(tmp_path / "t") == [{"Id": 0, "y": 1}]
    assert deltaic.Table(tmp_path / "new").snapshot().partition_columns == ["id"]


def test_an_expression_that_spark_cannot_evaluate(spark: SparkSession, tmp_path: Path) -> None:
    table = deltaic.Table.create(tmp_path / "t", pa.schema([("a", pa.int64()), ("b", pa.int64())]))
    table.alter(AddConstraint("both", "a + b > 0"))
    writer = ds.write(spark.range(1)).mode("overwrite").option("overwriteSchema", "true")
    with pytest.raises(deltaic.exceptions.DeltaicError, match=r"a|both"):
        writer.save(tmp_path / "t")
    with pytest.raises(ValueError, match="it excludes replaceWhere: mergeSchema adds columns"):
        writer.option("replaceWhere", "a = 1").save(tmp_path / "t")
