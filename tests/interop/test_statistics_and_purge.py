"""Statistics that were computed again, and purged files: delta-spark skips by them, and purges alike."""

# The names of tables are paths of the test.
# ruff: noqa: S608

from __future__ import annotations

import shutil
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import deltaic
from tests.api.log_files import of_kind

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FORMS = {
    "plain": {},
    "vectors and row ids": {"delta.enableDeletionVectors": "true", "delta.enableRowTracking": "true"},
    "mapped": {"delta.columnMapping.mode": "name", "delta.enableDeletionVectors": "true"},
}
CONDITIONS = [
    "id = 12",
    "id = 13",
    "id BETWEEN 10 AND 12",
    "name IS NULL",
    "name IS NOT NULL",
    "name = 'n21'",
]
FILES = 4


def made(spark: SparkSession, root: Path, form: str, **more: str) -> None:
    """Creates a table of files of delta-spark in two partitions, from which rows are deleted."""
    properties = ", ".join(f"'{name}' = '{value}'" for name, value in (FORMS[form] | more).items())
    clause = f"TBLPROPERTIES ({properties})" if properties else ""
    spark.sql(
        f"CREATE TABLE delta.`{root}` (id BIGINT, name STRING, p STRING) USING delta "
        f"PARTITIONED BY (p) {clause}"
    )
    for file in range(FILES):
        rows = ", ".join(
            f"({10 * file + row}, IF({row} = 3, NULL, 'n{10 * file + row}'))" for row in range(6)
        )
        spark.sql(
            f"INSERT INTO delta.`{root}` SELECT /*+ COALESCE(1) */ col1, col2, '{'ab'[file % 2]}' "
            f"FROM VALUES {rows}"
        )
    spark.sql(f"DELETE FROM delta.`{root}` WHERE id IN (10, 13, 23)")


def rows_by_spark(spark: SparkSession, root: Path, form: str) -> list[Any]:
    ids = ", _metadata.row_id, _metadata.row_commit_version" if "row ids" in form else ""
    return spark.sql(f"SELECT *{ids} FROM delta.`{root}` ORDER BY id").collect()


@pytest.mark.parametrize("form", ["log", "checkpoint", "their checkpoint"])
def test_delta_spark_reads_bounds_of_booleans_and_of_the_end_of_time(
    spark: SparkSession, tmp_path: Path, form: str
) -> None:
    end = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=timezone.utc)
    kind = pa.timestamp("us", "UTC")
    rows = {"id": [1, 2], "current": [True, False], "until": pa.array([end, end - timedelta(days=1)], kind)}
    table = deltaic.Table.create(tmp_path / "t", pa.table(rows).schema)
    for row in range(2):
        table.append(pa.table(rows).slice(row, 1))
    if form == "checkpoint":
        table.checkpoint()
    elif form == "their checkpoint":
        properties = "'delta.checkpointInterval' = '3'"
        spark.sql(f"ALTER TABLE delta.`{table.uri}` SET TBLPROPERTIES ({properties})")
    until = "TIMESTAMP '9999-12-31 23:59:59.999999'"
    for condition, expected in (
        ("current", [1]),
        ("NOT current", [2]),
        ("current = false", [2]),
        (f"until = {until}", [1]),
        (f"until < {until}", [2]),
        (f"until > {until} - INTERVAL 1 MICROSECOND", [1]),
    ):
        found = spark.sql(f"SELECT id FROM delta.`{table.uri}` WHERE {condition}").collect()
        assert [row.id for row in found] == expected, condition


@pytest.mark.parametrize("form", FORMS)
def test_delta_spark_skips_by_our_statistics(
    spark: SparkSession,
    tmp_path: Path,
    form: str,
) -> None:
    root = tmp_path / "t"
    made(spark, root, form, **{"delta.dataSkippingNumIndexedCols": "0"})
    expected = rows_by_spark(spark, root, form)
    select = f"SELECT id FROM delta.`{root}` WHERE {{}} ORDER BY id"
    found = {text: spark.sql(select.format(text)).collect() for text in CONDITIONS}
    assert len(spark.sql(select.format("id = 12")).inputFiles()) == FILES
    table = deltaic.Table(root)
    # delta-spark uses only statistics of the columns that the properties select.
    table.alter(deltaic.alter.SetProperties({"delta.dataSkippingNumIndexedCols": "32"}))
    commit = table.recompute_statistics()
    assert commit.metrics["numFilesUpdated"] == FILES
    assert rows_by_spark(spark, root, form) == expected
    for text, rows in found.items():
        assert spark.sql(select.format(text)).collect() == rows, text
    assert len(spark.sql(select.format("id = 12")).inputFiles()) == 1
    # The bounds are those of the remaining rows.
    assert len(spark.sql(select.format("id = 10")).inputFiles()) == 0
    newest = spark.sql(f"DESCRIBE HISTORY delta.`{root}` LIMIT 1").collect()[0]
    assert (newest.operation, newest.operationParameters) == ("COMPUTE STATS", {"predicate": "[]"})
    # Each continues after the other.
    spark.sql(f"UPDATE delta.`{root}` SET name = 'x' WHERE id = 11")
    spark.sql(f"DELETE FROM delta.`{root}` WHERE id = 12")
    spark.sql(f"OPTIMIZE delta.`{root}`")
    ids = [row.id for row in expected if row.id != 12]
    assert [row.id for row in rows_by_spark(spark, root, form)] == ids
    assert table.snapshot().scan().to_arrow().sort_by("id")["id"].to_pylist() == ids
    assert table.check(deep=True).is_healthy


@pytest.mark.parametrize("form", FORMS)
def test_our_statistics_equal_those_of_delta_spark(
    spark: SparkSession,
    tmp_path: Path,
    form: str,
) -> None:
    """Files of delta-spark keep their statistics, except where deleted rows made the bounds wide."""
    root = tmp_path / "t"
    made(spark, root, form)
    vectors = [
        file["deletion_vector"] for file in deltaic.Table(root).snapshot().files().to_arrow().to_pylist()
    ]
    commit = deltaic.Table(root).recompute_statistics()
    updated = sum(vector is not None for vector in vectors)
    assert (commit.skipped, commit.metrics.get("numFilesUpdated", 0)) == (updated == 0, updated)


def info_of(root: Path) -> dict[str, Any]:
    [info] = of_kind(root, deltaic.Table(root).snapshot().version, "commitInfo")
    assert info["operation"] == "REORG"
    return info


@pytest.mark.parametrize(
    ("form", "drops"),
    [("vectors and row ids", False), ("mapped", False), ("mapped", True)],
    ids=["vectors and row ids", "mapped", "dropped column"],
)
def test_both_purge(
    spark: SparkSession,
    tmp_path: Path,
    form: str,
    drops: bool,
) -> None:
    made(spark, tmp_path / "ours", form)
    if drops:
        spark.sql(f"ALTER TABLE delta.`{tmp_path / 'ours'}` DROP COLUMN name")
    shutil.copytree(tmp_path / "ours", tmp_path / "theirs")
    expected = rows_by_spark(spark, tmp_path / "ours", form)
    deltaic.Table(tmp_path / "ours").purge("p = 'b'")
    spark.sql(f"REORG TABLE delta.`{tmp_path / 'theirs'}` WHERE p = 'b' APPLY (PURGE)")
    assert rows_by_spark(spark, tmp_path / "ours", form) == expected
    ours, theirs = info_of(tmp_path / "ours"), info_of(tmp_path / "theirs")
    assert ours["operationParameters"].keys() == theirs["operationParameters"].keys()
    assert ours["operationParameters"]["applyPurge"] == theirs["operationParameters"]["applyPurge"]
    assert ours["operationMetrics"].keys() == theirs["operationMetrics"].keys()
    for name in ("numRemovedFiles", "numRemovedBytes", "numAddedFiles", "numDeletionVectorsRemoved"):
        assert ours["operationMetrics"][name] == theirs["operationMetrics"][name], name
    # Each continues after the other, and finds nothing after itself.
    spark.sql(f"REORG TABLE delta.`{tmp_path / 'ours'}` APPLY (PURGE)")
    deltaic.Table(tmp_path / "theirs").purge()
    for name in ("ours", "theirs"):
        root = tmp_path / name
        table, version = deltaic.Table(root), deltaic.Table(root).snapshot().version
        assert table.purge().skipped
        spark.sql(f"REORG TABLE delta.`{root}` APPLY (PURGE)")
        assert table.snapshot().version == version
        assert rows_by_spark(spark, root, form) == expected
        assert table.check(deep=True).is_healthy
