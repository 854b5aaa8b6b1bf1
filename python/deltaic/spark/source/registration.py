"""Registration of the data sources in a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.errors import PySparkException

from deltaic.spark.source.data_source import DeltaicSource, DeltaSource

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["register_sources"]

_TAKEN = "DATA_SOURCE_ALREADY_EXISTS"


def register_sources(spark: SparkSession) -> None:
    """Registers ``"deltaic"``, and ``"delta"`` if no jar provides that name."""
    _register(spark, DeltaicSource)
    _register(spark, DeltaSource)


def _register(spark: SparkSession, source: type[DeltaicSource]) -> None:
    try:
        spark.dataSource.register(source)
    except PySparkException as error:
        if error.getCondition() != _TAKEN:
            raise
