"""Writes a DataFrame of a classic session."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from deltaic import _rust
from deltaic.commit import Commit, announced
from deltaic.exceptions import DeltaicError, InvalidPredicate, MetadataChanged
from deltaic.spark.frame_write.ansi_mode import depends_on_ansi, is_ansi
from deltaic.spark.frame_write.arrow_tasks import FileTasks
from deltaic.spark.frame_write.columns import alias_of
from deltaic.spark.frame_write.conversions import changes_numbers
from deltaic.spark.frame_write.encryption import ensure_no_encryption
from deltaic.spark.frame_write.evaluation import Evaluation
from deltaic.spark.frame_write.parquet_tasks import ParquetForm, ParquetTasks
from deltaic.spark.frame_write.plan import WriteRequest, has_identity, plan_write, with_options
from deltaic.spark.frame_write.replaced import Replaced
from deltaic.spark.frame_write.table_columns import TableColumn
from deltaic.spark.frame_write.task_errors import from_text
from deltaic.spark.frame_write.violations import Guard, quoted
from deltaic.spark.native.pruning import changed_meaning
from deltaic.spark.runtime.classes import RuntimeUnavailable
from deltaic.spark.session_zone import depends_on_time_zone, is_utc

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["write_frame"]

# How often rows are written again, because another writer generated the same identity values.
_MOST_RUNS = 10


def write_frame(frame: DataFrame, request: WriteRequest) -> Commit | None:
    """Writes the rows by Spark's executors, and commits their files at once.

    Returns:
        The commit; None if the table exists and the mode is ``ignore``.

    Raises:
        Those of `plan_write` and `ensure_no_encryption`; ConstraintViolation, SchemaMismatch: of a row;
        CommitConflict, CommitUnknown, StorageError: of the commit. Nothing is committed, unless it is
        `CommitUnknown`.
    """
    ensure_no_encryption(frame.sparkSession)
    for run in range(1, _MOST_RUNS + 1):
        job = plan_write(replace(request, is_evaluated=True, source_alias=alias_of(frame)))
        if job is None:
            return None
        try:
            committed = _committed(frame, job, request)
        except MetadataChanged as error:
            # Another writer generated the same identity values: the next run generates others.
            if run == _MOST_RUNS or request.mode != "append" or not has_identity(job):
                raise with_options(error) from None
        except DeltaicError as error:
            raise with_options(error) from None
        else:
            return None if committed is None else announced(committed, stacklevel=4)
    raise AssertionError("a call that neither returned nor raised")


def _committed(frame: DataFrame, job: _rust.WriteJob, request: WriteRequest) -> _rust.Commit | None:
    options = request.options.commit_options()
    if job.is_done(options):
        return job.commit("[]", options)  # skipped
    _ensure_same_meaning(frame, job, request.options.replaced)
    files = _written(frame, job, request)
    return job.commit(files, options, data_change=request.options.changes_data)


def _written(frame: DataFrame, job: _rust.WriteJob, request: WriteRequest) -> str:
    """Runs the tasks; returns their files as JSON. After a failure, those that were reported are deleted."""
    form = _form(frame, job)
    evaluation = Evaluation(frame, job, request.options.replaced.where, exactly=form is not None)
    rows = evaluation.rows()
    if request.options.rebalances:
        rows = rows.hint("rebalance", *(quoted(name) for name in job.partition_columns))
    tasks = _tasks(rows, job, form, request.options.most_rows)
    try:
        return tasks.run()
    except BaseException as error:
        job.discard(tasks.reported())
        found = _of_a_task(error, evaluation.guards, tasks.token)
        if found is None:
            raise
        raise found from None


def _form(frame: DataFrame, job: _rust.WriteJob) -> ParquetForm | None:
    """Returns the form of Spark's own writer; None if tasks of deltaic write, which keep numbers exactly."""
    known = TableColumn.all_of(job)
    for part in frame.schema.fields:
        column = known.get(part.name.lower())
        if column is not None and changes_numbers(part.dataType, column.type):
            return None
    return ParquetForm.of(job)


def _tasks(
    rows: DataFrame, job: _rust.WriteJob, form: ParquetForm | None, most_rows: int | None
) -> ParquetTasks | FileTasks:
    """Prepares the tasks of Spark's own writer, if it can write the files."""
    if form is not None and form.takes(rows.schema):
        with suppress(RuntimeUnavailable):
            return ParquetTasks(rows, job, form, most_rows)
    return FileTasks(rows, job, numbers_rows=has_identity(job))


def _of_a_task(error: BaseException, guards: list[Guard], token: str) -> DeltaicError | None:
    """Returns the error of deltaic that made a job fail; None if it failed for another reason."""
    if not isinstance(error, Exception):
        return None
    text = str(error)
    for guard in guards:
        if (found := guard.violated(text)) is not None:
            return found
    return from_text(text, token)


def _ensure_same_meaning(frame: DataFrame, job: _rust.WriteJob, replaced: Replaced) -> None:
    """Verifies that the core deletes the rows that the condition of an overwrite means in the session."""
    if replaced.condition is None:
        return
    option, condition = replaced.condition
    session = frame.sparkSession
    zone = session.conf.get("spark.sql.session.timeZone")
    if (
        changed_meaning(session)
        or (not is_utc(zone) and depends_on_time_zone(job.schema_json, condition))
        or (not is_ansi(session) and depends_on_ansi(condition))
    ):
        raise InvalidPredicate(
            f"{option} means something else in this session than in UTC with ANSI mode, in which the rows "
            "to replace are found",
            context={"predicate": condition},
            hint="set spark.sql.session.timeZone to UTC and spark.sql.ansi.enabled to true, or compare "
            "columns with other values than times",
        )
