"""The operations that read tables: a name, or the options of a format, becomes the rows of a version."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import Any

from deltaic.exceptions import TableNotFound
from deltaic.spark.reader import Reader
from deltaic.spark.sql.sessions import python_session
from deltaic.table import Table

__all__ = ["exists", "load", "read"]

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def load(session: Any, path: str, version: str | None, microseconds: int | None) -> Any:
    """Returns the rows of a table as Spark's own object of a DataFrame; None if there is no table.

    Args:
        session: Spark's own object of the session.
        path: Path or URI of the table.
        version: The version to read, as text.
        microseconds: The time whose version is read, since 1970.
    """
    reader = Reader(python_session(session))
    reader.option("versionAsOf", version)
    if microseconds is not None:
        reader.option("timestampAsOf", _EPOCH + timedelta(microseconds=microseconds))
    try:
        frame: Any = reader.load(path)
    except TableNotFound:
        return None
    return frame._jdf  # noqa: SLF001 - no public way


def read(session: Any, options: str) -> Any:
    """Returns the rows that options select, as `load` does; None if only the data source reads them.

    Args:
        session: Spark's own object of the session.
        options: The options of the user by name, as JSON.
    """
    given: dict[str, str] = json.loads(options)
    if any(name.lower() == "timezone" for name in given):
        # Spark evaluates conditions in the session's zone, the data source in this one.
        return None
    path = next((given.pop(name) for name in list(given) if name.lower() == "path"), None)
    if path is None:
        return None
    frame: Any = Reader(python_session(session)).options(**given).load_natively(path)
    return None if frame is None else frame._jdf  # noqa: SLF001 - no public way


def exists(_session: Any, path: str) -> bool:
    """Whether there is a table at a path or URI."""
    return Table.exists(path)
