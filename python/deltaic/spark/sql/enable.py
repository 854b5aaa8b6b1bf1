"""Adds Delta tables to the SQL of a session that exists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltaic.spark.runtime.classes import RuntimeUnavailable, jar_loader, java_classes
from deltaic.spark.runtime.door import Door
from deltaic.spark.runtime.formats import add_formats
from deltaic.spark.source.registration import provide_sources, register_sources
from deltaic.spark.sql.streams import Streams
from deltaic.spark.sql.tables import exists, load, read
from deltaic.spark.sql.writes import save, sink_batch, sink_check

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["enable_session", "is_enabled", "why_no_sql"]

_CATALOG = "spark.sql.catalog.spark_catalog"
_CONNECT = "this is Spark Connect, whose server has no classes of deltaic"
# Attributes of a Python session that it computes from Spark's own object.
_KEPT = ("_catalog", "catalog", "_conf", "conf", "_udf", "udf")
_streams = Streams()
_door = Door(
    {
        "load": load,
        "read": read,
        "exists": exists,
        "save": save,
        "sink_check": sink_check,
        "sink_batch": sink_batch,
        "stream_schema": _streams.schema,
        "stream_open": _streams.open,
        "stream_most": _streams.most,
        "stream_stop_at_newest": _streams.stop_at_newest,
        "stream_latest": _streams.latest,
        "stream_newest": _streams.newest,
        "stream_batch": _streams.batch,
        "stream_commit": _streams.commit,
        "stream_close": _streams.close,
    }
)


def enable_session(spark: SparkSession) -> None:
    """Registers the data source, and adds SQL to a classic session in place, if its Spark allows it."""
    register_sources(spark)
    if why_no_sql(spark) is not None or is_enabled(spark):
        return
    session: Any = spark
    classes, old, jvm = java_classes(spark), session._jsparkSession, session._jvm  # noqa: SLF001
    _door.connect(classes)
    provide_sources(spark, classes)
    add_formats(spark, classes, jar_loader(jvm))
    classes.Extensions.inject(old.extensions())
    # A session has its rules from the start: the clone has the same views, functions and settings.
    new = old.cloneSession()
    catalog = classes.DeltaCatalog().getClass().getName()
    new.conf().set(_CATALOG, catalog)
    session._jsparkSession = new  # noqa: SLF001
    for name in _KEPT:
        session.__dict__.pop(name, None)
    sessions = jvm.org.apache.spark.sql.classic.SparkSession
    if _is(sessions.getDefaultSession(), old):
        sessions.setDefaultSession(new)
        # For sessions that `newSession` makes; they share the rules.
        session.sparkContext._jsc.sc().conf().set(_CATALOG, catalog)  # noqa: SLF001
    if _is(sessions.getActiveSession(), old):
        sessions.setActiveSession(new)


def why_no_sql(spark: SparkSession) -> str | None:
    """Returns why the session cannot get SQL of deltaic; None if it can, or has it."""
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        return _CONNECT
    try:
        java_classes(spark)
    except RuntimeUnavailable as error:
        return str(error)
    catalog = spark.conf.get(_CATALOG, None)
    if catalog is not None and not is_enabled(spark):
        return f"{_CATALOG} is {catalog}"
    return None


def is_enabled(spark: SparkSession) -> bool:
    """Whether a classic session has SQL of deltaic."""
    catalog = str(spark.conf.get(_CATALOG, ""))
    return catalog.startswith("deltaic.") and catalog.endswith(".DeltaCatalog")


def _is(found: Any, session: Any) -> bool:
    return bool(found.isDefined()) and bool(found.get().equals(session))
