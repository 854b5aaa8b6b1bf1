"""Tables that deltaic and delta-spark optimize in turn: rows, row ids, parameters and metrics are equal."""

# The names of tables are paths of the test.
# ruff: noqa: S608

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import deltaic
from tests.api.log_files import of_kind

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FORMS = {
    "plain": {},
    "vectors and row ids": {"delta.enableDeletionVectors": "true", "delta.enableRowTracking": "true"},
    "mapped": {"delta.columnMapping.mode": "name", "delta.enableChangeDataFeed": "true"},
}
FILES = 4


def made(spark: SparkSession, root: Path, form: str) -> None:
    """Creates a table of eight files of delta-spark in two partitions, from which rows are deleted."""
    properties = ", ".join(f"'{name}' = '{value}'" for name, value in FORMS[form].items())
    clause = f"TBLPROPERTIES ({properties})" if properties else ""
    spark.sql(f"CREATE TABLE delta.`{root}` (id BIGINT, p STRING) USING delta PARTITIONED BY (p) {clause}")
    for file in range(FILES):
        rows = ", ".join(f"({10 * file + row}, '{'ab'[row % 2]}')" for row in range(6))
        spark.sql(f"INSERT INTO delta.`{root}` SELECT /*+ COALESCE(1) */ * FROM VALUES {rows}")
    spark.sql(f"DELETE FROM delta.`{root}` WHERE id IN (2, 13)")


def rows_by_spark(spark: SparkSession, root: Path, form: str) -> list[Any]:
    ids = ", _metadata.row_id, _metadata.row_commit_version" if "row ids" in form else ""
    return spark.sql(f"SELECT id, p{ids} FROM delta.`{root}` ORDER BY id").collect()


def info_of(root: Path) -> dict[str, Any]:
    [info] = of_kind(root, deltaic.Table(root).snapshot().version, "commitInfo")
    assert info["operation"] == "OPTIMIZE"
    return info


@pytest.mark.parametrize("form", FORMS)
def test_both_optimize(spark: SparkSession, tmp_path: Path, form: str) -> None:
    made(spark, tmp_path / "ours", form)
    shutil.copytree(tmp_path / "ours", tmp_path / "theirs")
    expected = rows_by_spark(spark, tmp_path / "ours", form)
    deltaic.Table(tmp_path / "ours").optimize("p = 'a'")
    spark.sql(f"OPTIMIZE delta.`{tmp_path / 'theirs'}` WHERE p = 'a'")
    assert rows_by_spark(spark, tmp_path / "ours", form) == expected
    ours, theirs = info_of(tmp_path / "ours"), info_of(tmp_path / "theirs")
    assert ours["operationParameters"].keys() == theirs["operationParameters"].keys()
    for name in ("zOrderBy", "clusterBy", "auto"):
        assert ours["operationParameters"][name] == theirs["operationParameters"][name]
    assert ours["operationMetrics"].keys() == theirs["operationMetrics"].keys()
    for name in ("numRemovedFiles", "numRemovedBytes", "numAddedFiles", "numDeletionVectorsRemoved"):
        assert ours["operationMetrics"][name] == theirs["operationMetrics"][name], name
    # Each continues after the other.
    spark.sql(f"OPTIMIZE delta.`{tmp_path / 'ours'}`")
    deltaic.Table(tmp_path / "theirs").optimize()
    spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    for name in ("ours", "theirs"):
        root = tmp_path / name
        spark.sql(f"VACUUM delta.`{root}` RETAIN 0 HOURS")
        assert rows_by_spark(spark, root, form) == expected
        table = deltaic.Table(root)
        assert table.snapshot().num_files == 2
        ids = table.snapshot().scan().to_arrow().sort_by("id")["id"].to_pylist()
        assert ids == [row["id"] for row in expected]
        assert table.check(deep=True).is_healthy
        assert table.optimize().skipped
