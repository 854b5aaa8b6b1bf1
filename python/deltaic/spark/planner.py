"""Which way a snapshot is read: by Spark's own reader where that is exact, else by the data source."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException, ParseException

from deltaic.exceptions import InvalidPredicate, UnsupportedExpression, UnsupportedFeature
from deltaic.spark.plan import native_scan
from deltaic.spark.report import Report, remember

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from deltaic.snapshot import Snapshot

__all__ = ["Question", "plan"]

_UTC = frozenset({"UTC", "Etc/UTC", "GMT", "Etc/GMT", "Z", "Zulu", "Etc/Zulu", "Universal", "UCT", "+00:00"})
_NATIVE = "Spark's own Parquet reader reads the files"


@dataclass(frozen=True)
class Question:
    """What is read of a snapshot."""

    predicate: str | None = None
    """The rows, as SQL text in Spark's own meaning."""
    row_ids: bool = False
    modification_time: bool = False
    hadoop_options: dict[str, str] = field(default_factory=dict[str, str])


def plan(
    spark: SparkSession,
    snapshot: Snapshot,
    question: Question,
    by_source: Callable[[], DataFrame] | None = None,
) -> DataFrame:
    """A DataFrame that answers the question.

    Args:
        spark: A classic session.
        snapshot: What is read.
        question: Which rows and columns.
        by_source: Reads the snapshot with the data source, where Spark's own reader cannot.

    Raises:
        InvalidPredicate: Spark does not understand the predicate.
        UnsupportedFeature: Neither way can read the table.
    """
    pruning, why_not = _pruning(spark, snapshot, question.predicate)
    try:
        scan = native_scan(
            spark,
            snapshot,
            predicate=pruning,
            row_ids=question.row_ids,
            modification_time=question.modification_time,
            hadoop_options=question.hadoop_options,
        )
    except UnsupportedFeature as error:
        if by_source is None or question.modification_time:
            raise
        frame = by_source()
        _remember_source(frame, snapshot, question, error)
        return _filtered(frame, question.predicate)
    report = Report(
        table=snapshot.uri,
        version=snapshot.version,
        way="native",
        why=_NATIVE,
        files=scan.files,
        files_of_snapshot=scan.files_of_snapshot,
        files_after_partitions=scan.files_after_partitions,
        size_in_bytes=scan.size_in_bytes,
        predicate=question.predicate,
        notes=[*([why_not] if why_not else []), *scan.notes],
    )
    remember(scan.root, report)
    return _filtered(scan.frame, question.predicate)


def _remember_source(frame: Any, snapshot: Snapshot, question: Question, error: UnsupportedFeature) -> None:
    relation = frame._jdf.queryExecution().analyzed()  # noqa: SLF001 - PySpark has no public way
    remember(
        relation.toString(),
        Report(snapshot.uri, snapshot.version, "data source", error.message, predicate=question.predicate),
    )


def _filtered(frame: DataFrame, predicate: str | None) -> DataFrame:
    if predicate is None:
        return frame
    try:
        return frame.where(predicate)
    except (ParseException, AnalysisException) as error:
        raise InvalidPredicate(
            f"Spark does not understand the predicate: {str(error).splitlines()[0]}",
            context={"predicate": predicate},
        ) from error


def _pruning(spark: SparkSession, snapshot: Snapshot, predicate: str | None) -> tuple[str | None, str | None]:
    """What files can be ruled out by, and else why nothing: Spark judges the rows in any case."""
    if predicate is None:
        return None, None
    zone = spark.conf.get("spark.sql.session.timeZone")
    if zone not in _UTC and _speaks_of_instants(snapshot, predicate):
        return None, f"no file is ruled out by a time of day in the session's time zone, {zone}"
    try:
        snapshot.scan(columns=[], predicate=predicate)
    except (InvalidPredicate, UnsupportedExpression) as error:
        return None, f"no file is ruled out by the predicate: {error.message}"
    return predicate, None


def _speaks_of_instants(snapshot: Snapshot, predicate: str) -> bool:
    """Whether the predicate may depend on the session's time zone."""
    words = {word.lower() for word in re.findall(r"\w+", predicate)}
    if any("timestamp" in word for word in words):
        return True
    schema = snapshot.schema.to_json()
    # Any field of any struct: a predicate names it somewhere by its own name.
    names = re.findall(r'"name"\s*:\s*"((?:[^"\\]|\\.)*)"\s*,\s*"type"\s*:\s*"timestamp"', schema)
    return any(set(re.findall(r"\w+", name.lower())) <= words for name in names)
