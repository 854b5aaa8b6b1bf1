"""Registration of the data sources in a session."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from pyspark.errors import PySparkException

from deltaic.spark.source.data_source import DeltaicSource, DeltaSource
from deltaic.spark.workers import explain_missing_package, use_python_of_driver

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["active", "provide_sources", "register_sources"]

_TAKEN = "DATA_SOURCE_ALREADY_EXISTS"


def register_sources(spark: SparkSession) -> None:
    """Registers ``"deltaic"``, and ``"delta"`` if no jar provides that name."""
    if is_connect(spark):
        _register(spark)
        return
    use_python_of_driver(spark.sparkContext)
    explain_missing_package()
    with active(spark):
        _register(spark)


def is_connect(spark: SparkSession) -> bool:
    """Whether a session is one of Spark Connect."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def _register(spark: SparkSession) -> None:
    for source in (DeltaicSource, DeltaSource):
        try:
            spark.dataSource.register(source)
        except PySparkException as error:  # noqa: PERF203 - of each
            if error.getCondition() != _TAKEN:
                raise


def provide_sources(spark: SparkSession, classes: Any) -> None:
    """Gives the sources to the formats of the same names, which leave reading to them in every session."""
    from pyspark.sql import udf

    session: Any = spark
    python = session._jvm.org.apache.spark.sql.execution.datasources.v2.python  # noqa: SLF001 - no public way
    for source in (DeltaicSource, DeltaSource):
        wrapped = cast("Any", udf)._wrap_function(spark.sparkContext, source)  # noqa: SLF001
        classes.FormatProvider.provide(source.name(), python.UserDefinedPythonDataSource(wrapped))


@contextmanager
def active(spark: SparkSession) -> Generator[None]:
    """Makes a session the active one, in which Spark looks for a source of the same name."""
    session: Any = spark
    sessions = session._jvm.org.apache.spark.sql.classic.SparkSession  # noqa: SLF001 - no public way
    before = sessions.getActiveSession()
    sessions.setActiveSession(session._jsparkSession)  # noqa: SLF001
    try:
        yield
    finally:
        if before.isDefined():
            sessions.setActiveSession(before.get())
        else:
            sessions.clearActiveSession()
