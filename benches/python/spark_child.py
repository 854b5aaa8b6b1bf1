"""One way to read, in a separate process and JVM: `spark_child.py WAY`; JSON lines in, JSON lines out.

The clock runs from before the load until the result is in Python. Nothing is cached between loads: caches are
cleared before the clock starts, and garbage is collected before the next peer's turn.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

import spark_write_shapes
from spark_queries import ALL_QUERIES
from spark_ways import WAYS, AbsentError, Way, finish_log, forget, jvm, start

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Starts the session, then processes each line."""
    way = WAYS[sys.argv[1]]
    with tempfile.TemporaryDirectory() as scratch:
        try:
            spark = start(way, scratch)
        except Exception as error:  # noqa: BLE001 - any error at startup is reported
            tell(failure(error))
            return
        tell({"release": way.release()})
        for line in sys.stdin:
            try:
                found = done(way, spark, json.loads(line))
            except Exception as error:  # noqa: BLE001 - a peer may raise any error
                found = failure(error)
            gc.collect()  # releases JVM objects referenced from Python
            jvm(spark).System.gc()  # if this fails, the JVM is dead, and this process must end
            tell(found)
        spark.stop()


def done(way: Way, spark: SparkSession, asked: dict[str, Any]) -> dict[str, Any]:
    """Runs a query, or writes the end of a table's log."""
    path = asked["table"]
    if asked["do"] == "finish":
        finish_log(spark, path)
        return {}
    if asked["do"] == "write":
        forget(way, spark)
        cpu = cpu_seconds()
        wall = spark_write_shapes.write(spark, sys.argv[1], asked)
        return {"wall": wall, "cpu": cpu_seconds() - cpu}
    if asked["do"] == "written":
        return {"answer": spark_write_shapes.answer(spark, path)}
    query = ALL_QUERIES[asked["query"]]
    forget(way, spark)
    cpu, begin = cpu_seconds(), time.perf_counter()
    frame = way.load(spark, path, query)
    loaded = time.perf_counter()
    answer = query.answer(frame)
    first = time.perf_counter()
    found = {"load": loaded - begin, "first": first - begin, "cpu": cpu_seconds() - cpu, "answer": answer}
    if asked["again"]:
        begin = time.perf_counter()
        if query.answer(frame) != answer:
            raise AssertionError("asked again, it answers otherwise")
        found["again"] = time.perf_counter() - begin
    way.prove(frame)
    return found


def failure(error: Exception) -> dict[str, str]:
    """Returns the error in one line; the full error goes to the log."""
    traceback.print_exception(error)
    if isinstance(error, AbsentError):
        return {"absent": str(error)}
    lines = str(error).strip().splitlines() or [""]
    # The JVM's message follows the name of the call.
    said = lines[1].removeprefix(": ") if lines[0].startswith("An error occurred while calling") else lines[0]
    return {"failed": f"{type(error).__name__}: {said}"}


def cpu_seconds() -> float:
    """Returns the CPU seconds of all processes of this session: this one, its JVM and Python's workers."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = path.read_text().rpartition(")")[2].split()
        except OSError:  # it ended in between
            continue
        if int(words[3]) == os.getsid(0):
            ticks += sum(map(int, words[11:15]))
    return ticks / TICKS


def tell(found: dict[str, Any]) -> None:
    """Writes a line to the parent process."""
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
