"""Converted folders: deltaic and delta-spark make the same table, and each reads and changes the other's."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import deltaic
from tests.api.log_files import of_kind

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def ours(root: Path) -> list[dict[str, Any]]:
    return deltaic.Table(root).snapshot().scan().to_arrow().sort_by("id").to_pylist()


def theirs(spark: SparkSession, root: Path) -> list[dict[str, Any]]:
    return [row.asDict() for row in spark.read.format("delta").load(str(root)).orderBy("id").collect()]


def with_nulls(schema: Any) -> Any:
    """Allows NULL everywhere: delta-spark retains what its own files say of it."""
    if isinstance(schema, list):
        return [with_nulls(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    flags = ("nullable", "containsNull", "valueContainsNull")
    return {key: True if key in flags else with_nulls(part) for key, part in schema.items()}


def committed(root: Path) -> dict[str, Any]:
    [info] = of_kind(root, 0, "commitInfo")
    [metadata] = of_kind(root, 0, "metaData")
    return {
        "operation": info["operation"],
        "parameters": info["operationParameters"],
        "metrics": info["operationMetrics"],
        "schema": with_nulls(json.loads(metadata["schemaString"])),
        "partitions": metadata["partitionColumns"],
        "configuration": metadata["configuration"],
        "adds": sorted(
            (
                add["path"],
                tuple(sorted(add["partitionValues"].items())),
                add["size"],
                add["modificationTime"],
                json.loads(add["stats"])["numRecords"],
                add["dataChange"],
            )
            for add in of_kind(root, 0, "add")
        ),
    }


def test_both_convert_alike(spark: SparkSession, tmp_path: Path) -> None:
    by_deltaic, by_spark = tmp_path / "by deltaic", tmp_path / "by spark"
    frame = spark.sql(
        "SELECT id, CAST(id AS STRING) AS name, CAST(id AS DECIMAL(12, 3)) AS price, "
        "CAST(id AS DOUBLE) / 3 AS share, timestamp_seconds(id * 100000) AS at, "
        "named_struct('x', CAST(id AS INT), 'l', array(id)) AS s, "
        "IF(id % 3 = 0, NULL, CONCAT('a/b %', id % 3)) AS part, "
        "DATE'2026-11-01' + CAST(id % 2 AS INT) AS day "
        "FROM range(0, 50, 1, 2)"
    )
    frame.write.partitionBy("part", "day").parquet(str(by_deltaic))
    shutil.copytree(by_deltaic, by_spark)
    columns = [deltaic.Column("part", "string"), deltaic.Column("day", "date")]
    deltaic.Table.convert(by_deltaic, columns)
    spark.sql(f"CONVERT TO DELTA parquet.`{by_spark}` PARTITIONED BY (part STRING, day DATE)")
    expected = committed(by_spark)
    for key, found in committed(by_deltaic).items():
        assert found == expected[key], key
    rows = ours(by_deltaic)
    assert len(rows) == 50
    assert ours(by_spark) == rows
    for root in (by_deltaic, by_spark):
        frame = spark.read.format("delta").load(str(root))
        assert frame.filter("id > 40 AND name >= '45'").count() == 5
        assert frame.filter("part IS NULL AND price < 10").count() == 4
        assert frame.selectExpr("min(id)", "max(id)", "count(*)").collect()[0] == (0, 49, 50)
        spark.sql(f"DELETE FROM delta.`{root}` WHERE id < 10")  # noqa: S608 - our own folder
        deltaic.Table(root).update({"name": "'new'"}, "id = 20")
        found = theirs(spark, root)
        assert len(found) == len(ours(root)) == 40
        assert [row["name"] for row in found if row["id"] == 20] == ["new"]
