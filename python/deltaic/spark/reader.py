"""`deltaic.spark.read(spark)`: options, then a path, then a DataFrame."""

from __future__ import annotations

import difflib
import os
from datetime import date, datetime
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession

from deltaic.exceptions import UnsupportedFeature
from deltaic.times import from_millis
from deltaic.translate import to_sql

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from deltaic.schema import Schema
    from deltaic.translate import Predicate

__all__ = ["Reader"]

_OPTIONS = ("versionAsOf", "timestampAsOf", "predicate", "rowIds", "fileModificationTime")


class Reader:
    """Reads Delta tables as DataFrames; made by `deltaic.spark.read`.

    Options, whose names are taken as Spark takes them, whatever their case:

    - ``versionAsOf``: a version, as a number or its digits.
    - ``timestampAsOf``: the version that was current then. A date, a datetime, or text that Spark can cast to
      a timestamp, in the session's time zone where it names none.
    - ``predicate``: SQL text, as for `where`.
    - ``rowIds``: true adds ``_row_id`` and ``_row_commit_version``, of a table with row tracking.
    - ``fileModificationTime``: true adds ``_file_modification_time``, the time of a row's file as the log
      states it. (``_metadata.file_modification_time`` may hold the file's ordinal instead.)

    The snapshot is the table at the moment of `load`: what is committed later is not seen by the DataFrame.

    Example:
        >>> Reader(spark).option("versionAsOf", 0).load("data/events")  # doctest: +SKIP
        DataFrame[id: bigint, day: date]
    """

    def __init__(self, spark: SparkSession) -> None:
        if type(spark).__module__.startswith("pyspark.sql.connect"):
            raise UnsupportedFeature(
                "deltaic.spark.read does not work with Spark Connect yet",
                hint="use a classic session (SparkSession.builder.master(…), without remote), or hand over "
                "Arrow: spark.createDataFrame(deltaic.Table(path).snapshot().scan().to_arrow())",
            )
        if not isinstance(spark, SparkSession):  # pyright: ignore[reportUnnecessaryIsInstance] - callers err
            raise TypeError(f"a SparkSession is needed, not {type(spark).__name__}")
        self._spark = spark
        self._options: dict[str, object] = {}
        self._conditions: list[Predicate] = []

    def option(self, key: str, value: object) -> Reader:
        """Set one option; None takes it back.

        Raises:
            ValueError: No option has that name.
        """
        for name in _OPTIONS:
            if name.lower() == key.lower():
                self._options[name] = value
                return self
        near = difflib.get_close_matches(key.lower(), [name.lower() for name in _OPTIONS], n=1, cutoff=0.4)
        meant = next((name for name in _OPTIONS if near and name.lower() == near[0]), None)
        advice = f"did you mean {meant!r}?" if meant else f"there are {' and '.join(map(repr, _OPTIONS))}"
        raise ValueError(f"unknown option {key!r}: {advice}")

    def options(self, **options: object) -> Reader:
        """Set several options, as `option` does one."""
        for key, value in options.items():
            self.option(key, value)
        return self

    def _predicate(self, schema: Schema) -> str | None:
        given = self._options.get("predicate")
        if given is not None and not isinstance(given, str):
            raise ValueError(f"predicate is SQL text, not {type(given).__name__}; expressions go to where(…)")
        conditions = [*self._conditions, *([] if given is None else [given])]
        texts = [to_sql(condition, schema) for condition in conditions]
        if len(texts) < 2:
            return texts[0] if texts else None
        # A text may end in a comment.
        return " AND ".join(f"({text}\n)" for text in texts)

    def where(self, condition: Predicate) -> Reader:
        """Keep the rows for which this is true; called again, those for which both are.

        Given before `load`, it rules out files by their partition values and statistics, so that Spark never
        sees them.

        Args:
            condition: SQL text as `DataFrame.where` takes it, or an expression of `deltaic.col`.
        """
        self._conditions.append(condition)
        return self

    def load(self, path: str | os.PathLike[str]) -> DataFrame:
        """The table at this path or URI, at the version that the options choose, else the newest.

        Raises:
            TableNotFound: There is no table.
            VersionNotFound: The version or time is out of the table's range.
            UnsupportedFeature: The table has a feature that is not implemented.
            CorruptData: A local data file is missing.
            ValueError: An option's value makes no sense, or both are given.
        """
        from deltaic.spark.planner import Question, plan
        from deltaic.table import Table

        version, timestamp = self._options.get("versionAsOf"), self._options.get("timestampAsOf")
        table = Table(path)
        if version is not None and timestamp is not None:
            raise ValueError("versionAsOf and timestampAsOf exclude each other: give one")
        if version is not None:
            snapshot = table.snapshot(version=_version(version))
        elif timestamp is not None:
            snapshot = table.snapshot(timestamp=_instant(self._spark, timestamp))
        else:
            snapshot = table.snapshot()
        question = Question(
            predicate=self._predicate(snapshot.schema),
            row_ids=_switch("rowIds", self._options.get("rowIds")),
            modification_time=_switch("fileModificationTime", self._options.get("fileModificationTime")),
        )
        return plan(self._spark, snapshot, question)


def _switch(name: str, value: object) -> bool:
    text = str(value).lower()
    if value is None or text == "false":
        return False
    if text == "true":
        return True
    raise ValueError(f"{name} is true or false, not {value!r}")


def _version(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value)
    raise ValueError(f"versionAsOf must be a version (0, 1, 2 …), not {value!r}")


def _instant(spark: SparkSession, value: object) -> datetime:
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value
    if not isinstance(value, str | date):
        raise ValueError(f"timestampAsOf must be text, a date or a datetime, not {value!r}")
    # The session's time zone and Spark's spelling of times: so Spark is asked.
    cast = "SELECT unix_millis(try_cast(:value AS TIMESTAMP_LTZ)) AS milliseconds"
    row = spark.sql(cast, args={"value": str(value)}).first()
    milliseconds: int | None = row[0] if row else None
    if milliseconds is None:
        raise ValueError(
            f"timestampAsOf is not a time: {value!r}; write it as '2026-11-01', '2026-11-01 12:30:00' "
            "or '2026-11-01T12:30:00Z'"
        )
    return from_millis(milliseconds)
