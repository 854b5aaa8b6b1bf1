"""Registration of the data sources in a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.errors import PySparkException

from deltaic.spark.source.data_source import DeltaicSource, DeltaSource
from deltaic.spark.workers import explain_missing_package, use_python_of_driver

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["register_sources"]

_TAKEN = "DATA_SOURCE_ALREADY_EXISTS"


def register_sources(spark: SparkSession) -> None:
    """Registers ``"deltaic"``, and ``"delta"`` if no jar provides that name."""
    if not type(spark).__module__.startswith("pyspark.sql.connect"):
        use_python_of_driver(spark.sparkContext)
        explain_missing_package()
    _register(spark, DeltaicSource)
    _register(spark, DeltaSource)


def _register(spark: SparkSession, source: type[DeltaicSource]) -> None:
    try:
        spark.dataSource.register(source)
    except PySparkException as error:
        if error.getCondition() != _TAKEN:
            raise
