"""The index in Spark's driver: every filter of a query leaves out files, wherever it is in the query."""

from __future__ import annotations

import gc
import shutil
import time
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
import pytest

import deltaic
import deltaic.spark as ds
from deltaic.alter import RenameColumn
from tests.golden.rows import difference
from tests.protocol.handmade_log import HandmadeTable, field, metadata, protocol, schema

from .conftest import Settings
from .opened_files import indexes_of, opened

pytest.importorskip("pyspark", reason="missing: PySpark")

from pyspark.sql.functions import lit

from deltaic.spark.runtime import classes

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("small_queries")

HOUR = 3_600_000_000
FILES = 10


@pytest.fixture(scope="module")
def hours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten files of ten rows: `id` from 0 to 99, `at` an hour apart, each `day` a partition."""
    path = tmp_path_factory.mktemp("index") / "t"
    ids = range(10 * FILES)
    rows = pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "small": pa.array([n % 128 for n in ids], pa.int8()),
            "d": pa.array([n / 4 for n in ids], pa.float64()),
            "m": pa.array([Decimal(n) for n in ids], pa.decimal128(20, 2)),
            "s": [f"row {n:03}" for n in ids],
            "b": pa.array([f"{n:03}".encode() for n in ids], pa.binary()),
            "at": pa.array([n * HOUR for n in ids], pa.timestamp("us", "UTC")),
            "o": [{"x": n} for n in ids],
            "late": pa.array([None if n < 50 else n for n in ids], pa.int64()),
            "flag": [n >= 90 for n in ids],
            "day": pa.array([n // 50 for n in ids], pa.int32()),
        }
    )
    table = deltaic.Table.create(path, rows.schema, partition_by=["day"])
    for start in range(0, 10 * FILES, 10):
        table.append(rows.slice(start, 10))
    return path


# A filter, and the files that have matching rows, or may have by their bounds.
FILTERS: list[tuple[str, int | None]] = [
    ("id = 42", 1),
    ("id <=> 42", 1),
    ("id >= 42 AND id < 51", 2),
    ("id BETWEEN 42 AND 51", 2),
    ("id < 5 OR id > 94", 2),
    ("NOT (id >= 10)", 1),
    ("id <> 42", 10),
    ("id IN (1, 2, 55)", 2),
    ("id IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, NULL)", 2),
    ("id = 42 AND rand() >= 0", 1),
    ("id + 1 = 43", 10),
    ("id = 42 OR pmod(id, 100) = 5", 10),
    ("small = 7", 1),
    ("small > 1000", None),
    ("d < 0.5D", 1),
    ("d > 24.5D", 10),  # bounds do not count NaN, which is greater
    ("d = 'NaN'", 10),
    ("isnan(d)", 10),
    ("m = 42", 1),
    ("m < 0.5", 1),
    ("s LIKE 'row 04%'", 1),
    ("s LIKE '%4'", 10),
    ("startswith(s, 'row 09')", 1),
    ("s = 'row 042'", 1),
    ("b = X'303432'", 10),  # there are no bounds of binary
    ("at = TIMESTAMP '1970-01-02 00:00:00Z'", 1),
    ("at < TIMESTAMP '1970-01-01 05:00:00Z'", 1),
    ("o.x = 42", 1),
    ("late IS NULL", 5),
    ("late IS NOT NULL", 5),
    ("flag", 10),  # bounds of booleans are not used
    ("NOT flag", 10),
    ("day = 1", 5),
    ("day = 1 AND id = 42", 0),
    ("day IS NULL", 0),
    ("pmod(day, 7) = 0 AND id > 45", 1),
]
SESSIONS = [("UTC", "true"), ("Asia/Tokyo", "false"), ("America/Caracas", "true")]


@pytest.mark.parametrize(("zone", "ansi"), SESSIONS)
def test_filters_after_load_and_in_a_view(
    spark: SparkSession, hours: Path, settings: Settings, zone: str, ansi: str
) -> None:
    with settings({"spark.sql.session.timeZone": zone, "spark.sql.ansi.enabled": ansi}):
        whole = ds.read(spark).load(hours)
        whole.createOrReplaceTempView("hours")
        conditions = [f"{condition} AS c{number}" for number, (condition, _) in enumerate(FILTERS)]
        answers = spark.createDataFrame(whole.toArrow()).selectExpr("id", *conditions).collect()
        found: dict[str, int] = {}
        for number, (condition, files) in enumerate(FILTERS):
            source = spark.table("hours") if number % 2 else whole
            rows, found[condition] = opened(source.where(condition).select("id"))
            expected = sorted(row.id for row in answers if row[number + 1])
            assert sorted(row.id for row in rows) == expected, condition
            if files is None:
                # Spark asks for no files if it knows that there are no rows.
                del found[condition]
        assert found == {condition: files for condition, files in FILTERS if files is not None}


def test_a_subquery_a_join_and_an_aggregate_leave_out_files(spark: SparkSession, hours: Path) -> None:
    frame = ds.read(spark).load(hours)
    joined = frame.join(spark.range(3), "id").where("day = 0")
    assert len(joined.collect()) == 3
    assert indexes_of(joined)[0].listed() == 5
    grouped = frame.groupBy("day").max("id").where("day = 1")
    assert [tuple(row) for row in grouped.collect()] == [(1, 99)]
    assert indexes_of(grouped)[0].listed() == 5
    frame.createOrReplaceTempView("hours")
    found = spark.sql("SELECT id FROM hours WHERE id = (SELECT max(id) FROM hours WHERE day = 0)")
    assert [tuple(row) for row in found.collect()] == [(49,)]


def test_dynamic_partition_pruning_opens_the_files_of_one_partition(
    spark: SparkSession, hours: Path, settings: Settings
) -> None:
    small = spark.createDataFrame([(1, "x")], "day int, name string")
    with settings({"spark.sql.optimizer.dynamicPartitionPruning.reuseBroadcastOnly": "false"}):
        joined = ds.read(spark).load(hours).join(small.where("name = 'x'"), "day")
        assert len(joined.collect()) == 50
        plan = joined._jdf.queryExecution().executedPlan().toString()
    assert "dynamicpruning" in plan


def test_a_mapped_table_is_filtered_by_its_physical_columns(spark: SparkSession, tmp_path: Path) -> None:
    columns = pa.schema([("a", pa.int64()), ("b", pa.int64()), ("p", pa.string())])
    properties = {"delta.columnMapping.mode": "name"}
    table = deltaic.Table.create(tmp_path / "t", columns, partition_by=["p"], properties=properties)
    for number in range(4):
        row = {"a": [number], "b": [-number], "p": [f"é={number % 2}"]}
        table.append(pa.table(row, schema=columns))
    # Names that are swapped would find other rows.
    table.alter(RenameColumn("a", "c"), RenameColumn("b", "a"), RenameColumn("c", "b"))
    frame = ds.read(spark).load(tmp_path / "t")
    assert opened(frame.where("b = 3"))[1] == 1
    assert opened(frame.where("a < -1 AND p = 'é=0'"))[1] == 1
    assert frame.where("a < -1 AND p = 'é=0'").collect()[0].b == 2


def test_a_table_that_replaces_another_is_not_taken_for_it(spark: SparkSession, tmp_path: Path) -> None:
    for number in (1, 2):
        shutil.rmtree(tmp_path / "t", ignore_errors=True)
        deltaic.write(tmp_path / "t", pa.table({"id": pa.array([number], pa.int64())}))
        frame = ds.read(spark).load(tmp_path / "t").cache()
        assert [row.id for row in frame.collect()] == [number]
    first, second = (indexes_of(ds.read(spark).load(tmp_path / "t"))[0] for _ in range(2))
    assert first.equals(second)
    spark.catalog.clearCache()


def test_equal_loads_are_one_cached_plan(spark: SparkSession, hours: Path) -> None:
    ds.read(spark).load(hours).where("id < 10").cache().count()
    again = ds.read(spark).load(hours).where("id < 10")
    assert "InMemoryTableScan" in again._jdf.queryExecution().executedPlan().toString()
    other = ds.read(spark).option("versionAsOf", 3).load(hours).where("id < 10")
    assert "InMemoryTableScan" not in other._jdf.queryExecution().executedPlan().toString()
    spark.catalog.clearCache()


@pytest.mark.parametrize("answer", [b"", b"\x00" * 3, None, "text", RuntimeError("callback")])
def test_an_answer_that_makes_no_sense_leaves_out_no_file(
    spark: SparkSession, hours: Path, monkeypatch: pytest.MonkeyPatch, answer: Any
) -> None:
    def answers(_self: classes.Callback, _tree: str) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    frame = ds.read(spark).load(hours)
    monkeypatch.setattr(classes.Callback, "apply", answers)
    assert opened(frame.where("id = 42"))[1] == FILES
    assert frame.where("id = 42").count() == 1


def test_the_size_of_the_files_is_known_to_the_optimizer(spark: SparkSession, hours: Path) -> None:
    frame = ds.read(spark).load(hours)
    size = frame._jdf.queryExecution().optimizedPlan().stats().sizeInBytes()
    assert int(str(size)) == deltaic.Table(hours).snapshot().size_in_bytes


def test_many_loads_leave_nothing_behind(spark: SparkSession, hours: Path) -> None:
    """Spark's index knows a function of Python, which goes when the index goes."""
    functions = cast("Any", spark.sparkContext)._gateway.gateway_property.pool
    system = cast("Any", spark)._jvm.java.lang.System

    def remaining() -> int:
        gc.collect()
        system.gc()
        system.runFinalization()
        return len(functions)

    before = remaining()
    for _ in range(40):
        ds.read(spark).load(hours)
    # The JVM collects them and releases them in Python in threads of its own, at times of its choice. A
    # leak keeps all 40 for ever.
    end = time.monotonic() + 120
    while (left := remaining()) >= before + 10 and time.monotonic() < end:
        time.sleep(0.1)
    assert left < before + 10


def test_no_janino(spark: SparkSession, hours: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a compiler in the driver, the data source reads, and `explain` and `status` say why."""
    jvm = cast("Any", spark)._jvm
    monkeypatch.setattr(classes, "_outcomes", [classes._Outcome(jvm, "", why_not="there is no Janino")])
    frame = ds.read(spark).load(hours)
    assert frame.where("id = 42").count() == 1
    assert "there is no Janino" in ds.explain(frame)
    assert "there is no Janino" in ds.status(spark)


def test_a_partition_column_of_every_type_is_exact(spark: SparkSession, tmp_path: Path) -> None:
    """protocol: partition-value-serialization.1, partition-value-serialization.2."""
    made = HandmadeTable(tmp_path / "t")
    texts = {
        "string": ["é/ =%", "b", None],
        "long": ["-1", "9223372036854775807", None],
        "decimal(10,3)": ["1.500", "-0.001", None],
        "date": ["1500-01-01", "9999-12-31", None],
        "timestamp": ["1900-01-01T12:00:00.000001Z", "2026-11-01 01:30:00", None],
        "timestamp_ntz": ["1900-01-01 12:00:00.000001", "2026-11-01 01:30:00", None],
        "double": ["NaN", "-0.0", None],
        "boolean": ["true", "false", None],
    }
    fields = [field(f"p{number}", kind) for number, kind in enumerate(texts)]
    names = [each["name"] for each in fields]
    made.commit(
        protocol(3, 7, ["timestampNtz"], ["timestampNtz"]), metadata(schema(field("id"), *fields), names)
    )
    for row in range(3):
        values = {f"p{number}": column[row] for number, column in enumerate(texts.values())}
        made.commit(made.data(f"{row}.parquet", pa.table({"id": pa.array([row], pa.int64())}), values=values))
    frame = ds.read(spark).load(made.root)
    exact = deltaic.Table(made.root).snapshot().scan().to_arrow()
    assert difference(frame.toArrow(), exact) is None
    for row in range(2):
        value = frame.where(f"id = {row}")
        for name in names:
            literal = value.select(name).first()[0]
            found = frame.where(frame[name] == lit(literal))
            assert [each.id for each in found.collect()] == [row], (name, literal)
            assert opened(found)[1] == 1
    assert opened(frame.where("p0 IS NULL"))[1] == 1
