"""The native scan: Spark's plan for a snapshot's files, and that only Spark reads them."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import deltaic
import deltaic.spark as ds
from tests.golden.rows import difference
from tests.protocol.handmade_log import ONE_LONG, HandmadeTable, add, field, ids, metadata, protocol, schema

from .plans import plan_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def sales(tmp_path: Path) -> Path:
    """Two partitions, each with two files."""
    rows = pa.table(
        {
            "id": pa.array(range(40), pa.int64()),
            "region": ["EU", "US"] * 20,
            "amount": [float(n) for n in range(40)],
        }
    )
    table = deltaic.Table.create(tmp_path / "sales", rows.schema, partition_by=["region"])
    table.append(rows.slice(0, 20))
    table.append(rows.slice(20))
    return tmp_path / "sales"


def test_the_plan_is_native_and_vectorised(spark: SparkSession, tmp_path: Path) -> None:
    rows = pa.table({"id": [1, 2], "region": ["EU", "Übersee"], "amount": [1.0, 9.0]})
    deltaic.Table.create(tmp_path / "t", rows.schema, partition_by=["region"]).append(rows)
    plan = plan_of(ds.read(spark).load(tmp_path / "t").where("amount > 5").select("amount", "region"))
    assert "Batched: true" in plan
    assert "Join" not in plan, "values of the log are constants of each file"
    assert "PushedFilters: [IsNotNull(amount), GreaterThan(amount,5.0)]" in plan
    assert "ReadSchema: struct<amount:double>" in plan, "columns are pruned"
    for foreign in ("Python", "ArrowEval", "SortMergeJoin", "CartesianProduct"):
        assert foreign not in plan


def test_partition_values_prune_in_spark(spark: SparkSession, sales: Path) -> None:
    frame = ds.read(spark).load(sales).where("region = 'EU'").select("amount", "region")
    plan = plan_of(frame)
    assert "Join" not in plan
    assert "PartitionFilters: [isnotnull(region" in plan
    assert frame.count() == 20


def test_a_table_without_partitions_is_a_bare_scan(spark: SparkSession, tmp_path: Path) -> None:
    made = HandmadeTable(tmp_path / "t")
    made.create(made.data("a.parquet", ids(1, 2)))
    plan = plan_of(ds.read(spark).load(made.root))
    assert "Batched: true" in plan
    assert "Join" not in plan


def test_columns_come_in_the_tables_order(spark: SparkSession, sales: Path) -> None:
    assert ds.read(spark).load(sales).columns == ["id", "region", "amount"]


def test_all_rows_with_their_partition(spark: SparkSession, sales: Path) -> None:
    frame = ds.read(spark).load(sales)
    assert frame.count() == 40
    assert difference(frame.toArrow(), deltaic.Table(sales).snapshot().scan().to_arrow()) is None
    assert frame.where("region = 'EU' AND id >= 20").count() == 10


def test_only_partition_columns(spark: SparkSession, sales: Path) -> None:
    frame = ds.read(spark).load(sales)
    assert sorted(map(tuple, frame.groupBy("region").count().collect())) == [("EU", 20), ("US", 20)]
    assert frame.select("region").distinct().count() == 2


def test_joins_with_other_tables_and_with_itself(spark: SparkSession, sales: Path) -> None:
    frame = ds.read(spark).load(sales)
    names = spark.createDataFrame([("EU", "Europe"), ("US", "America")], ["region", "name"])
    assert frame.join(names, "region").where("name = 'Europe'").count() == 20
    assert frame.join(frame.withColumnRenamed("amount", "other"), ["id", "region"]).count() == 40
    older = ds.read(spark).option("versionAsOf", 1).load(sales)
    assert frame.join(older, "id", "left_anti").count() == 20
    assert frame.union(older).count() == 60


def test_the_log_is_gone_after_load_and_nothing_needs_it(
    spark: SparkSession, sales: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    frame = ds.read(spark).load(sales)
    assert list(scratch.iterdir()) == []

    assert frame.count() == 40
    assert frame.repartition(3).where("id < 10").count() == 10
    frame.createOrReplaceTempView("sales_view")
    assert spark.sql("SELECT sum(amount) AS s FROM sales_view WHERE region = 'US'").first().s == 400.0
    frame.cache()
    assert frame.count() == 40
    spark.catalog.refreshTable("sales_view")
    spark.catalog.refreshByPath(str(sales))
    assert frame.count() == 40
    frame.unpersist()
    assert spark.table("sales_view").count() == 40
    spark.catalog.clearCache()
    spark.catalog.dropTempView("sales_view")
    assert frame.localCheckpoint().count() == 40
    frame.write.parquet(str(tmp_path / "out"))
    assert spark.read.parquet(str(tmp_path / "out")).count() == 40


def test_the_log_is_removed_when_the_load_fails(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = HandmadeTable(tmp_path / "t")
    made.create(add("missing.parquet"))
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    with pytest.raises(deltaic.CorruptData, match=r"missing\.parquet"):
        ds.read(spark).load(made.root)
    assert list(scratch.iterdir()) == []


def test_a_snapshot_is_pinned_at_load(spark: SparkSession, sales: Path) -> None:
    frame = ds.read(spark).load(sales)
    more = pa.table({"id": pa.array([99], pa.int64()), "region": ["EU"], "amount": [1.0]})
    deltaic.Table(sales).append(more)
    assert frame.count() == 40
    assert ds.read(spark).load(sales).count() == 41


def test_an_empty_table(spark: SparkSession, tmp_path: Path) -> None:
    for name, partition_by in (("plain", []), ("partitioned", ["b"])):
        fields = pa.schema([("a", pa.int64()), ("b", pa.string())])
        deltaic.Table.create(tmp_path / name, fields, partition_by=partition_by)
        frame = ds.read(spark).load(tmp_path / name)
        assert frame.collect() == []
        assert frame.count() == 0
        assert frame.schema.simpleString() == "struct<a:bigint,b:string>"


def test_a_table_all_of_whose_columns_are_partitions(spark: SparkSession, tmp_path: Path) -> None:
    made = HandmadeTable(tmp_path / "t")
    made.commit(protocol(), metadata(schema(field("p", "string"), field("q", "integer")), ["p", "q"]))
    made.commit(
        made.data("1.parquet", pa.table({"other": [1, 2, 3]}), values={"p": "x", "q": "1"}),
        made.data("2.parquet", pa.table({"p": ["not this"]}), values={"p": None, "q": "2"}),
    )
    frame = ds.read(spark).load(made.root)
    assert sorted(map(tuple, frame.collect()), key=str) == [("x", 1), ("x", 1), ("x", 1), (None, 2)]
    assert frame.count() == 4


def test_the_logs_partition_value_rules_over_the_files(spark: SparkSession, tmp_path: Path) -> None:
    made = HandmadeTable(tmp_path / "t")
    made.commit(protocol(), metadata(schema(field("p", "string"), field("a")), ["p"]))
    made.commit(made.data("p=path/1.parquet", pa.table({"a": [1], "p": ["file"]}), values={"p": "log"}))
    assert [tuple(row) for row in ds.read(spark).load(made.root).collect()] == [("log", 1)]


def test_columns_that_a_file_lacks_are_null(spark: SparkSession, tmp_path: Path) -> None:
    declared = schema(
        field("id"),
        field("gone", "integer", nullable=False),
        field("filled", "string", CURRENT_DEFAULT="'x'", EXISTS_DEFAULT="'x'"),
        field("nothing", "void"),
    )
    made = HandmadeTable(tmp_path / "t")
    made.commit(protocol(), metadata(declared))
    made.commit(made.data("1.parquet", ids(1, 2)))
    frame = ds.read(spark).load(made.root)
    assert [tuple(row) for row in frame.orderBy("id").collect()] == [
        (1, None, None, None),
        (2, None, None, None),
    ]
    assert frame.where("gone IS NULL").count() == 2
    assert frame.schema["nothing"].dataType.simpleString() == "void"


def test_a_struct_is_not_null_because_a_file_lacks_the_fields_requested(
    spark: SparkSession, tmp_path: Path
) -> None:
    struct = {"type": "struct", "fields": [field("a", "integer"), field("b", "integer")]}
    structs = {"type": "array", "elementType": struct, "containsNull": True}
    old = pa.struct([("a", pa.int32())])
    made = HandmadeTable(tmp_path / "t")
    made.commit(protocol(), metadata(schema(field("id"), field("s", struct), field("l", structs))))
    rows = {
        "id": pa.array([1, 2], pa.int64()),
        "s": pa.array([{"a": 7}, None], old),
        "l": pa.array([[{"a": 1}, None], None], pa.list_(old)),
    }
    made.commit(made.data("1.parquet", pa.table(rows)))
    frame = ds.read(spark).load(made.root)
    assert [tuple(row) for row in frame.where("s IS NOT NULL").select("id", "s.b").collect()] == [(1, None)]
    assert frame.where("s IS NOT NULL").select("s.b").count() == 1
    assert sorted(map(tuple, frame.selectExpr("id", "size(l)", "l.b").collect()), key=str) == [
        (1, 2, [None, None]),
        (2, None, None),
    ]


def test_awkward_column_names(spark: SparkSession, tmp_path: Path) -> None:
    names = ["a.b", "c`d", "_metadata", "ü ß", "file_modification_time", "__deltaic_file", "__deltaic_value0"]
    made = HandmadeTable(tmp_path / "t")
    made.commit(
        protocol(), metadata(schema(*map(field, names), field("p.q`r", "string")), partition_by=["p.q`r"])
    )
    rows = pa.table({name: pa.array([n], pa.int64()) for n, name in enumerate(names)})
    made.commit(made.data("1.parquet", rows, values={"p.q`r": "part"}))
    frame = ds.read(spark).load(made.root)
    assert frame.columns == [*names, "p.q`r"]
    assert tuple(frame.first()) == (*range(len(names)), "part")
    assert frame.where("`a.b` = 0 AND `p.q``r` = 'part'").count() == 1


PLACES = ["plain", "with blank", "per%20cent", "100%", "ü-é-日本", "a+b&c=d;e", "[x]{y}", "#q?w", "x:y"]


@pytest.mark.parametrize("place", PLACES)
def test_special_characters_in_paths(spark: SparkSession, tmp_path: Path, place: str) -> None:
    rows = pa.table({"id": pa.array([1, 2], pa.int64()), "p": [place, "other"]})
    table = deltaic.Table.create(tmp_path / place, rows.schema, partition_by=["p"])
    table.append(rows)
    frame = ds.read(spark).load(tmp_path / place)
    assert sorted(map(tuple, frame.collect())) == [(1, place), (2, "other")]


def test_a_table_that_another_place_holds_files_of(spark: SparkSession, tmp_path: Path) -> None:
    elsewhere = HandmadeTable(tmp_path / "else where")
    action = elsewhere.data("1.parquet", ids(5))
    made = HandmadeTable(tmp_path / "t")
    action["add"]["path"] = (tmp_path / "else where" / "1.parquet").as_uri()
    made.create(action)
    with pytest.raises(deltaic.PathEscape):
        ds.read(spark).load(made.root)


def test_a_wrong_size_in_the_log_loses_no_row(spark: SparkSession, tmp_path: Path) -> None:
    made = HandmadeTable(tmp_path / "t")
    action = made.data("1.parquet", ids(*range(1000)))
    action["add"]["size"] = 10
    made.create(action)
    assert ds.read(spark).load(made.root).count() == 1000


def test_a_file_that_vanishes_after_load_is_an_error(spark: SparkSession, tmp_path: Path) -> None:
    made = HandmadeTable(tmp_path / "t")
    made.create(made.data("1.parquet", ids(1)), made.data("2.parquet", ids(2)))
    frame = ds.read(spark).load(made.root)
    (made.root / "2.parquet").unlink()
    with pytest.raises(deltaic.CorruptData, match=r"2\.parquet"):
        frame.collect()


def test_the_modification_time_of_a_plain_tables_files_is_true(spark: SparkSession, tmp_path: Path) -> None:
    made = HandmadeTable(tmp_path / "t")
    action = made.data("1.parquet", ids(1))
    made.create(action)
    frame = ds.read(spark).load(made.root)
    told = frame.selectExpr("unix_millis(_metadata.file_modification_time) AS t").first().t
    assert told == action["add"]["modificationTime"]


@pytest.mark.parametrize(
    ("actions", "named"),
    [
        ([protocol(3, 7, ["deletionVectors", "fromTheFuture"], ["fromTheFuture"])], "fromTheFuture"),
        ([protocol(4, 7, [], [])], "4"),
    ],
)
def test_a_table_that_needs_more_is_refused(
    spark: SparkSession, tmp_path: Path, actions: list[dict[str, object]], named: str
) -> None:
    made = HandmadeTable(tmp_path / "t")
    made.commit(*actions, metadata(ONE_LONG))
    with pytest.raises(deltaic.UnsupportedFeature, match=named):
        ds.read(spark).load(made.root)


def test_void_inside_a_column_is_left_to_the_data_source(spark: SparkSession, tmp_path: Path) -> None:
    struct = {"type": "struct", "fields": [field("a", "void"), field("b", "long")]}
    made = HandmadeTable(tmp_path / "t")
    made.commit(protocol(), metadata(schema(field("s", struct))))
    frame = ds.read(spark).load(made.root)
    assert "data source: Spark's own reader does not read tables with void inside column s" in ds.explain(
        frame
    )
    assert frame.count() == 0
    with pytest.raises(deltaic.UnsupportedFeature) as refused:
        ds.read(spark).option("fileModificationTime", True).load(made.root)
    assert refused.value.hint == "leave out option fileModificationTime"
    assert refused.value.context["feature"] == "void"


def test_many_files(spark: SparkSession, tmp_path: Path) -> None:
    made = HandmadeTable(tmp_path / "t")
    made.commit(protocol(), metadata(schema(field("id"), field("p", "integer")), ["p"]))
    first = made.data("f0.parquet", ids(1))
    actions = []
    for number in range(300):
        if number:
            shutil.copy(made.root / "f0.parquet", made.root / f"f{number}.parquet")
        values = {"p": str(number)}
        actions.append({"add": {**first["add"], "path": f"f{number}.parquet", "partitionValues": values}})
    made.commit(*actions)
    frame = ds.read(spark).load(made.root)
    assert sorted(row.p for row in frame.collect()) == list(range(300))


def test_a_count_of_all_rows_is_reported_by_the_log(spark: SparkSession, sales: Path) -> None:
    frame = ds.read(spark).load(sales)
    for file in sales.rglob("*.parquet"):
        file.rename(file.with_suffix(".gone"))
    assert frame.count() == 40, "no file was opened"
    assert frame.where("true").count() == frame.select("id").count() == 40
    for asked in (frame.where("id >= 0"), frame.cache()):
        with pytest.raises(deltaic.CorruptData, match="a data file is missing"):
            asked.count()
    frame.unpersist()
    for file in sales.rglob("*.gone"):
        file.rename(file.with_suffix(".parquet"))
    assert frame.cache().count() == 40
    assert "InMemoryTableScan" in plan_of(frame.where("id > 3"))
    frame.unpersist()


def test_a_count_that_the_log_does_not_report(spark: SparkSession, tmp_path: Path) -> None:
    made = HandmadeTable(tmp_path / "t")
    made.create(made.data("a.parquet", ids(1, 2)))
    assert deltaic.Table(made.root).snapshot().num_rows is None
    assert ds.read(spark).load(made.root).count() == 2
