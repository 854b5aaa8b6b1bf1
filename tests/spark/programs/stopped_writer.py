"""Stops writes whose last task waits in the middle of its rows: by Ctrl-C, and by cancelling a job group."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

import deltaic
import deltaic.spark as ds
from tests.spark.as_arrow import by_arrow
from tests.spark.programs.session import session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS = 1_000


class Waiting:
    """Returns rows; the task that has the last row waits before its end while the mark exists."""

    def __init__(self, mark: Path) -> None:
        self._mark = str(mark)

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield batch
            while ROWS - 1 in batch["id"].to_pylist() and Path(self._mark).exists():
                time.sleep(0.01)


def until_a_task_waits(spark: SparkSession) -> None:
    """Returns once a job has one task left, which waits."""
    tracker = spark.sparkContext.statusTracker()
    while True:
        stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
        if any(stage and stage.numCompletedTasks == 1 and stage.numActiveTasks == 1 for stage in stages):
            return
        time.sleep(0.01)


class Program:
    """Writes to a table in a folder, each of which is stopped."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark = spark
        self._mark = folder / "mark"
        self._mark.touch()
        self._path = folder / "table"
        self._table = deltaic.Table.create(self._path, pa.schema({"id": pa.int64()}))
        self.frame: DataFrame = spark.range(0, ROWS, 1, 2).mapInArrow(Waiting(self._mark), "id long")

    def told(self) -> list[int]:
        """Returns the table's version, the number of its rows, and that of the Parquet files."""
        snapshot = self._table.snapshot()
        return [snapshot.version, snapshot.scan().count(), len(list(self._path.glob("*.parquet")))]

    def stopped(self, write: Callable[[str], Any], stop: Callable[[], Any]) -> list[Any]:
        """Runs a write, and stops it; returns what it raised, and the state of the table."""

        def watch() -> None:
            until_a_task_waits(self._spark)
            stop()

        watcher = threading.Thread(target=watch)
        watcher.start()
        raised = "nothing"
        try:
            write(str(self._path))
        except BaseException as error:  # noqa: BLE001 - KeyboardInterrupt too
            raised = type(error).__name__
        told = [raised, *self.told()]
        watcher.join()
        return told


def main(folder: str) -> None:
    """Prints what each way to stop leaves."""
    spark = ds.enable(session("local[2]"))
    context = spark.sparkContext
    program = Program(spark, Path(folder))

    def in_group(write: Callable[[str], Any]) -> Callable[[str], Any]:
        def run(path: str) -> None:
            context.setJobGroup("stopped", "a write", interruptOnCancel=True)
            write(path)

        return run

    def as_arrow(path: str) -> None:
        with by_arrow():
            ds.write(program.frame).mode("append").save(path)

    def cancel() -> None:
        context.cancelJobGroup("stopped")

    told: dict[str, list[Any]] = {
        "group": program.stopped(in_group(ds.write(program.frame).mode("append").save), cancel),
        "group, format": program.stopped(
            in_group(program.frame.write.format("delta").mode("append").save), cancel
        ),
        "group, as Arrow data": program.stopped(in_group(as_arrow), cancel),
        "interrupt": program.stopped(
            ds.write(program.frame).mode("append").save, lambda: os.kill(os.getpid(), signal.SIGINT)
        ),
    }
    spark.stop()
    print(json.dumps({**told, "in the end": program.told()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
