"""Selects how a snapshot is read: by Spark's own reader if that is exact, else by the data source."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException, ParseException

from deltaic.exceptions import InvalidPredicate, UnsupportedFeature
from deltaic.spark.native.aggregates import aggregates
from deltaic.spark.native.missing_files import report_missing_files
from deltaic.spark.native.pruning import changed_meaning, pruning
from deltaic.spark.native.report import Report, remember, remember_relation
from deltaic.spark.native.scan import native_scan
from deltaic.spark.native.scan_plan import (
    modification_time_unsupported,
    plan_native_scan,
    plan_native_tasks,
)
from deltaic.spark.runtime.classes import RuntimeUnavailable, java_classes
from deltaic.spark.session_zone import is_utc

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from deltaic import _rust
    from deltaic.reading.scan import ScanTask
    from deltaic.reading.snapshot import Snapshot

__all__ = ["ReadRequest", "choose_path", "stream_frame"]

_NATIVE = "Spark's own Parquet reader reads the files"


@dataclass(frozen=True)
class ReadRequest:
    """A read of a snapshot."""

    predicate: str | None = None
    """The condition on rows, as SQL text with Spark's semantics."""
    row_ids: bool = False
    modification_time: bool = False
    hadoop_options: dict[str, str] = field(default_factory=dict[str, str])


def choose_path(
    spark: SparkSession,
    snapshot: Snapshot,
    request: ReadRequest,
    by_source: Callable[[str | None], DataFrame],
) -> DataFrame:
    """Returns the DataFrame of a read.

    Args:
        spark: A classic session.
        snapshot: The snapshot to read.
        request: The requested rows and columns.
        by_source: Reads the snapshot with the data source, if Spark's own reader cannot; its argument is the
            predicate for pruning files.

    Raises:
        InvalidPredicate: Spark does not understand the predicate.
        UnsupportedFeature: Neither reader supports the table.
    """
    try:
        return _native_frame(spark, snapshot, request)
    except UnsupportedFeature as error:
        if request.modification_time:
            raise modification_time_unsupported(error.message, error.context) from error
        prunes_by, why_not = _for_source(spark, snapshot, request.predicate)
        frame = by_source(prunes_by)
        report = Report(
            snapshot.uri,
            snapshot.version,
            "data source",
            error.message,
            predicate=request.predicate,
            notes=[why_not] if why_not else [],
        )
        remember_relation(frame, report)
        return _filtered(frame, request.predicate)


def stream_frame(
    spark: SparkSession, rows_as: Snapshot, tasks: list[ScanTask], hadoop_options: dict[str, str]
) -> DataFrame:
    """Returns the rows of the files of a stream's batch, in the columns of a snapshot.

    Raises:
        UnsupportedFeature: Spark's own reader does not read them.
    """
    scan_plan, planned = plan_native_tasks(rows_as, tasks)
    scan = native_scan(
        spark,
        _classes(spark, rows_as),
        scan_plan,
        _keeps_all,
        file_list=planned.file_list,
        hadoop_options=hadoop_options,
    )
    report = Report(
        rows_as.uri, rows_as.version, "native", _NATIVE, files=scan_plan.num_files, notes=scan.notes
    )
    remember(scan.key, report)
    report_missing_files()
    return scan.frame


def _native_frame(spark: SparkSession, snapshot: Snapshot, request: ReadRequest) -> DataFrame:
    classes = _classes(spark, snapshot)
    tree, why_not = None, None
    if request.predicate is not None:
        tree = _tree(spark, classes, snapshot, request.predicate)
        if tree is None:
            why_not = "no file is ruled out by the predicate before the query"
    scan_plan, planned = plan_native_scan(
        snapshot, tree=tree, row_ids=request.row_ids, modification_time=request.modification_time
    )
    # A plan with a predicate does not have all rows.
    answer = partial(_answer, planned, None if tree is not None else snapshot)
    scan = native_scan(
        spark, classes, scan_plan, answer, file_list=planned.file_list, hadoop_options=request.hadoop_options
    )
    report = Report(
        table=snapshot.uri,
        version=snapshot.version,
        way="native",
        why=_NATIVE,
        files=scan_plan.num_files,
        files_of_snapshot=scan_plan.files_of_snapshot,
        files_after_partitions=scan_plan.files_after_partitions,
        size_in_bytes=scan_plan.size_in_bytes,
        predicate=request.predicate,
        notes=[*scan.notes, *([why_not] if why_not else [])],
    )
    remember(scan.key, report)
    report_missing_files()
    return _filtered(scan.frame, request.predicate)


def _tree(spark: SparkSession, classes: Any, snapshot: Snapshot, predicate: str) -> str | None:
    """Returns the filters of a predicate as Spark plans them, over a scan without files."""
    scan_plan, planned = plan_native_tasks(snapshot, [])
    empty = native_scan(
        spark,
        classes,
        scan_plan,
        _keeps_all,
        file_list=planned.file_list,
        hadoop_options={},
        # A subquery of the predicate may read a scan without files too.
        purpose=f" {uuid.uuid4()}",
    )
    try:
        rows: Any = empty.frame.where(predicate)
        return classes.Relations.filters(rows._jdf, empty.key)  # noqa: SLF001 - no public way
    except (ParseException, AnalysisException):
        # It may name columns that only the read has; if not, the read reports it.
        return None


def _for_source(
    spark: SparkSession, snapshot: Snapshot, predicate: str | None
) -> tuple[str | None, str | None]:
    """Returns the predicate by which the data source leaves out files, or why it does not."""
    zone = spark.conf.get("spark.sql.session.timeZone")
    if predicate is not None and not is_utc(zone):
        return None, f"no file is ruled out by the predicate in the session's time zone, {zone}"
    prunes_by, why_not = pruning(snapshot, predicate, zone)
    if prunes_by is not None and (meaning := changed_meaning(spark)):
        return None, meaning
    return prunes_by, why_not


def _keeps_all(_question: str) -> None:
    return None


def _classes(spark: SparkSession, snapshot: Snapshot) -> Any:
    try:
        return java_classes(spark)
    except RuntimeUnavailable as error:
        raise UnsupportedFeature(
            f"Spark's own reader needs classes of deltaic in the driver, which do not run here: {error}",
            context={"path": snapshot.uri, "version": snapshot.version},
        ) from error


def _answer(planned: _rust.NativeScanPlan, whole: Snapshot | None, question: str) -> bytes | str | None:
    if question.startswith('{"aggregates"'):
        return None if whole is None else aggregates(whole, question)
    return planned.kept(question)


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
