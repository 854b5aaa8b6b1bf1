"""Registration of the data sources in a session."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from pyspark.errors import PySparkException

from deltaic.spark.runtime.formats import is_format_of
from deltaic.spark.source.data_source import DeltaicSource, DeltaSource
from deltaic.spark.workers import explain_missing_package, use_python_of_driver

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["active", "register_sources"]

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
            if not is_connect(spark) and is_format_of(spark, source.name()):
                _register_beside(spark, source)


def _register_beside(spark: SparkSession, source: type[DeltaicSource]) -> None:
    """Registers a source as Spark does, beside the format of the same name, which leaves reading to it."""
    from pyspark.sql import udf

    session: Any = spark
    wrapped = cast("Any", udf)._wrap_function(spark.sparkContext, source)  # noqa: SLF001 - no public way
    python = session._jvm.org.apache.spark.sql.execution.datasources.v2.python  # noqa: SLF001
    manager = session._jsparkSession.sessionState().dataSourceManager()  # noqa: SLF001
    try:
        manager.registerDataSource(source.name(), python.UserDefinedPythonDataSource(wrapped))
    except PySparkException as error:
        # Spark has found the package's own source of this name.
        if error.getCondition() != _TAKEN:
            raise


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
