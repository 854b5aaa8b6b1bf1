"""The data source "deltaic": what it reads, and that all queries on a DataFrame read one version."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic
import deltaic.spark as ds
from tests.golden.reference import GOLDEN, reference
from tests.golden.rows import difference
from tests.protocol.handmade_log import HandmadeTable, field, ids, metadata, protocol, schema

from .timed_versions import NOON, timed_versions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from .conftest import Settings

ROWS = pa.table(
    {
        "id": pa.array([1, 2, 3], pa.int64()),
        "city": ["Oslo", None, "Rome"],
        "at": [{"x": 1, "y": "a", "in": {"u": 1, "v": 2}}, None, {"x": None, "y": "c", "in": None}],
        "a.b": [1.5, 2.5, None],
    }
)


@pytest.fixture(scope="module", autouse=True)
def _registered(small_queries: SparkSession) -> None:
    ds.register(small_queries)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Version 1 contains `ROWS`."""
    deltaic.Table.create(tmp_path / "t", ROWS.schema, partition_by=["city"]).append(ROWS)
    return tmp_path / "t"


@pytest.fixture
def versions(tmp_path: Path) -> Path:
    return timed_versions(tmp_path / "v")


def load(spark: SparkSession, path: object, schema: str | None = None, **options: object) -> DataFrame:
    reader = spark.read.format("deltaic")
    if schema is not None:
        reader = reader.schema(schema)
    for name, value in options.items():
        reader = reader.option(name, str(value))
    return reader.load(str(path))


def numbers(frame: DataFrame) -> list[int]:
    return sorted(row.id for row in frame.select("id").collect())


KINDS = {"x": "bigint", "y": "string", "in": "struct<u:bigint,v:bigint>"}


def test_rows_and_schema(spark: SparkSession, folder: Path) -> None:
    frame = load(spark, folder)
    # Arrow chooses the order of the fields that it infers from a dict.
    fields = ",".join(f"{name}:{KINDS[name]}" for name in ROWS.schema.field("at").type.names)
    assert frame.schema.simpleString() == f"struct<id:bigint,city:string,at:struct<{fields}>,a.b:double>"
    assert difference(frame.toArrow(), ROWS) is None
    assert frame.count() == len(ROWS)


@pytest.mark.parametrize("path_type", [str, Path.as_uri])
def test_a_path_in_every_form(spark: SparkSession, versions: Path, path_type: Callable[[Path], str]) -> None:
    assert numbers(load(spark, path_type(versions))) == [1, 2]


def test_a_version(spark: SparkSession, versions: Path) -> None:
    assert numbers(load(spark, versions, versionAsOf=1)) == [1]
    assert numbers(load(spark, versions, VERSIONASOF=0)) == []
    assert numbers(load(spark, f"{versions}@v1")) == [1]


def test_a_time(spark: SparkSession, versions: Path) -> None:
    assert numbers(load(spark, versions, timestampAsOf="2026-11-01T12:59:59.999Z")) == [1]
    assert numbers(load(spark, versions, timestampAsOf=NOON + timedelta(hours=1))) == [1, 2]
    assert numbers(load(spark, versions, timestampAsOf="2026-11-01 21:30:00", timeZone="Asia/Tokyo")) == [1]
    assert numbers(load(spark, f"{versions}@20261101213000000", timeZone="Asia/Tokyo")) == [1]


def test_all_queries_see_one_version(spark: SparkSession, versions: Path) -> None:
    frame = load(spark, versions)
    frame.createOrReplaceTempView("pinned")
    deltaic.Table(versions).append(ids(3))
    assert numbers(frame) == numbers(frame.where("id < 10")) == [1, 2]
    assert numbers(frame.unionAll(frame)) == [1, 1, 2, 2]
    assert numbers(spark.table("pinned")) == [1, 2]
    assert numbers(load(spark, versions)) == [1, 2, 3]


def test_with_a_schema_all_queries_see_the_version_of_the_first(spark: SparkSession, versions: Path) -> None:
    frame = load(spark, versions, "id bigint")
    assert numbers(frame) == [1, 2]
    deltaic.Table(versions).append(ids(3))
    assert numbers(frame) == numbers(frame.where("id < 10")) == [1, 2]


def test_sql(spark: SparkSession, versions: Path) -> None:
    spark.sql(
        f"CREATE OR REPLACE TEMPORARY VIEW one USING deltaic OPTIONS (path '{versions}', versionAsOf 1)"
    )
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW two USING deltaic OPTIONS (path '{versions}')")
    found = spark.sql("SELECT two.id FROM two LEFT ANTI JOIN one ON one.id = two.id").collect()
    assert [row.id for row in found] == [2]


def test_the_name_of_the_jar(spark: SparkSession, versions: Path) -> None:
    ds.register(spark)  # registering twice has no effect
    assert numbers(spark.read.format("delta").load(str(versions))) == [1, 2]


def test_a_schema_chooses_columns(spark: SparkSession, folder: Path) -> None:
    frame = load(spark, folder, "`a.b` double, id bigint")
    assert frame.columns == ["a.b", "id"]
    assert difference(frame.toArrow(), ROWS.select(["a.b", "id"])) is None
    assert load(spark, folder, "city string").count() == len(ROWS)


def test_a_schema_chooses_fields_of_structs(spark: SparkSession, folder: Path) -> None:
    frame = load(spark, folder, "at struct<in:struct<v:bigint>,x:bigint>")
    found = sorted(frame.collect(), key=repr)
    assert [row.asDict(recursive=True)["at"] for row in found] == [
        None,
        {"in": None, "x": None},
        {"in": {"v": 2}, "x": 1},
    ]


def test_only_what_is_chosen_is_read(spark: SparkSession, tmp_path: Path) -> None:
    """Damage in a column, or a struct field, has no effect unless it is selected."""
    made = HandmadeTable(tmp_path / "t")
    struct = {"type": "struct", "fields": [field("keep"), field("lose", "string")]}
    rows = pa.table({"s": [{"keep": 7, "lose": "x" * 300}], "other": ["y" * 300]})
    made.create(
        made.data("1.parquet", rows), schema_string=schema(field("s", struct), field("other", "string"))
    )
    file = made.root / "1.parquet"
    body = bytearray(file.read_bytes())
    for column in (1, 2):
        chunk = pq.read_metadata(file).row_group(0).column(column)
        start = chunk.dictionary_page_offset or chunk.data_page_offset
        body[start : start + chunk.total_compressed_size] = bytes(chunk.total_compressed_size)
    file.write_bytes(body)
    assert load(spark, made.root, "s struct<keep:bigint>").collect()[0].s.keep == 7
    assert "CorruptData" in first_lines(load(spark, made.root, "other string").collect)
    assert "CorruptData" in first_lines(load(spark, made.root, "s struct<lose:string>").collect)


@pytest.mark.parametrize(
    ("chosen", "message", "hint"),
    [
        ("idd bigint", "has no column idd", "did you mean id?"),
        ("at struct<z:int>", "has no column at.z", "leave schema"),
        ("id int", "column id of version 1 is bigint, not int", "cast afterwards"),
        ("at struct<x:int>", "column at.x of version 1 is bigint, not int", "cast afterwards"),
        ("id bigint NOT NULL", "id may be NULL", "leave NOT NULL out"),
    ],
)
def test_a_schema_that_is_not_the_tables(
    spark: SparkSession, folder: Path, *, chosen: str, message: str, hint: str
) -> None:
    first = first_lines(lambda: load(spark, folder, chosen).collect())
    assert "deltaic.exceptions.SchemaMismatch: " in first
    assert message in first
    assert f"hint: {hint}" in first or hint in first


def test_a_predicate(spark: SparkSession, folder: Path) -> None:
    assert numbers(load(spark, folder, predicate="city = 'Rome' OR `a.b` < 2")) == [1, 3]
    assert "InvalidPredicate" in first_lines(lambda: load(spark, folder, predicate="nothing = 1"))


def test_an_empty_table(spark: SparkSession, tmp_path: Path) -> None:
    deltaic.Table.create(tmp_path / "t", ROWS.schema)
    frame = load(spark, tmp_path / "t")
    assert (frame.columns, frame.count(), frame.collect()) == (ROWS.column_names, 0, [])


def test_every_type(spark: SparkSession, tmp_path: Path) -> None:
    inner = pa.struct([pa.field("n", pa.int32(), nullable=False), ("t", pa.timestamp("us", "UTC"))])
    kinds = pa.schema(
        [
            pa.field("required", pa.int64(), nullable=False),
            ("bool", pa.bool_()),
            ("byte", pa.int8()),
            ("short", pa.int16()),
            ("int", pa.int32()),
            ("float", pa.float32()),
            ("decimal", pa.decimal128(38, 10)),
            ("binary", pa.binary()),
            ("date", pa.date32()),
            ("moment", pa.timestamp("us", "UTC")),
            ("ntz", pa.timestamp("us")),
            ("list", pa.list_(pa.field("element", inner))),
            ("map", pa.map_(pa.string(), inner)),
        ]
    )
    value = {"n": 1, "t": NOON}
    first = {
        "required": 1,
        "bool": True,
        "byte": -128,
        "short": 32767,
        "int": -1,
        "float": 0.1,
        "decimal": Decimal("1234567890123456789012345678.0123456789"),
        "binary": b"\x00\xff",
        "date": date(1582, 10, 4),
        "moment": NOON,
        "ntz": datetime(1, 1, 1),  # noqa: DTZ001 - it has no zone
        "list": [value, None],
        "map": [("k", value), ("l", None)],
    }
    rows = pa.Table.from_pylist([first, {"required": 2}], schema=kinds)
    table = deltaic.Table.create(tmp_path / "t", kinds)
    table.append(rows)
    assert difference(load(spark, tmp_path / "t").toArrow(), rows) is None


def test_a_column_that_holds_nothing(spark: SparkSession, tmp_path: Path) -> None:
    made = HandmadeTable(tmp_path / "t")
    made.commit(
        protocol(), metadata(schema(field("id"), field("nothing", "void"))), made.data("1.parquet", ids(1))
    )
    frame = load(spark, made.root)
    assert frame.schema["nothing"].dataType.simpleString() == "void"
    assert [tuple(row) for row in frame.collect()] == [(1, None)]


def test_a_change_feed(spark: SparkSession, tmp_path: Path) -> None:
    made = HandmadeTable(tmp_path / "t")
    made.commit(protocol(1, 4), metadata(configuration={"delta.enableChangeDataFeed": "true"}))
    for version in (1, 2, 3):
        made.commit(made.data(f"{version}.parquet", ids(version)))
    feed = load(spark, made.root, readChangeFeed=True, startingVersion=2)
    made.commit(made.data("4.parquet", ids(4)))
    assert feed.columns == ["id", "_change_type", "_commit_version", "_commit_timestamp"]
    assert sorted(tuple(row)[:3] for row in feed.collect()) == [(2, "insert", 2), (3, "insert", 3)]
    chosen = load(
        spark, made.root, "_commit_version bigint, id bigint", readChangeFeed=True, startingVersion=3
    )
    assert sorted(tuple(row) for row in chosen.collect()) == [(3, 3), (4, 4)]
    ended = load(spark, made.root, readChangeData=True, startingVersion=0, endingVersion=1)
    assert numbers(ended) == [1]


def test_a_change_feed_by_time(spark: SparkSession, tmp_path: Path) -> None:
    made = HandmadeTable(tmp_path / "t")
    made.commit(protocol(1, 4), metadata(configuration={"delta.enableChangeDataFeed": "true"}))
    for version in (1, 2, 3):
        made.commit(made.data(f"{version}.parquet", ids(version)))
    for version in range(4):
        made.set_time(version, round((NOON + timedelta(hours=version)).timestamp() * 1000))
    times = {"startingTimestamp": "2026-11-01 12:30:00", "endingTimestamp": "2026-11-01 14:59:00"}
    assert numbers(load(spark, made.root, readChangeFeed=True, timeZone="UTC", **times)) == [1, 2]
    late = {"startingVersion": 1, "endingTimestamp": "2026-11-01 19:00:00Z"}
    assert "VersionNotFound" in first_lines(lambda: load(spark, made.root, readChangeFeed=True, **late))


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="missing: ../shared/golden beside the project")
def test_row_ids(spark: SparkSession) -> None:
    found = sorted(GOLDEN.glob("delta-spark-fresh/*/expected/row_ids"))
    assert found
    for expected in found:
        folder = reference("/".join(expected.parts[-4:-2])).folder
        whole = load(spark, folder, rowIds=True).toArrow()
        assert difference(whole, deltaic.Table(folder).snapshot().scan(row_ids=True).to_arrow()) is None
        column = whole.column_names[0]
        some = load(spark, folder, rowIds=True).select("_row_id", column).toArrow()
        assert difference(some, whole.select(["_row_id", column])) is None


def test_row_ids_of_a_table_that_retains_none(spark: SparkSession, versions: Path) -> None:
    first = first_lines(lambda: load(spark, versions, rowIds=True))
    assert "deltaic.exceptions.UnsupportedFeature: " in first


def first_lines(action: Callable[[], object]) -> str:
    """Returns the first lines of Spark's error: those of a traceback would not contain the message."""
    from pyspark.errors import PySparkException

    with pytest.raises(PySparkException) as caught:
        action()
    return "\n".join(line for line in str(caught.value).splitlines() if line.strip())[:1000]


PUSHING = {"spark.sql.python.filterPushdown.enabled": "true"}


def can_push(spark: SparkSession) -> bool:
    return tuple(int(part) for part in spark.version.split(".")[:2]) >= (4, 1)


@pytest.mark.parametrize("allowed", [True, False])
def test_filters(spark: SparkSession, settings: Settings, folder: Path, allowed: bool) -> None:
    conditions = {
        "id = 2": [2],
        "id <> 2": [1, 3],
        "id <=> 3": [3],
        "city = 'Oslo'": [1],
        "city IS NULL": [2],
        "city IS NOT NULL AND NOT city = 'Oslo'": [3],
        "city IN ('Oslo', 'Paris', NULL)": [1],
        "city LIKE 'R%'": [3],
        "city LIKE '%slo'": [1],
        "contains(city, 'om')": [3],
        "at.x = 1": [1],
        "at.in.v >= 2 AND id + 1 < 3": [1],
        "`a.b` > 1.5": [2],
        "`a.b` <= double('NaN')": [1, 2],
        "id > 5000000000": [],
        "id = 1 OR city = 'Rome'": [1, 3],
    }
    with settings(PUSHING if allowed else {}):
        for condition, expected in conditions.items():
            assert numbers(load(spark, folder).where(condition)) == expected, condition


def test_pushed_filters_open_no_other_files(spark: SparkSession, settings: Settings, folder: Path) -> None:
    """Deleted files have no effect if the filter excludes them."""
    if not can_push(spark):
        pytest.skip("Spark 4.0 pushes no filters into Python data sources")
    [gone] = folder.glob("city=Rome/*.parquet")
    gone.unlink()
    oslo = load(spark, folder).where("city = 'Oslo'")
    assert "CorruptData" in first_lines(oslo.collect)
    with settings(PUSHING):
        pushed = load(spark, folder).where("city = 'Oslo'")
        assert numbers(pushed) == [1]
        assert "Filter (" not in pushed._jdf.queryExecution().executedPlan().toString()


def test_the_predicate_opens_no_other_files(spark: SparkSession, folder: Path) -> None:
    [gone] = folder.glob("city=Rome/*.parquet")
    gone.unlink()
    assert numbers(load(spark, folder, predicate="city = 'Oslo'")) == [1]


@pytest.mark.parametrize(
    ("options", "start"),
    [
        ({"path": "nowhere"}, "deltaic.exceptions.TableNotFound: there is no Delta table"),
        ({"versonAsOf": 1}, "ValueError: unknown option 'versonasof': did you mean 'versionAsOf'?"),
        ({"versionAsOf": 9}, "deltaic.exceptions.VersionNotFound: Version 9 does not exist"),
        ({"timestampAsOf": "2026-11-01"}, "ValueError: timestampAsOf has no time zone"),
        ({"versionAsOf": 1, "timestampAsOf": "2026-11-01Z"}, "ValueError: timestampAsOf is not a time"),
    ],
)
def test_damage_is_listed_first(
    spark: SparkSession, versions: Path, options: dict[str, object], start: str
) -> None:
    first = first_lines(lambda: load(spark, **{"path": versions, **options}))
    assert first.startswith(
        f"[PYTHON_DATA_SOURCE_ERROR] Failed to create Python data source instance: {start}"
    )


def test_an_unsupported_feature(spark: SparkSession, tmp_path: Path) -> None:
    made = HandmadeTable(tmp_path / "t")
    made.commit(protocol(3, 7, ["fromTheFuture"], ["fromTheFuture"]), metadata())
    first = first_lines(lambda: load(spark, made.root))
    assert "deltaic.exceptions.UnsupportedFeature: " in first
    assert "fromTheFuture" in first
    assert "\nhint: " in first


def test_a_file_that_is_deleted_underneath(spark: SparkSession, versions: Path) -> None:
    frame = load(spark, versions)
    (versions / "2.parquet").unlink()
    first = first_lines(frame.collect)
    assert "\ndeltaic.exceptions.CorruptData: a data file is missing" in first
    assert "2.parquet" in first
    assert "\nhint: restore the file" in first
    assert "Traceback" not in first


@pytest.mark.parametrize("schema", [None, "id long"])
def test_the_time_of_a_file_is_not_reported(spark: SparkSession, versions: Path, schema: str | None) -> None:
    first = first_lines(lambda: load(spark, versions, schema, fileModificationTime=True).collect())
    assert "UnsupportedFeature: the data source does not provide the modification time" in first


def test_options_of_a_stream_are_not_reads(spark: SparkSession, versions: Path) -> None:
    assert "'ignoreDeletes' is for a stream" in first_lines(load(spark, versions, ignoreDeletes=True).count)


def test_found_without_register(spark: SparkSession, versions: Path) -> None:
    """A session that has registered nothing finds the package's own source."""
    other = spark.newSession()
    assert numbers(other.read.format("deltaic").load(str(versions))) == [1, 2]


def test_the_module_that_spark_finds_raises_nothing() -> None:
    code = (
        "import sys; sys.modules['pyspark'] = None; import pyspark_deltaic as module; "
        "sys.exit(hasattr(module, 'DefaultSource'))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_pyspark_the_error_states_what_to_install() -> None:
    code = "import sys; sys.modules['pyspark'] = None; import deltaic.spark as ds; ds.register(None)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "ImportError: deltaic.spark needs PySpark" in ended.stderr


def test_a_session_beside_another_that_has_the_source(spark: SparkSession, folder: Path) -> None:
    """Spark looks in the active session whether a source of the name exists already."""
    spark.range(1).count()
    other = spark.newSession()
    ds.register(other)
    for name in ("deltaic", "delta"):
        assert other.read.format(name).load(str(folder)).count() == 3
