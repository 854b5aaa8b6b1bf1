"""Clustered tables that deltaic and delta-spark optimize in turn: each continues what the other clustered."""

# The names of tables are paths of the test.
# ruff: noqa: S608

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
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
COMPLETE = "spark.databricks.delta.optimize.clustering.mergeStrategy.minCubeSize.threshold"
# Names that Spark quotes, and one that it does not.
COLUMNS = "`to x`, s.`7`, plain_1"
TAG = '["`to x`","s.`7`","plain_1"]'
ROWS = 40
# The rows of one file become a complete ZCube.
SMALL = 8


@pytest.fixture
def complete_if_not_empty(spark: SparkSession) -> Iterator[None]:
    """Every ZCube is complete for delta-spark."""
    spark.conf.set(COMPLETE, "1")
    yield
    spark.conf.unset(COMPLETE)


def insert(spark: SparkSession, root: Path, first: int) -> None:
    numbers = range(first, first + ROWS)
    rows = ", ".join(f"({n}, {n * 7 % 11}, named_struct('7', {n * 5 % 13}), 'p{n % 3}')" for n in numbers)
    spark.sql(f"INSERT INTO delta.`{root}` SELECT /*+ COALESCE(1) */ * FROM VALUES {rows}")


def made(spark: SparkSession, root: Path, form: str = "plain") -> None:
    """Creates a clustered table of three files of delta-spark, from which rows are deleted."""
    properties = {"delta.columnMapping.mode": "name", **FORMS[form]}
    clause = ", ".join(f"'{name}' = '{value}'" for name, value in properties.items())
    columns = "id BIGINT, `to x` BIGINT, s STRUCT<`7`: BIGINT>, plain_1 STRING"
    spark.sql(
        f"CREATE TABLE delta.`{root}` ({columns}) USING delta CLUSTER BY ({COLUMNS}) TBLPROPERTIES ({clause})"
    )
    for file in range(3):
        insert(spark, root, file * ROWS)
    spark.sql(f"DELETE FROM delta.`{root}` WHERE id IN (2, 47)")


def rows_by_spark(spark: SparkSession, root: Path, form: str) -> list[Any]:
    ids = ", _metadata.row_id, _metadata.row_commit_version" if "row ids" in form else ""
    return spark.sql(f"SELECT *{ids} FROM delta.`{root}` ORDER BY id").collect()


def newest(root: Path) -> int:
    return deltaic.Table(root).snapshot().version


def clustered_by(root: Path) -> tuple[dict[str, Any], set[str], set[str], set[str]]:
    """Returns the last commit: its information, ZCubes, and the paths that it removed and added."""
    version = newest(root)
    [info] = of_kind(root, version, "commitInfo")
    assert info["operation"] == "OPTIMIZE"
    adds = of_kind(root, version, "add")
    assert {add["clusteringProvider"] for add in adds} == {"liquid"}
    assert all(add["tags"].keys() == {"ZCUBE_ID", "ZCUBE_ZORDER_BY"} for add in adds)
    assert {add["tags"]["ZCUBE_ZORDER_BY"] for add in adds} == {info["operationParameters"]["clusterBy"]}
    removes = {remove["path"] for remove in of_kind(root, version, "remove")}
    return info, {add["tags"]["ZCUBE_ID"] for add in adds}, removes, {add["path"] for add in adds}


def paths(root: Path) -> set[str]:
    return set(deltaic.Table(root).snapshot().files().to_arrow()["path"].to_pylist())


@pytest.mark.parametrize("form", FORMS)
def test_both_cluster(spark: SparkSession, tmp_path: Path, form: str) -> None:
    """protocol: writer-requirements-for-clustered-table.5."""
    made(spark, tmp_path / "ours", form)
    shutil.copytree(tmp_path / "ours", tmp_path / "theirs")
    expected = rows_by_spark(spark, tmp_path / "ours", form)
    deltaic.Table(tmp_path / "ours").optimize()
    spark.sql(f"OPTIMIZE delta.`{tmp_path / 'theirs'}`")
    (ours, our_cubes, our_removes, _), (theirs, their_cubes, their_removes, _) = (
        clustered_by(tmp_path / name) for name in ("ours", "theirs")
    )
    assert ours["operationParameters"] == theirs["operationParameters"]
    assert ours["operationParameters"]["clusterBy"] == TAG
    assert ours["operationMetrics"].keys() == theirs["operationMetrics"].keys()
    for name in ("numRemovedFiles", "numRemovedBytes", "numAddedFiles", "numDeletionVectorsRemoved"):
        assert ours["operationMetrics"][name] == theirs["operationMetrics"][name], name
    assert our_removes == their_removes
    assert (len(our_cubes), len(their_cubes)) == (1, 1)
    # A second run of the other writer finds nothing to do.
    for root in (tmp_path / "ours", tmp_path / "theirs"):
        version = newest(root)
        spark.sql(f"OPTIMIZE delta.`{root}`")
        spark.sql(f"OPTIMIZE delta.`{root}` FULL")
        assert newest(root) == version
        assert deltaic.Table(root).optimize().skipped
        assert deltaic.Table(root).optimize(full=True).skipped
        assert rows_by_spark(spark, root, form) == expected
    # Each continues the cube of the other.
    for root in (tmp_path / "ours", tmp_path / "theirs"):
        insert(spark, root, 1000)
        everything = paths(root)
        if root.name == "ours":
            spark.sql(f"OPTIMIZE delta.`{root}`")
        else:
            deltaic.Table(root).optimize()
        _, cubes, removes, _ = clustered_by(root)
        assert (len(cubes), removes) == (1, everything)
        table = deltaic.Table(root)
        assert len(rows_by_spark(spark, root, form)) == table.snapshot().scan().count() == 4 * ROWS - 2
        assert table.check(deep=True).is_healthy


@pytest.mark.usefixtures("complete_if_not_empty")
def test_complete_cubes_stay(spark: SparkSession, tmp_path: Path) -> None:
    made(spark, tmp_path)
    table = deltaic.Table(tmp_path)
    table.optimize(target_file_size=SMALL)
    _, cubes, _, complete = clustered_by(tmp_path)
    assert len(cubes) > 1
    insert(spark, tmp_path, 1000)
    new = paths(tmp_path) - complete
    spark.sql(f"OPTIMIZE delta.`{tmp_path}`")
    _, _, removes, _ = clustered_by(tmp_path)
    assert removes == new
    # The cube of delta-spark is complete for us, too, if the target size is small.
    complete = paths(tmp_path)
    insert(spark, tmp_path, 2000)
    new = paths(tmp_path) - complete
    table.optimize(target_file_size=SMALL)
    _, _, removes, _ = clustered_by(tmp_path)
    assert removes == new


@pytest.mark.usefixtures("complete_if_not_empty")
def test_full(spark: SparkSession, tmp_path: Path) -> None:
    made(spark, tmp_path / "ours")
    spark.sql(f"OPTIMIZE delta.`{tmp_path / 'ours'}`")
    spark.sql(f"ALTER TABLE delta.`{tmp_path / 'ours'}` CLUSTER BY (id)")
    insert(spark, tmp_path / "ours", 1000)
    spark.sql(f"OPTIMIZE delta.`{tmp_path / 'ours'}`")
    _, _, _, of_id = clustered_by(tmp_path / "ours")
    insert(spark, tmp_path / "ours", 2000)
    others = paths(tmp_path / "ours") - of_id
    shutil.copytree(tmp_path / "ours", tmp_path / "theirs")
    expected = rows_by_spark(spark, tmp_path / "ours", "plain")
    deltaic.Table(tmp_path / "ours").optimize(full=True, target_file_size=SMALL)
    spark.sql(f"OPTIMIZE delta.`{tmp_path / 'theirs'}` FULL")
    for name in ("ours", "theirs"):
        info, _, removes, _ = clustered_by(tmp_path / name)
        assert removes == others
        parameters = info["operationParameters"]
        assert (json.loads(parameters["clusterBy"]), parameters["isFull"]) == (["id"], True)
        assert rows_by_spark(spark, tmp_path / name, "plain") == expected
    before = newest(tmp_path / "ours")
    spark.sql(f"OPTIMIZE delta.`{tmp_path / 'ours'}` FULL")
    assert newest(tmp_path / "ours") == before
    assert deltaic.Table(tmp_path / "theirs").optimize(full=True, target_file_size=SMALL).skipped


def test_both_refuse(spark: SparkSession, tmp_path: Path) -> None:
    made(spark, tmp_path)
    table = deltaic.Table(tmp_path)
    for statement in (None, f"ALTER TABLE delta.`{tmp_path}` CLUSTER BY NONE"):
        if statement is not None:
            spark.sql(statement)
        for clause, request in {
            "WHERE id = 1": {"where": "id = 1"},
            "ZORDER BY (id)": {"zorder_by": ["id"]},
        }.items():
            with pytest.raises(Exception, match="DELTA_CLUSTERING_WITH_"):
                spark.sql(f"OPTIMIZE delta.`{tmp_path}` {clause}")
            with pytest.raises((ValueError, deltaic.InvalidPredicate), match="clustered table"):
                table.optimize(**request)
    with pytest.raises(Exception, match="DELTA_OPTIMIZE_FULL_NOT_SUPPORTED"):
        spark.sql(f"OPTIMIZE delta.`{tmp_path}` FULL")
    with pytest.raises(ValueError, match="full may be given only"):
        table.optimize(full=True)
