"""The operations of names: a path or a location becomes the rows of a version."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

from pyspark import SparkContext
from pyspark.sql import SparkSession

from deltaic.exceptions import TableNotFound
from deltaic.spark.reader import Reader
from deltaic.table import Table

__all__ = ["exists", "load"]

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def load(session: Any, path: str, version: str | None, microseconds: int | None) -> Any:
    """Returns the rows of a table as Spark's own object of a DataFrame; None if there is no table.

    Args:
        session: Spark's own object of the session.
        path: Path or URI of the table.
        version: The version to read, as text.
        microseconds: The time whose version is read, since 1970.
    """
    reader = Reader(_python_session(session))
    reader.option("versionAsOf", version)
    if microseconds is not None:
        reader.option("timestampAsOf", _EPOCH + timedelta(microseconds=microseconds))
    try:
        frame: Any = reader.load(path)
    except TableNotFound:
        return None
    return frame._jdf  # noqa: SLF001 - no public way


def exists(_session: Any, path: str) -> bool:
    """Whether there is a table at a path or URI."""
    return Table.exists(path)


def _python_session(session: Any) -> SparkSession:
    context: Any = SparkContext._active_spark_context  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
    return SparkSession(context, session)
