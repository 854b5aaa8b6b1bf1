"""The text of `deltaic.spark.status`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from deltaic.spark.frame_write.parquet_tasks import why_not
from deltaic.spark.runtime.classes import RuntimeUnavailable, java_classes
from deltaic.spark.sql.enable import is_enabled, why_no_sql

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["status_of"]


def status_of(spark: SparkSession) -> str:
    """Returns a few lines of text."""
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        return (
            f"Spark {spark.version}, Connect\n"
            "  native reads  by lists of files on the host of the driver\n"
            f"  sql           no: {why_no_sql(spark)}"
        )
    jvm: Any = cast("Any", spark)._jvm  # noqa: SLF001 - no public way
    try:
        java_classes(spark)
        native = "yes: classes of deltaic run in the driver"
    except RuntimeUnavailable as error:
        native = f"no, the data source reads: {error}"
    why = why_not(spark)
    writes = "yes: Spark's own Parquet writer" if why is None else f"no, tasks of deltaic write: {why}"
    java = jvm.System.getProperty("java.version")
    no_sql = why_no_sql(spark)
    sql = f"no: {no_sql}" if no_sql else "yes" if is_enabled(spark) else "after deltaic.spark.enable"
    return (
        f"Spark {spark.version}, Java {java}\n"
        f"  native reads  {native}\n"
        f"  native writes {writes}\n"
        f"  sql           {sql}"
    )
