"""Sessions of Spark as those of PySpark."""

from __future__ import annotations

from typing import Any

from pyspark import SparkContext
from pyspark.sql import SparkSession

__all__ = ["python_session"]


def python_session(session: Any) -> SparkSession:
    """Returns the session of PySpark for Spark's own object of it."""
    context: Any = SparkContext._active_spark_context  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
    return SparkSession(context, session)
