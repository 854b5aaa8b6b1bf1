"""Writes a batch or a stream, and kills itself at a point: `killed_writer.py POINT KIND PATH`.

Kinds: `batch` and `stream`, with ` as arrow` by tasks that get rows as Arrow data.

Points: `planned`, before any file is written; `written`, before the commit; `committed`, before Spark knows.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import deltaic.spark as ds
from deltaic.spark.frame_write import run
from tests.spark.as_arrow import by_arrow
from tests.spark.programs.session import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def killed(function: Any, *, before: bool) -> Any:
    """Returns the function, before or after which the process is killed."""

    def replaced(*given: Any, **named: Any) -> Any:
        if before:
            os.kill(os.getpid(), signal.SIGKILL)
        function(*given, **named)
        os.kill(os.getpid(), signal.SIGKILL)

    return replaced


def main(point: str, kind: str, path: str) -> None:
    """Writes; does not return if a point is named."""
    spark = ds.enable(session("local[2]"))
    if point == "committed":
        run.announced = killed(run.announced, before=True)
    elif point != "none":
        for tasks in (run.FileTasks, run.ParquetTasks):
            tasks.run = killed(tasks.run, before=point == "planned")
    with by_arrow() if kind.endswith("arrow") else nullcontext():
        write(spark, kind, path)
    spark.stop()


def write(spark: SparkSession, kind: str, path: str) -> None:
    """Writes the rows once, whatever happened before."""
    if kind.startswith("batch"):
        writer = ds.write(spark.range(1_000)).mode("append")
        writer.options(txnAppId="killed", txnVersion=1).save(f"{path}/target")
    else:
        stream = spark.readStream.format("delta").load(f"{path}/source")
        sink = stream.writeStream.format("delta").option("checkpointLocation", f"{path}/checkpoint")
        sink.trigger(availableNow=True).start(f"{path}/target").awaitTermination()


if __name__ == "__main__":
    main(*sys.argv[1:])
