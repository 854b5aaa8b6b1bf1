"""The Python data source under a name of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltaic.spark.source.data_source import DeltaicSource

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def in_python(spark: SparkSession) -> str:
    """Registers the data source by a name that no class of the JVM has, and returns the name.

    After `deltaic.spark.enable`, a class of the JVM writes the format "deltaic" of all sessions.
    """
    name = "deltaic_in_python"
    # Workers get the class by value, because they cannot import this module.
    source = type("Source", (DeltaicSource,), {"name": classmethod(lambda _: name), "__module__": "__main__"})
    spark.dataSource.register(source)
    return name
