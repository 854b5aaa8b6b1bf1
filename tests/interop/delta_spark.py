"""A Spark session with delta-spark, and what it reads of a table."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.spark import java

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

JARS = Path(sys.prefix) / "jars"
PUSHDOWN = "spark.sql.parquet.filterPushdown"


def start(warehouse: Path) -> SparkSession:
    """Starts a session with delta-spark; skips the test if something is missing for it."""
    jars = sorted(map(str, JARS.glob("*.jar")))
    if not jars:
        pytest.skip("missing: delta-spark's jars, which Maven (mvn) fetches")
    if not java.is_installed():
        pytest.skip("missing: Java, for Spark")
    from pyspark.sql import SparkSession

    os.environ["LC_ALL"] = "C.UTF-8"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": java.OPTIONS,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.jars": ",".join(jars),
        "spark.log.level": "ERROR",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        # Compiling and adapting queries takes longer than running them on a few rows.
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.codegen.wholeStage": "false",
        # The number of tasks with which delta-spark lists a table for VACUUM; the default is 10,000.
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
        "spark.databricks.delta.snapshotPartitions": "2",
        # Columns that are mapped by id are found by it.
        "spark.sql.parquet.fieldId.read.enabled": "true",
        "spark.sql.warehouse.dir": str(warehouse),
        "spark.sql.ui.retainedExecutions": "10",
        "spark.ui.enabled": "false",
        "spark.ui.retainedJobs": "10",
        "spark.ui.retainedStages": "10",
        "spark.ui.showConsoleProgress": "false",
    }
    return SparkSession.builder.master("local[2]").appName("interop").config(map=settings).getOrCreate()


def theirs(spark: SparkSession, folder: Path, version: int | None = None) -> DataFrame:
    """Returns the rows that delta-spark reads."""
    reader = spark.read.format("delta")
    return (reader if version is None else reader.option("versionAsOf", version)).load(str(folder))
