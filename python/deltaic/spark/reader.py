"""`deltaic.spark.read(spark)`: options, then a path, then a DataFrame."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import date, datetime
from functools import partial
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from deltaic.engines.predicate_sql import to_sql
from deltaic.exceptions import UnsupportedExpression
from deltaic.spark.instants import instant, path_time
from deltaic.spark.option_names import hadoop_options
from deltaic.spark.option_values import as_flag, as_text
from deltaic.spark.read_options import ReadOptions
from deltaic.values.predicates import Expression
from deltaic.values.times import from_millis

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from deltaic.engines.predicate_sql import Predicate
    from deltaic.reading.schema import Schema

__all__ = ["Reader"]


class Reader:
    """Reads Delta tables as DataFrames; created by `deltaic.spark.read`.

    Options, with case-insensitive names as in Spark:

    - ``versionAsOf``: a version, as a number or its digits.
    - ``timestampAsOf``: the version that was current at this time. A date, a datetime, or text that Spark can
      cast to a timestamp, in the session's time zone unless it contains one.
    - ``timeZone``: the zone of times without one, instead of the session's.
    - ``readChangeFeed`` with ``startingVersion`` or ``startingTimestamp``, and ``endingVersion`` or
      ``endingTimestamp``: reads row-level changes instead of rows.
    - ``predicate``: SQL text, as for `where`.
    - ``rowIds``: true adds ``_row_id`` and ``_row_commit_version``; requires row tracking.
    - ``fileModificationTime``: true adds ``_file_modification_time``, the modification time of a row's file
      according to the log. (With Spark Connect, ``_metadata.file_modification_time`` may be another number.)
    - Storage options, with the names of `deltaic.Table`. Spark's own reader needs them in its Hadoop
      configuration; those that begin with ``fs.`` are passed to it.

    The snapshot is the table at the time of `load`: the DataFrame does not include later commits.

    Example:
        >>> Reader(spark).option("versionAsOf", 0).load("data/events")  # doctest: +SKIP
        DataFrame[id: bigint, day: date]
    """

    def __init__(self, spark: SparkSession) -> None:
        self._is_connect = type(spark).__module__.startswith("pyspark.sql.connect")
        if not self._is_connect and not isinstance(spark, SparkSession):  # pyright: ignore[reportUnnecessaryIsInstance] - for untyped callers
            raise TypeError(f"a SparkSession is needed, not {type(spark).__name__}")
        self._spark = spark
        self._options: dict[str, object] = {}
        self._conditions: list[Predicate] = []

    def option(self, key: str, value: object) -> Reader:
        """Sets one option; None unsets it. `load` raises for unknown options."""
        self._options = {name: each for name, each in self._options.items() if name.lower() != key.lower()}
        if value is not None:
            self._options[key] = value
        return self

    def options(self, **options: object) -> Reader:
        """Sets several options, see `option`."""
        for key, value in options.items():
            self.option(key, value)
        return self

    def where(self, condition: Predicate) -> Reader:
        """Filters rows by a condition; several conditions are combined with AND.

        Files without matching rows are left out before Spark plans the read. In a classic session, filters
        after `load` leave them out too.

        Args:
            condition: SQL text as for `DataFrame.where`, or an expression of `deltaic.col`.
        """
        self._conditions.append(condition)
        return self

    def load(self, path: str | os.PathLike[str]) -> DataFrame:
        """Loads the table at this path or URI, at the version that the options select, else the newest.

        A path may end in ``@v12`` for a version, or in ``@20261101120000000`` for a time.

        Raises:
            TableNotFound: There is no table at this location.
            VersionNotFound: The version or time is outside of the table's range.
            UnsupportedFeature: The table has a feature that is not implemented.
            CorruptData: A local data file is missing.
            InvalidPredicate: Spark does not understand a condition.
            ValueError: An option is not known, its value is invalid, or two contradict each other.
        """
        if self._is_connect:
            return self._on_the_server(os.fspath(path))
        return self._load(os.fspath(path), self._by_source)

    def load_natively(self, path: str) -> DataFrame | None:
        """Loads like `load` in a classic session; None if only the data source reads this."""
        try:
            return self._load(path, _refuse)
        except _OnlyBySource:
            return None

    def _load(self, path: str, by_source: Callable[[ReadOptions, str | None], DataFrame]) -> DataFrame:
        given = next((value for name, value in self._options.items() if name.lower() == "timezone"), None)
        zone = as_text("timeZone", given)
        options = ReadOptions.parse(
            {**self._options, "path": path},
            partial(_instant, self._spark, zone),
            path_instant=partial(
                path_time, time_zone=zone or self._spark.conf.get("spark.sql.session.timeZone")
            ),
        )
        snapshot = options.snapshot()
        pinned = options.pinned(snapshot)
        predicate = self._predicate(options.predicate, snapshot.schema)
        if pinned.changes is not None:
            frame = by_source(pinned, None)
            return frame if predicate is None else frame.where(predicate)
        from deltaic.spark.native.choose_path import ReadRequest, choose_path

        request = ReadRequest(
            predicate=predicate,
            row_ids=options.row_ids,
            modification_time=options.modification_time,
            hadoop_options=hadoop_options(options.storage_options),
        )
        return choose_path(self._spark, snapshot, request, partial(by_source, pinned))

    def _on_the_server(self, path: str) -> DataFrame:
        """Loads with Spark Connect; possibly only the server can reach the table."""
        from deltaic.spark.native.connect import planned_on_the_server
        from deltaic.spark.native.pruning import changed_meaning
        from deltaic.spark.source.registration import register_sources

        given = {name.lower(): value for name, value in self._options.items()}
        predicate = self._predicate(as_text("predicate", given.pop("predicate", None)), None)
        zone = str(self._spark.conf.get("spark.sql.session.timeZone"))
        options = {"timezone": zone, "path": path}
        options.update((name, str(value)) for name, value in given.items())
        if not any(
            as_flag(name, given.get(name.lower(), False)) for name in ("readChangeFeed", "readChangeData")
        ):
            # Spark evaluates row conditions itself, with the session's zone and semantics.
            requested = {} if predicate is None or changed_meaning(self._spark) else {"predicate": predicate}
            planned = planned_on_the_server(self._spark, {**options, **requested, "timezone": zone})
            if not isinstance(planned, dict):
                return planned if predicate is None else planned.where(predicate)
            options.pop("timestampasof", None)
            options.update(planned)
        register_sources(self._spark)
        frame = self._spark.read.format("deltaic").options(**options).load()
        return frame if predicate is None else frame.where(predicate)

    def _by_source(self, options: ReadOptions, predicate: str | None) -> DataFrame:
        from deltaic.spark.source.registration import register_sources

        register_sources(self._spark)
        return self._spark.read.format("deltaic").options(**options.as_options(predicate)).load()

    def _predicate(self, given: str | None, schema: Schema | None) -> str | None:
        conditions = [*self._conditions, *([] if given is None else [given])]
        texts = [_sql(condition, schema) for condition in conditions]
        if len(texts) < 2:
            return texts[0] if texts else None
        # A text may end with a comment.
        return " AND ".join(f"({text}\n)" for text in texts)


class _OnlyBySource(Exception):
    """Only the data source reads this."""


def _refuse(_options: ReadOptions, _predicate: str | None) -> DataFrame:
    raise _OnlyBySource


def _sql(condition: Predicate, schema: Schema | None) -> str | None:
    if schema is not None:
        return to_sql(condition, schema)
    if isinstance(condition, (str, Expression)):
        return condition if isinstance(condition, str) else condition.sql
    raise UnsupportedExpression(
        "with Spark Connect a condition must be SQL text or an expression of deltaic.col(…)",
        context={"expression": str(condition)},
    )


def _instant(spark: SparkSession, zone: str | None, name: str, value: object) -> datetime:
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value
    if not isinstance(value, str | date):
        raise ValueError(f"{name} must be text, a date or a datetime, not {value!r}")
    if zone is not None:
        return instant(name, value, zone)
    # The session's time zone and Spark's timestamp syntax apply, so Spark does the cast.
    cast = "SELECT unix_millis(try_cast(:value AS TIMESTAMP_LTZ)) AS milliseconds"
    row = spark.sql(cast, args={"value": str(value)}).first()
    milliseconds: int | None = row[0] if row else None
    if milliseconds is None:
        raise ValueError(
            f"{name} is not a time: {value!r}; write it as '2026-11-01', '2026-11-01 12:30:00' "
            "or '2026-11-01T12:30:00Z'"
        )
    return from_millis(milliseconds)
