"""The operations of streams, each of which Spark names by a key."""

from __future__ import annotations

import json
from typing import Any

from pyspark.sql.types import StructType

from deltaic.spark.sql.sessions import python_session
from deltaic.spark.stream.native import NativeStream, stream_schema

__all__ = ["Streams"]


class Streams:
    """The open streams of this process.

    Offsets, options and schemas are JSON; a session is Spark's own object.
    """

    def __init__(self) -> None:
        self._open: dict[str, NativeStream] = {}

    def schema(self, session: Any, options: str) -> str | None:
        """Returns the columns of a stream; None if the data source reads it."""
        schema = stream_schema(_zoned(session, options))
        return None if schema is None else schema.json()

    def open(self, session: Any, key: str, options: str, schema: str) -> None:
        """Opens a stream that has the columns of `schema`."""
        columns = StructType.fromJson(json.loads(schema))
        self._open[key] = NativeStream(_zoned(session, options), columns)

    def most(self, _session: Any, key: str) -> int:
        """Returns how many files a batch has at most, or how many bytes, as a negative number."""
        limits = self._open[key].limits
        return -(limits.max_bytes or 1) if limits.max_files is None else limits.max_files

    def stop_at_newest(self, _session: Any, key: str) -> None:
        """Ends a stream at the version that is newest now."""
        self._open[key].stop_at_newest()

    def latest(self, _session: Any, key: str, start: str | None, everything: bool) -> str:  # noqa: FBT001 - from Java
        """Returns the end of the next batch."""
        return self._open[key].latest(start, everything=everything)

    def newest(self, _session: Any, key: str) -> str:
        """Returns the end of the table."""
        return self._open[key].newest()

    def batch(self, session: Any, key: str, start: str | None, end: str) -> Any:
        """Returns the rows between two offsets, as Spark's own object of a DataFrame."""
        frame: Any = self._open[key].rows(python_session(session), start, end)
        return frame._jdf  # noqa: SLF001 - no public way

    def commit(self, _session: Any, key: str, end: str) -> None:
        """Releases what was read before an offset."""
        self._open[key].commit(end)

    def close(self, _session: Any, key: str) -> None:
        """Ends a stream."""
        self._open.pop(key, None)


def _zoned(session: Any, options: str) -> dict[str, str]:
    """Returns the options, with the session's zone for times without one."""
    given: dict[str, str] = json.loads(options)
    if all(name.lower() != "timezone" for name in given):
        given["timeZone"] = str(session.conf().get("spark.sql.session.timeZone"))
    return given
