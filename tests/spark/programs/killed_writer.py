"""Writes a batch or a stream, and kills itself at a point: `killed_writer.py POINT KIND PATH`.

Points: `planned`, before any file is written; `written`, before the commit; `committed`, before Spark knows.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

import deltaic.spark as ds
from deltaic.spark.frame_write import run
from tests.spark.programs.session import session


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
    if point == "planned":
        run.FileTasks.run = killed(run.FileTasks.run, before=True)
    elif point == "written":
        run.FileTasks.run = killed(run.FileTasks.run, before=False)
    elif point == "committed":
        run.announced = killed(run.announced, before=True)
    if kind == "batch":
        writer = ds.write(spark.range(1_000)).mode("append")
        writer.options(txnAppId="killed", txnVersion=1).save(f"{path}/target")
    else:
        stream = spark.readStream.format("delta").load(f"{path}/source")
        sink = stream.writeStream.format("delta").option("checkpointLocation", f"{path}/checkpoint")
        sink.trigger(availableNow=True).start(f"{path}/target").awaitTermination()
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
