"""Selects how a snapshot is read: by Spark's own reader if that is exact, else by the data source."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyspark.errors import AnalysisException, ParseException

from deltaic.exceptions import InvalidPredicate, UnsupportedFeature
from deltaic.spark.counted import counted
from deltaic.spark.handed import hand_over, without_the_time
from deltaic.spark.missing_files import tell_missing_files
from deltaic.spark.plan import native_scan
from deltaic.spark.pruning import changed_meaning, pruning
from deltaic.spark.report import Report, remember, remember_relation

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from deltaic.snapshot import Snapshot

__all__ = ["Question", "plan"]

_NATIVE = "Spark's own Parquet reader reads the files"


@dataclass(frozen=True)
class Question:
    """A read of a snapshot."""

    predicate: str | None = None
    """The condition on rows, as SQL text with Spark's semantics."""
    row_ids: bool = False
    modification_time: bool = False
    hadoop_options: dict[str, str] = field(default_factory=dict[str, str])


def plan(
    spark: SparkSession,
    snapshot: Snapshot,
    question: Question,
    by_source: Callable[[str | None], DataFrame],
) -> DataFrame:
    """Returns the DataFrame of a read.

    Args:
        spark: A classic session.
        snapshot: The snapshot to read.
        question: The requested rows and columns.
        by_source: Reads the snapshot with the data source, if Spark's own reader cannot; its argument is the
            predicate for pruning files.

    Raises:
        InvalidPredicate: Spark does not understand the predicate.
        UnsupportedFeature: Neither reader supports the table.
    """
    zone = spark.conf.get("spark.sql.session.timeZone")
    prunes_by, why_not = pruning(snapshot, question.predicate, zone)
    if prunes_by is not None and (meaning := changed_meaning(spark)):
        prunes_by, why_not = None, meaning
    try:
        handed, log = hand_over(
            snapshot,
            predicate=prunes_by,
            row_ids=question.row_ids,
            modification_time=question.modification_time,
        )
        scan = native_scan(spark, handed, log, question.hadoop_options)
    except UnsupportedFeature as error:
        if question.modification_time:
            raise without_the_time(error.message, error.context) from error
        frame = by_source(prunes_by)
        report = Report(
            snapshot.uri, snapshot.version, "data source", error.message, predicate=question.predicate
        )
        remember_relation(frame, report)
        return _filtered(frame, snapshot, question.predicate)
    report = Report(
        table=snapshot.uri,
        version=snapshot.version,
        way="native",
        why=_NATIVE,
        files=handed.num_files,
        files_of_snapshot=handed.files_of_snapshot,
        files_after_partitions=handed.files_after_partitions,
        size_in_bytes=handed.size_in_bytes,
        predicate=question.predicate,
        notes=[*([why_not] if why_not else []), *scan.notes],
    )
    remember(scan.root, report)
    tell_missing_files()
    return _filtered(scan.frame, snapshot, question.predicate)


def _filtered(frame: DataFrame, snapshot: Snapshot, predicate: str | None) -> DataFrame:
    if predicate is None:
        return counted(frame, snapshot)
    try:
        return frame.where(predicate)
    except (ParseException, AnalysisException) as error:
        raise InvalidPredicate(
            f"Spark does not understand the predicate: {str(error).splitlines()[0]}",
            context={"predicate": predicate},
        ) from error
