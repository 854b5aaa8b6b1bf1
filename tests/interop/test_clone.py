"""Shallow clones: deltaic and delta-spark make the same, and each reads and changes those of the other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import deltaic
from tests.api.log_files import of_kind

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES = {
    "plain": ("", ""),
    "row_ids": (
        "",
        "'delta.enableDeletionVectors' = 'true', 'delta.enableRowTracking' = 'true', "
        "'delta.enableInCommitTimestamps' = 'true'",
    ),
    "mapped": ("PARTITIONED BY (part)", "'delta.columnMapping.mode' = 'name', 'mine' = '1'"),
    "clustered": ("CLUSTER BY (id)", "'delta.enableChangeDataFeed' = 'true'"),
}
"""Tables of delta-spark: clauses and properties."""


@pytest.fixture(params=TABLES)
def root(request: pytest.FixtureRequest, spark: SparkSession, tmp_path: Path) -> Path:
    folder = tmp_path / f"{request.param} ü%"
    clauses, properties = TABLES[request.param]
    properties = f"TBLPROPERTIES ({properties})" if properties else ""
    for statement in (
        f"CREATE TABLE {{}} (id BIGINT, part STRING, name STRING) USING delta {clauses} {properties}",
        "INSERT INTO {} SELECT id, CONCAT('p /%ü', id % 2), CAST(id AS STRING) FROM range(0, 20, 1, 1)",
        "INSERT INTO {} SELECT id, NULL, CAST(id AS STRING) FROM range(20, 30, 1, 1)",
        "DELETE FROM {} WHERE id IN (3, 24)",
    ):
        spark.sql(statement.format(f"delta.`{folder}`"))
    return folder


def ours(target: Path, *roots: Path) -> list[dict[str, Any]]:
    table = deltaic.Table(target, allowed_roots=roots)
    return table.snapshot().scan().to_arrow().sort_by("id").to_pylist()


def theirs(spark: SparkSession, target: Path) -> list[dict[str, Any]]:
    frame = spark.read.format("delta").load(str(target)).orderBy("id")
    return [row.asDict() for row in frame.collect()]


def committed(target: Path) -> dict[str, Any]:
    """Returns what the clones of two writers have in common."""
    [info] = of_kind(target, 0, "commitInfo")
    [metadata] = of_kind(target, 0, "metaData")
    [protocol] = of_kind(target, 0, "protocol")
    configuration = {
        name: value for name, value in metadata["configuration"].items() if "materialized" not in name
    }
    adds = sorted(of_kind(target, 0, "add"), key=lambda add: add["path"])
    for add in adds:
        for name in ("baseRowId", "defaultRowCommitVersion"):
            assert (name in add) == any("rowTracking" in name for name in protocol.get("writerFeatures", ()))
            add.pop(name, None)
    return {
        "operation": info["operation"],
        "parameters": info["operationParameters"],
        "metrics": info["operationMetrics"],
        "schema": metadata["schemaString"],
        "partitions": metadata["partitionColumns"],
        "configuration": configuration,
        "protocol": {
            name: sorted(value) if isinstance(value, list) else value for name, value in protocol.items()
        },
        "adds": [{name: value for name, value in add.items() if value is not None} for add in adds],
        "domains": sorted(domain["domain"] for domain in of_kind(target, 0, "domainMetadata")),
    }


def test_both_make_the_same_clone(spark: SparkSession, root: Path, tmp_path: Path) -> None:
    by_deltaic, by_spark = tmp_path / "by deltaic", tmp_path / "by spark"
    deltaic.Table(root).clone(by_deltaic)
    spark.sql(f"CREATE TABLE delta.`{by_spark}` SHALLOW CLONE delta.`{root}`")
    assert committed(by_deltaic) == committed(by_spark)
    rows = ours(root)
    assert len(rows) == 28
    for clone in (by_deltaic, by_spark):
        assert ours(clone, root) == rows
        assert theirs(spark, clone) == rows


def test_both_change_clones(spark: SparkSession, root: Path, tmp_path: Path) -> None:
    by_deltaic, by_spark = tmp_path / "by deltaic", tmp_path / "by spark"
    deltaic.Table(root).clone(by_deltaic, version=2)
    spark.sql(f"CREATE TABLE delta.`{by_spark}` SHALLOW CLONE delta.`{root}` VERSION AS OF 2")
    before = theirs(spark, root)
    for clone in (by_deltaic, by_spark):
        named = f"delta.`{clone}`"
        assert len(theirs(spark, clone)) == 30
        spark.sql(f"DELETE FROM {named} WHERE id = 5")  # noqa: S608 - our own folder
        spark.sql(f"UPDATE {named} SET name = 'new' WHERE id = 6")  # noqa: S608
        table = deltaic.Table(clone, allowed_roots=[root])
        table.delete("id = 7")
        table.update({"name": "'newer'"}, "id = 8")
        spark.sql(f"INSERT INTO {named} VALUES (100, 'p', 'x')")  # noqa: S608
        rows = ours(clone, root)
        assert rows == theirs(spark, clone)
        assert len(rows) == 29
        assert {row["id"]: row["name"] for row in rows if row["id"] in (6, 8)} == {6: "new", 8: "newer"}
    assert theirs(spark, root) == before


def test_a_clone_is_brought_up_to_date(spark: SparkSession, root: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    table = deltaic.Table(root)
    table.clone(clone, version=1)
    deltaic.Table(clone, allowed_roots=[root]).append(table.snapshot(1).scan(predicate="id = 1").to_arrow())
    commit = table.clone(clone, if_exists="replace")
    assert commit.version == 2
    assert theirs(spark, clone) == ours(clone, root) == ours(root)
    spark.sql(f"DELETE FROM delta.`{clone}` WHERE id < 10")  # noqa: S608 - our own folder
    assert theirs(spark, clone) == ours(clone, root)
