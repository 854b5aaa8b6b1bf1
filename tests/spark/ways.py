"""The two ways to read a table through Spark, for tests that apply to both."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import deltaic.spark as ds

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Load = Callable[..., "DataFrame"]
"""From a path and options to a DataFrame."""

WAYS = ("native", "source")


def loader(spark: SparkSession, way: str) -> Load:
    """Returns a function that loads a table with Spark's native reader, or as the data source "deltaic"."""

    def native(path: str | os.PathLike[str], **options: Any) -> DataFrame:
        return ds.read(spark).options(**options).load(path)

    def source(path: str | os.PathLike[str], **options: Any) -> DataFrame:
        return spark.read.format("deltaic").options(**options).load(os.fspath(path))

    if way == "native":
        return native
    ds.register(spark)
    return source
