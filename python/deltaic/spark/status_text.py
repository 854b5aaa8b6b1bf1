"""The text of `deltaic.spark.status`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

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
    java = jvm.System.getProperty("java.version")
    why_not = why_no_sql(spark)
    sql = f"no: {why_not}" if why_not else "yes" if is_enabled(spark) else "after deltaic.spark.enable"
    return f"Spark {spark.version}, Java {java}\n  native reads  {native}\n  sql           {sql}"
