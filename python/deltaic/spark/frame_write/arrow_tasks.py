"""Writes the rows of a DataFrame by tasks on Spark's executors, as Arrow data, in a classic session.

A task returns the files that it wrote. Spark accepts the result of one attempt of each task, so that no row
is written twice, whatever is retried.
"""

from __future__ import annotations

import itertools
import json
import uuid
from collections.abc import Callable, Iterator
from threading import Thread
from typing import TYPE_CHECKING, Any

from pyspark.accumulators import AccumulatorParam

from deltaic import _rust
from deltaic.exceptions import DeltaicError
from deltaic.spark.frame_write.task_errors import to_text
from deltaic.spark.pickled_version import of_this_version, with_version
from deltaic.spark.worker_errors import readable_errors
from deltaic.spark.workers import explain_missing_package, use_python_of_driver
from deltaic.values.optional import require

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["FileTasks"]

_FILES = "files"
_TASKS = "deltaic.write.tasks"


class FileTasks:
    """The tasks of one write."""

    def __init__(self, frame: DataFrame, job: _rust.WriteJob, *, numbers_rows: bool) -> None:
        """Prepares the tasks.

        Args:
            frame: The rows to write.
            job: The planned write.
            numbers_rows: Whether the table has identity columns, of whose values each task gets a share.
        """
        session: Any = frame.sparkSession
        self._context = session.sparkContext
        use_python_of_driver(self._context)
        explain_missing_package()
        self.token = uuid.uuid4().hex
        """Marks the errors of these tasks."""
        self._reported: Any = self._context.accumulator([], _Lists())
        write = _Write(job.task(), frame.columns, self._reported, self.token, numbers_rows=numbers_rows)
        # PySpark does not quote names.
        plain: Any = frame.toDF(*(f"_{number}" for number in range(len(frame.columns))))
        self._rows: Any = plain.mapInArrow(write, f"{_FILES} string")
        self._numbers_rows = numbers_rows

    def run(self) -> str:
        """Runs the tasks; returns the files as JSON.

        Raises:
            PySparkException: The job failed or was cancelled; `reported` has the files of its tasks.
        """
        tag = f"deltaic-write-{self.token}"
        self._context.addJobTag(tag)
        try:
            return self._collected()
        except BaseException:
            # On a thread of its own: after an interruption the connection of this one still waits.
            cancelling = Thread(target=self._context.cancelJobsWithTag, args=(tag,), daemon=True)
            cancelling.start()
            cancelling.join()
            raise
        finally:
            self._context.removeJobTag(tag)

    def _collected(self) -> str:
        if not self._numbers_rows:
            return _joined(row[_FILES] for row in self._rows.collect())
        # The number of tasks is known once adaptive execution has run the stages before.
        tasks = self._rows._jdf.queryExecution().toRdd().getNumPartitions()  # noqa: SLF001 - no public way
        before = self._context.getLocalProperty(_TASKS)
        self._context.setLocalProperty(_TASKS, str(tasks))
        try:
            return _joined(row[_FILES] for row in self._rows.collect())
        finally:
            self._context.setLocalProperty(_TASKS, before)

    def reported(self) -> str:
        """Returns the files of all tasks that have succeeded so far, as JSON."""
        return _joined(self._reported.value)


class _Write:
    """What each task does with its rows."""

    def __init__(
        self, task: _rust.WriteTask, names: list[str], reported: Any, token: str, *, numbers_rows: bool
    ) -> None:
        self._task = task.to_bytes()
        self._names = names
        self._token = token
        self._reported = reported
        self._numbers_rows = numbers_rows

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        pa = require("pyarrow", "deltaic.spark.write")
        first = next(batches, None)
        if first is None:
            return
        named = (batch.rename_columns(self._names) for batch in itertools.chain((first,), batches))
        schema = first.rename_columns(self._names).schema
        reader = pa.RecordBatchReader.from_batches(schema, named)
        share = _share() if self._numbers_rows else None
        task = _rust.WriteTask.from_bytes(self._task)
        files = _written(lambda: task.write(reader, share), self._token)
        self._reported.add([files])
        yield pa.RecordBatch.from_pydict({_FILES: [files]})

    def __getstate__(self) -> dict[str, Any]:
        return with_version(vars(self))

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(of_this_version(state))


def _written(write: Callable[[], str], token: str) -> str:
    with readable_errors():
        try:
            return write()
        except DeltaicError as error:
            raise type(error)(to_text(error, token)) from None


def _share() -> tuple[int, int]:
    """Returns the number of the running task, and that of all tasks."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None  # noqa: S101 - a task runs
    return context.partitionId(), int(context.getLocalProperty(_TASKS) or "0")


class _Lists(AccumulatorParam[list[str]]):
    """Lists, joined."""

    def zero(self, value: list[str]) -> list[str]:  # noqa: ARG002 - of the base class
        """Returns the list of a task that has reported nothing."""
        return []

    def addInPlace(self, value1: list[str], value2: list[str]) -> list[str]:
        """Joins two lists."""
        value1.extend(value2)
        return value1


def _joined(lists: Any) -> str:
    return json.dumps([file for files in lists for file in json.loads(files)])
