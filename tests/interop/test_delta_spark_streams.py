"""A stream of deltaic returns the same rows as delta-spark's, for a table that delta-spark wrote."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import deltaic.spark as ds

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

FEED = {"readChangeFeed": "true"}


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Inserts, deletes of rows and of a partition, an update, a merge, an optimize, and another insert."""
    folder = tmp_path_factory.mktemp("streams") / "t"
    name = f"delta.`{folder}`"
    for statement in (
        "CREATE TABLE $T (id BIGINT, name STRING, r INT) USING delta PARTITIONED BY (r) "
        "TBLPROPERTIES (delta.enableChangeDataFeed = true, delta.enableDeletionVectors = true)",
        "INSERT INTO $T SELECT id, concat('n', id), id % 3 FROM range(12)",
        "INSERT INTO $T SELECT id, concat('n', id), id % 3 FROM range(12, 20)",
        "DELETE FROM $T WHERE r = 2",
        "UPDATE $T SET name = 'new' WHERE id IN (3, 4)",
        "DELETE FROM $T WHERE id = 7",
        "MERGE INTO $T t USING (SELECT id, 'merged' AS name, 0 AS r FROM range(9, 40, 6)) s "
        "ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET name = s.name WHEN NOT MATCHED THEN INSERT *",
        "OPTIMIZE $T",
        "INSERT INTO $T VALUES (100, 'last', NULL)",
    ):
        spark.sql(statement.replace("$T", name)).collect()
    return folder


def streamed(
    spark: SparkSession,
    source: str,
    table: Path,
    folder: Path,
    options: Mapping[str, str],
) -> list[Row]:
    stream = spark.readStream.format(source).options(**options).load(str(table))
    query = (
        stream.writeStream.format("memory").queryName(f"of_{source}")
        .option("checkpointLocation", str(folder / source)).trigger(availableNow=True).start()
    )  # fmt: skip
    try:
        query.awaitTermination()
        rows = spark.table(f"of_{source}").collect()
    finally:
        query.stop()
        spark.catalog.dropTempView(f"of_{source}")
    return sorted(rows, key=str)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"maxFilesPerTrigger": "2"},
        {"startingVersion": "8"},
        {"startingVersion": "0", "ignoreChanges": "true", "maxFilesPerTrigger": "1"},
        {"startingVersion": "0", "skipChangeCommits": "true"},
        {**FEED, "maxFilesPerTrigger": "1"},
        {**FEED, "startingVersion": "0"},
        {**FEED, "startingVersion": "3", "maxFilesPerTrigger": "1"},
    ],
    ids=str,
)
def test_streams_give_the_same_rows(
    spark: SparkSession,
    table: Path,
    tmp_path: Path,
    options: Mapping[str, str],
) -> None:
    ds.register(spark)
    theirs = streamed(spark, "delta", table, tmp_path, options)
    assert streamed(spark, "deltaic", table, tmp_path, options) == theirs
    assert theirs


@pytest.mark.parametrize(
    "options", [{"startingVersion": "0"}, {"startingVersion": "0", "ignoreDeletes": "true"}]
)
def test_streams_stop_at_the_same_commits(
    spark: SparkSession,
    table: Path,
    tmp_path: Path,
    options: Mapping[str, str],
) -> None:
    ds.register(spark)
    version = "4" if "ignoreDeletes" in options else "3"
    for source in ("delta", "deltaic"):
        with pytest.raises(Exception, match=rf"version {version}\b"):
            streamed(spark, source, table, tmp_path, options)
