"""Restored tables: deltaic and delta-spark commit the same, and each restores what the other restored."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import deltaic
from tests.api.log_files import of_kind

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES = {
    "row_ids": (
        "",
        "'delta.enableDeletionVectors' = 'true', 'delta.enableRowTracking' = 'true', "
        "'delta.enableInCommitTimestamps' = 'true'",
    ),
    "mapped": ("PARTITIONED BY (part)", "'delta.columnMapping.mode' = 'name'"),
    "clustered": ("CLUSTER BY (id)", "'delta.enableChangeDataFeed' = 'true'"),
}
"""Tables of delta-spark: clauses and properties."""

RESTORED = 3


@pytest.fixture(params=TABLES)
def root(request: pytest.FixtureRequest, spark: SparkSession, tmp_path: Path) -> Path:
    """A table whose files, properties and columns changed after the version that is restored."""
    folder = tmp_path / request.param
    clauses, properties = TABLES[request.param]
    named = f"delta.`{folder}`"
    run = [
        f"CREATE TABLE {{}} (id BIGINT, part INT, name STRING) USING delta {clauses} "
        f"TBLPROPERTIES ({properties})",
        "INSERT INTO {} SELECT id, CAST(id % 2 AS INT), CAST(id AS STRING) FROM range(0, 20, 1, 1)",
        "INSERT INTO {} SELECT id, CAST(id % 2 AS INT), CAST(id AS STRING) FROM range(20, 30, 1, 1)",
        "DELETE FROM {} WHERE id IN (3, 24)",
        "DELETE FROM {} WHERE id IN (4, 25)",
        "INSERT INTO {} SELECT id, 1, 'new' FROM range(30, 33, 1, 1)",
        "ALTER TABLE {} ADD COLUMNS (more INT)",
        "ALTER TABLE {} SET TBLPROPERTIES ('mine' = 'x', 'delta.minWriterVersion' = '7')",
    ]
    if request.param == "clustered":
        run.append("ALTER TABLE {} CLUSTER BY (name)")
    for statement in run:
        spark.sql(statement.format(named))
    return folder


def rows(root: Path) -> list[dict[str, Any]]:
    return deltaic.Table(root).snapshot().scan().to_arrow().sort_by("id").to_pylist()


def committed(root: Path, version: int) -> dict[str, Any]:
    """Returns what a commit has in common with one of another writer."""

    def without(action: dict[str, Any], *names: str) -> dict[str, Any]:
        return {name: value for name, value in action.items() if name not in names and value is not None}

    [info] = of_kind(root, version, "commitInfo")
    return {
        "operation": info["operation"],
        "metrics": {name: int(value) for name, value in info["operationMetrics"].items()},
        "adds": sorted(
            (without(add, "stats", "modificationTime") for add in of_kind(root, version, "add")),
            key=lambda add: add["path"],
        ),
        "removes": sorted(
            (without(remove, "stats", "deletionTimestamp") for remove in of_kind(root, version, "remove")),
            key=lambda remove: remove["path"],
        ),
        "domains": {
            domain["domain"]: json.loads(domain["configuration"])
            for domain in of_kind(root, version, "domainMetadata")
        },
    }


def test_both_restore_the_same_and_continue(
    spark: SparkSession,
    root: Path,
    tmp_path: Path,
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(root, copy)
    newest = deltaic.Table(root).snapshot().version
    now = rows(root)
    spark.sql(f"RESTORE TABLE delta.`{root}` TO VERSION AS OF {RESTORED}")
    commit = deltaic.Table(copy).restore(RESTORED)
    mine, theirs = deltaic.Table(copy).snapshot(), deltaic.Table(root).snapshot()
    assert mine.version == theirs.version == commit.version
    assert mine.schema.to_json() == theirs.schema.to_json()
    # deltaic does not let the highest column id decrease, so that no id is given twice.
    highest = "delta.columnMapping.maxColumnId"
    properties = {name: value for name, value in mine.properties.items() if name != highest}
    assert properties == {name: value for name, value in theirs.properties.items() if name != highest}
    assert mine.partition_columns == theirs.partition_columns
    assert mine.protocol.writer_features == theirs.protocol.writer_features
    assert committed(copy, mine.version) == committed(root, theirs.version)
    then = rows(root)
    assert rows(copy) == then
    assert spark.read.format("delta").load(str(copy)).orderBy("id").toArrow().to_pylist() == then
    # Each restores what the other wrote.
    spark.sql(f"RESTORE TABLE delta.`{copy}` TO VERSION AS OF {newest}")
    assert rows(copy) == now
    deltaic.Table(copy).restore(commit.version)
    spark.sql(f"INSERT INTO delta.`{copy}` SELECT 99L, 1, 'last'")
    assert rows(copy) == [*then, {"id": 99, "part": 1, "name": "last"}]
    report = deltaic.Table(copy).check(deep=True)
    assert report.is_healthy, str(report)


def test_a_repaired_table(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "repaired"
    spark.range(0, 10, 1, 2).write.format("delta").save(str(folder))
    gone, left = (add["path"] for add in of_kind(folder, 0, "add"))
    (folder / gone).unlink()
    assert deltaic.Table(folder).repair().missing_files == [gone]
    expected = spark.read.parquet(str(folder / left)).orderBy("id").toArrow().to_pylist()
    assert spark.read.format("delta").load(str(folder)).orderBy("id").toArrow().to_pylist() == expected
    [newest, _] = spark.sql(f"DESCRIBE HISTORY delta.`{folder}`").collect()
    assert (newest.operation, newest.operationMetrics["numRemovedFiles"]) == ("FSCK", "1")
