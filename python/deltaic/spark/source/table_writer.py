"""The writer of the data source: it plans in Spark's planner process, and writes files in Spark's tasks."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage

from deltaic import _rust
from deltaic.exceptions import DeltaicError, UnsupportedExpression
from deltaic.spark.frame_write.ansi_mode import depends_on_ansi
from deltaic.spark.frame_write.columns import to_delta
from deltaic.spark.frame_write.options import MODES, WriteOptions
from deltaic.spark.frame_write.plan import WriteRequest, has_identity, plan_write, with_options
from deltaic.spark.frame_write.replaced import Replaced
from deltaic.spark.frame_write.source_options import ANSI, CLUSTERING, MODE, PARTITIONING
from deltaic.spark.pickled_version import of_this_version, with_version
from deltaic.spark.session_zone import depends_on_time_zone, is_utc, names_current_time
from deltaic.spark.worker_errors import readable_errors
from deltaic.values.optional import require

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

__all__ = ["TableWriter"]

# A data source does not know the number of its tasks: identity values have gaps for those that do not run.
_MOST_TASKS = 10_000


@dataclass
class _Files(WriterCommitMessage):
    """The files of one task, as JSON."""

    files: str


class TableWriter(DataSourceArrowWriter):
    """Plans a write in Spark's planner process, writes in Spark's tasks, and commits on the driver's machine.

    The core evaluates the table's expressions, in UTC and with ANSI mode. A table for which the session's
    zone matters is refused.
    """

    def __init__(self, options: Mapping[str, str], schema: StructType, *, overwrites: bool) -> None:
        given = {name.lower(): value for name, value in options.items()}
        path = given.pop("path", None)
        if not path:
            raise ValueError("no path was given: write save('data/events') or option('path', 'data/events')")
        zone = given.pop("timezone", None)
        is_ansi = given.pop(ANSI, None) == "true"
        mode = given.pop(MODE, "overwrite" if overwrites else "append")
        partition_by = json.loads(given.pop(PARTITIONING, "[]"))
        cluster_by = json.loads(given.pop(CLUSTERING, "[]"))
        self._options = WriteOptions.parse(path, given)
        columns = to_delta(schema)
        request = WriteRequest(path, MODES[mode], columns, self._options, partition_by, cluster_by)
        job = plan_write(request)
        self._job = self._task = None
        self._numbers_rows = job is not None and has_identity(job)
        if job is None:
            return
        if not is_utc(zone):
            _ensure_no_zone_matters(job, self._options.replaced)
        if not is_ansi:
            _ensure_no_ansi_matters(job, self._options.replaced)
        try:
            job.ensure_takes(columns)
        except DeltaicError as error:
            raise with_options(error) from None
        self._job = job.to_bytes()
        # Tasks write nothing if the application's write is recorded already.
        if not job.is_done(self._options.commit_options()):
            self._task = job.task().to_bytes()

    def __getstate__(self) -> dict[str, Any]:
        return with_version(self.__dict__)

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(of_this_version(state))

    def write(self, iterator: Iterator[Any]) -> WriterCommitMessage:
        """Writes the rows of a task to files."""
        pa = require("pyarrow", "The data source 'deltaic'")
        first = next(iterator, None)
        if self._task is None or first is None:
            return _Files("[]")
        with readable_errors():
            reader = pa.RecordBatchReader.from_batches(first.schema, itertools.chain((first,), iterator))
            share = (_partition(), _MOST_TASKS) if self._numbers_rows else None
            return _Files(_rust.WriteTask.from_bytes(self._task).write(reader, share))

    def commit(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Commits the files of all tasks at once."""
        if self._job is None:
            return
        with readable_errors():
            job = _rust.WriteJob.from_bytes(self._job)
            options = self._options
            try:
                job.commit(_joined(messages), options.commit_options(), data_change=options.changes_data)
            except DeltaicError as error:
                raise with_options(error) from None

    def abort(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Deletes the files of the tasks that succeeded, if others failed.

        Spark calls this after a failed commit too, for which all tasks have succeeded. A version may
        reference the files then; the commit has deleted those that none can.
        """
        if self._job is not None and any(message is None for message in messages):
            _rust.WriteJob.from_bytes(self._job).discard(_joined(messages))


def _partition() -> int:
    """Returns the number of the running task."""
    context = TaskContext.get()
    assert context is not None  # noqa: S101 - a task runs
    return context.partitionId()


def _joined(messages: Sequence[WriterCommitMessage | None]) -> str:
    found = [json.loads(message.files) for message in messages if isinstance(message, _Files)]
    return json.dumps([file for files in found for file in files])


def _ensure_no_zone_matters(job: _rust.WriteJob, replaced: Replaced) -> None:
    texts = [sql for _, _, sql in job.conditions()]
    for field in json.loads(job.schema_json)["fields"]:
        metadata: Mapping[str, Any] = field["metadata"]
        texts += [
            str(metadata[key]) for key in ("CURRENT_DEFAULT", "delta.generationExpression") if key in metadata
        ]
    if replaced.condition is not None:
        texts.append(replaced.condition[1])
    for text in texts:
        if names_current_time(text) or depends_on_time_zone(job.schema_json, text):
            raise UnsupportedExpression(
                f"the expression {text} may depend on the session's time zone, which a data source does "
                "not know",
                context={"expression": text, "table": job.uri},
                hint="write by deltaic.spark.write(df) in a classic session, or pass "
                "option('timeZone', 'UTC') if the session's zone is UTC",
            )


def _ensure_no_ansi_matters(job: _rust.WriteJob, replaced: Replaced) -> None:
    if replaced.condition is None or not depends_on_ansi(replaced.condition[1]):
        return
    option, condition = replaced.condition
    raise UnsupportedExpression(
        f"{option} may mean something else without ANSI mode, which a data source does not know",
        context={"expression": condition, "table": job.uri},
        hint="write by deltaic.spark.write(df), in a session with ANSI mode",
    )
