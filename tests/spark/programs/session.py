"""A local Spark session for a program."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING

from tests.spark import java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def session(master: str, **settings: str) -> SparkSession:
    """Returns a session with these settings; two underscores in a name mean a dot."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName("a test's program")
    builder = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
    builder = builder.config("spark.driver.extraJavaOptions", java.SHORT)
    builder = builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.log.level", "ERROR").config("spark.sql.shuffle.partitions", "2")
    builder = builder.config("spark.sql.warehouse.dir", f"file://{tempfile.gettempdir()}/warehouse")
    for name, value in settings.items():
        builder = builder.config(name.replace("__", "."), value)
    return builder.getOrCreate()
