"""Writes a DataFrame of a classic session."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from deltaic import _rust
from deltaic.commit import Commit, announced
from deltaic.exceptions import DeltaicError, InvalidPredicate
from deltaic.spark.frame_write.arrow_tasks import FileTasks
from deltaic.spark.frame_write.columns import to_delta
from deltaic.spark.frame_write.evaluation import evaluated
from deltaic.spark.frame_write.plan import WriteRequest, has_identity, plan_write, with_options
from deltaic.spark.frame_write.task_errors import from_text
from deltaic.spark.frame_write.violations import Guard
from deltaic.spark.native.pruning import changed_meaning
from deltaic.spark.session_zone import depends_on_time_zone, is_utc

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["write_frame"]


def write_frame(frame: DataFrame, request: WriteRequest) -> Commit | None:
    """Writes the rows by Spark's executors, and commits their files at once.

    Returns:
        The commit; None if the table exists and the mode is ``ignore``.

    Raises:
        Those of `plan_write`; ConstraintViolation, SchemaMismatch: of a row; CommitConflict, CommitUnknown,
        StorageError: of the commit. Nothing is committed, unless it is `CommitUnknown`.
    """
    job = plan_write(replace(request, is_evaluated=True))
    if job is None:
        return None
    options = request.options.commit_options()
    if not job.is_done(options):
        _ensure_same_meaning(frame, job, request.options.replace_where)
        files = _written(frame, job, request)
    else:
        files = "[]"  # the commit is skipped
    try:
        committed = job.commit(files, options)
    except DeltaicError as error:
        raise with_options(error) from None
    return None if committed is None else announced(committed, stacklevel=4)


def _written(frame: DataFrame, job: _rust.WriteJob, request: WriteRequest) -> str:
    """Runs the tasks; returns their files as JSON. After a failure, those that were reported are deleted."""
    rows, guard = evaluated(frame, job, request.options.replace_where)
    try:
        job.ensure_takes(to_delta(rows.schema))
    except DeltaicError as error:
        raise with_options(error) from None
    if request.options.rebalances:
        rows = rows.hint("rebalance", *job.partition_columns)
    tasks = FileTasks(rows, job, numbers_rows=has_identity(job))
    try:
        return tasks.run()
    except BaseException as error:
        job.discard(tasks.reported())
        found = _of_a_task(error, guard)
        if found is None:
            raise
        raise found from None


def _of_a_task(error: BaseException, guard: Guard) -> DeltaicError | None:
    """Returns the error of deltaic that made a job fail; None if it failed for another reason."""
    if not isinstance(error, Exception):
        return None
    text = str(error)
    found = guard.violated(text)
    if found is not None:
        return found
    of_task = from_text(text)
    return None if of_task is None else with_options(of_task)


def _ensure_same_meaning(frame: DataFrame, job: _rust.WriteJob, replaced: str | None) -> None:
    """Verifies that the core deletes the rows that the condition of an overwrite means in the session."""
    if replaced is None:
        return
    session = frame.sparkSession
    zone = session.conf.get("spark.sql.session.timeZone")
    if changed_meaning(session) or (not is_utc(zone) and depends_on_time_zone(job.schema_json, replaced)):
        raise InvalidPredicate(
            "replaceWhere means something else in this session than in UTC with ANSI mode, in which the rows "
            "to replace are found",
            context={"predicate": replaced},
            hint="set spark.sql.session.timeZone to UTC and spark.sql.ansi.enabled to true, or compare "
            "columns with other values than times",
        )
