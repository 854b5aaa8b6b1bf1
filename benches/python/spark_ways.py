"""The ways to read a Delta table in PySpark: the session and the load of each.

The sessions differ only in what a way requires: delta-spark's jars and extensions.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from spark_queries import Query

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

JARS = Path(sys.prefix) / "jars"
SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    # Without memory a session hangs instead of failing.
    "spark.driver.extraJavaOptions": "-XX:+ExitOnOutOfMemoryError",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "4g",
    "spark.log.level": "ERROR",
    # Enables filter pushdown to Python data sources; it has no effect on the others.
    "spark.sql.python.filterPushdown.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


PLAIN_TYPES = {"string_view": "string", "binary_view": "binary"}


class AbsentError(Exception):
    """This way is not installed: it is not measured."""


@dataclass(frozen=True)
class Way:
    """How one peer reads."""

    title: str
    load: Callable[[SparkSession, str, Query], DataFrame]
    release: Callable[[], str]
    settings: Callable[[], dict[str, str]] = dict
    prepare: Callable[[SparkSession], None] = lambda _: None
    """Setup that a user does once per session."""
    forget: Callable[[SparkSession], None] = lambda _: None
    """Clears its caches between loads, besides Spark's own cache."""
    prove: Callable[[DataFrame], None] = lambda _: None
    """Raises if the table was not read in this way; called after the clock has stopped."""


def start(way: Way, scratch: str) -> SparkSession:
    """Starts a session with two cores for this way."""
    from pyspark.sql import SparkSession

    # A JVM opens files with non-ASCII names only in a UTF-8 locale.
    os.environ["LC_ALL"] = "C.UTF-8"
    os.environ["PYSPARK_PYTHON"] = sys.executable  # otherwise Python workers may use another environment
    settings: dict[str, Any] = {
        **SETTINGS,
        **way.settings(),
        "spark.sql.warehouse.dir": f"{scratch}/warehouse",
    }
    settings["spark.local.dir"] = scratch
    session = SparkSession.builder.master("local[2]").appName("bench").config(map=settings).getOrCreate()
    way.prepare(session)
    return session


def forget(way: Way, spark: SparkSession) -> None:
    """Clears all caches of tables that the session has read."""
    spark.catalog.clearCache()
    way.forget(spark)


def jvm(spark: SparkSession) -> Any:
    """Returns the session's JVM."""
    return cast("Any", spark)._jvm  # noqa: SLF001 - PySpark has no public way


def delta_jars() -> list[Path]:
    """Returns delta-spark's jars in the environment."""
    return sorted(JARS.glob("*.jar"))


def tuned_delta_settings() -> dict[str, str]:
    """Returns the settings of delta-spark's instructions, with as few snapshot partitions as cores."""
    return {**delta_settings(), "spark.databricks.delta.snapshotPartitions": "2"}


def delta_settings() -> dict[str, str]:
    """Returns the settings of delta-spark's instructions."""
    if not delta_jars():
        raise AbsentError("delta-spark's jars are not here: they come by Maven (mvn)")
    return {
        "spark.jars": ",".join(map(str, delta_jars())),
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    }


def delta_release() -> str:
    """Returns the version in the name of its jar."""
    names = [jar.stem for jar in delta_jars() if jar.name.startswith("delta-spark")]
    return names[0].rpartition("-")[2] if names else ""


def delta_forget(spark: SparkSession) -> None:
    """Clears delta-spark's cache of logs."""
    jvm(spark).org.apache.spark.sql.delta.DeltaLog.clearCache()


def finish_log(spark: SparkSession, path: str) -> None:
    """Lets delta-spark write the table's last commit, with its version checksum, and the checkpoint."""
    spark.sql(f"ALTER TABLE delta.`{path}` SET TBLPROPERTIES ('finished' = 'by delta-spark')")
    session = cast("Any", spark)._jsparkSession  # noqa: SLF001
    jvm(spark).org.apache.spark.sql.delta.DeltaLog.forTable(session, path).checkpoint()


def arrow_settings() -> dict[str, str]:
    """Without these settings, 20,000,000 rows of one column become JVM objects and exceed its memory."""
    return {
        "spark.sql.execution.arrow.localRelationThreshold": "0",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "500000",
    }


def load_delta(spark: SparkSession, path: str, _: Query) -> DataFrame:
    """Loads as delta-spark's users do."""
    return spark.read.format("delta").load(path)


def load_parquet(spark: SparkSession, path: str, _: Query) -> DataFrame:
    """Loads the table's folder with partition discovery; a manifest is in the same folder."""
    return spark.read.option("pathGlobFilter", "*.parquet").parquet(path)


def load_native(spark: SparkSession, path: str, query: Query) -> DataFrame:
    """Loads with the native scan; applies a filter before `load` if the query specifies it."""
    import deltaic.spark as ds

    reader = ds.read(spark)
    if query.told_before and query.where:
        reader = reader.where(query.where)
    return reader.load(path)


def prove_native(frame: DataFrame) -> None:
    """Raises if it was read by the data source instead, which is measured separately."""
    import deltaic.spark as ds

    said = ds.explain(frame)
    if not re.search(r"^ *way +native\b", said, re.MULTILINE):
        raise AssertionError(f"it was not read natively: {' '.join(said.split())}")


def deltaic_release() -> str:
    """Returns the version of the installed package."""
    import deltaic

    return deltaic.__version__


def register(spark: SparkSession) -> None:
    """Registers the data source."""
    import deltaic.spark as ds

    ds.register(spark)


def load_source(spark: SparkSession, path: str, _: Query) -> DataFrame:
    """Loads with the data source."""
    return spark.read.format("deltaic").load(path)


def load_arrow(spark: SparkSession, path: str, query: Query) -> DataFrame:
    """Reads the required columns with deltalake's own engine into memory and passes them to Spark.

    Its pyarrow dataset takes twice the time and does not support deletion vectors. Both apply the filter;
    PySpark does not accept deltalake's view types, nor many rows in its batches of 8,192.
    """
    import deltalake
    import pyarrow as pa

    table: Any = deltalake.DeltaTable(path)
    rows = pa.table(table.scan(columns=list(query.columns), predicate=query.where))
    fields = [pa.field(one.name, PLAIN_TYPES.get(str(one.type), one.type)) for one in rows.schema]
    return cast("Any", spark).createDataFrame(rows.cast(pa.schema(fields)).combine_chunks())


DELTA, PLAIN_DELTA = "delta-spark", "delta-spark-default"
PARQUET, NATIVE, SOURCE, ARROW = "parquet", "deltaic", "source", "deltalake"
WAYS = {
    DELTA: Way("delta-spark", load_delta, delta_release, tuned_delta_settings, forget=delta_forget),
    PLAIN_DELTA: Way("delta-spark, defaults", load_delta, delta_release, delta_settings, forget=delta_forget),
    PARQUET: Way("plain Parquet", load_parquet, lambda: version("pyspark")),
    NATIVE: Way("deltaic", load_native, deltaic_release, prove=prove_native),
    SOURCE: Way("deltaic source", load_source, deltaic_release, prepare=register),
    ARROW: Way("deltalake, Arrow", load_arrow, lambda: version("deltalake"), arrow_settings),
}
