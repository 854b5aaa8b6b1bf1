"""Which way a snapshot is read: by Spark's own reader where that is exact, else by the data source."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException, ParseException

from deltaic.exceptions import InvalidPredicate, UnsupportedExpression, UnsupportedFeature
from deltaic.spark.plan import native_scan
from deltaic.spark.report import Report, remember, remember_relation
from deltaic.spark.session_zone import is_utc, speaks_of_instants

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from deltaic.snapshot import Snapshot

__all__ = ["Question", "plan"]

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
    by_source: Callable[[str | None], DataFrame],
) -> DataFrame:
    """A DataFrame that answers the question.

    Args:
        spark: A classic session.
        snapshot: What is read.
        question: Which rows and columns.
        by_source: Reads the snapshot with the data source, where Spark's own reader cannot, given by what
            files can be ruled out.

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
        if question.modification_time:
            raise
        frame = by_source(pruning)
        report = Report(
            snapshot.uri, snapshot.version, "data source", error.message, predicate=question.predicate
        )
        remember_relation(frame, report)
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
    if not is_utc(zone) and speaks_of_instants(snapshot.schema.to_json(), predicate):
        return None, f"no file is ruled out by a time of day in the session's time zone, {zone}"
    try:
        snapshot.scan(columns=[], predicate=predicate)
    except (InvalidPredicate, UnsupportedExpression) as error:
        return None, f"no file is ruled out by the predicate: {error.message}"
    return predicate, None
