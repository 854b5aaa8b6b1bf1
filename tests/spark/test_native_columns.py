"""The native scan of mapped and widened columns: the table's names and types, with Spark's own pruning."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

import deltaic
import deltaic.spark as ds
from tests.golden.rows import difference
from tests.protocol.handmade_log import HandmadeTable, field, metadata, protocol, schema
from tests.protocol.test_column_mapping import (
    LISTED,
    array,
    change,
    file_of,
    held,
    map_of,
    mapped,
    struct,
)

from .plans import plan_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def nested(root: Path) -> HandmadeTable:
    """Nested structs, in arrays and in maps, all with physical names."""
    made = HandmadeTable(root)
    columns = [
        mapped("a b", 1),
        mapped("s", 2, struct(mapped("x", 3), mapped("t", 4, struct(mapped("y", 5, "string"))))),
        mapped("l", 6, array(struct(mapped("e", 7)))),
        mapped("m", 8, map_of("string", struct(mapped("v", 9)))),
    ]
    made.commit(LISTED, change("name", *columns))
    inner = pa.struct([held(5, pa.string())])
    kinds = {
        1: pa.int64(),
        2: pa.struct([held(3), pa.field("col-4", inner)]),
        6: pa.list_(pa.struct([held(7)])),
        8: pa.map_(pa.string(), pa.struct([held(9)])),
    }
    rows: dict[int, list[object]] = {
        1: [1, 2, 3],
        2: [{"col-3": 10, "col-4": {"col-5": "x"}}, None, {"col-3": None, "col-4": None}],
        6: [[{"col-7": 5}, None], [], None],
        8: [[("k", {"col-9": 6})], [("z", None)], None],
    }
    columns_of_file = {held(number, kinds[number]): rows[number] for number in kinds}
    made.commit(file_of(made, "a.parquet", columns_of_file))
    return made


def test_nested_columns_have_the_tables_names(spark: SparkSession, tmp_path: Path) -> None:
    """protocol: reader-requirements-for-column-mapping.2."""
    made = nested(tmp_path / "t")
    frame = ds.read(spark).load(made.root)
    assert "native" in ds.explain(frame)
    expected = deltaic.Table(made.root).snapshot().scan().to_arrow()
    assert difference(frame.toArrow(), expected) is None
    assert "col-" not in frame.schema.json()


def test_spark_reads_single_fields_of_mapped_structs(spark: SparkSession, tmp_path: Path) -> None:
    frame = ds.read(spark).load(nested(tmp_path / "t").root)
    assert [row.y for row in frame.select("s.t.y").collect()] == ["x", None, None]
    assert frame.where("s is null").count() == 1
    assert frame.where("`a b` = 3").select("s.x").first() == (None,)
    if spark.version >= "4.1":  # Spark 4.0 would return NULL for structs if a file lacks their fields
        assert "ReadSchema: struct<col-2:struct<col-4:struct<col-5:string>>>" in plan_of(
            frame.select("s.t.y")
        )
    assert "PushedFilters: [IsNotNull(`col-1`), EqualTo(`col-1`,3)]" in plan_of(frame.where("`a b` = 3")) or (
        "EqualTo(col-1,3)" in plan_of(frame.where("`a b` = 3"))
    )


def test_names_that_were_swapped(spark: SparkSession, tmp_path: Path) -> None:
    """Filters use physical names, so they never apply to the other column."""
    made = HandmadeTable(tmp_path / "t")
    swapped = [
        field("a", **{"delta.columnMapping.id": 1, "delta.columnMapping.physicalName": "b"}),
        field("b", **{"delta.columnMapping.id": 2, "delta.columnMapping.physicalName": "a"}),
    ]
    made.commit(LISTED, change("name", *swapped))
    made.commit(made.data("x.parquet", pa.table({"a": [5, 6], "b": [50, 60]})))
    frame = ds.read(spark).load(made.root)
    assert [tuple(row) for row in frame.where("b = 5").collect()] == [(50, 5)]
    assert frame.where("a = 5").count() == 0


def test_row_ids_of_fresh_and_copied_rows(spark: SparkSession, tmp_path: Path) -> None:
    """protocol: reader-requirements-for-row-tracking.2, reader-requirements-for-row-tracking.4."""
    features = ["rowTracking", "domainMetadata"]
    settings = {
        "delta.enableRowTracking": "true",
        "delta.rowTracking.materializedRowIdColumnName": "_id-of-row",
        "delta.rowTracking.materializedRowCommitVersionColumnName": "_version-of-row",
    }
    made = HandmadeTable(tmp_path / "t")
    made.commit(protocol(1, 7, None, features), metadata(schema(field("id")), (), settings))
    fresh = {"baseRowId": 100, "defaultRowCommitVersion": 7}
    copied = pa.table(
        {
            "id": [3, 4],
            "_id-of-row": pa.array([9, None], pa.int64()),
            "_version-of-row": pa.array([2, None], pa.int64()),
        }
    )
    made.commit(
        made.data("a.parquet", pa.table({"id": [1, 2]}), **fresh),
        made.data("b.parquet", copied, baseRowId=200, defaultRowCommitVersion=8),
    )
    frame = ds.read(spark).option("rowIds", "true").load(made.root)
    assert "native" in ds.explain(frame)
    assert sorted(tuple(row) for row in frame.collect()) == [
        (1, 100, 7),
        (2, 101, 7),
        (3, 9, 2),
        (4, 201, 8),
    ]
