"""One way to read, in a process and a JVM of its own: `spark_child.py WAY`; a JSON line in, a JSON line out.

The clock runs from before the load until the answer is in Python. Nothing that was read before is known then:
caches are emptied before the clock starts, and garbage is collected before the next peer has its turn.
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

from spark_questions import QUESTIONS
from spark_ways import WAYS, AbsentError, Way, finish_log, forget, jvm, start

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Start the session, then do what each line asks."""
    way = WAYS[sys.argv[1]]
    with tempfile.TemporaryDirectory() as scratch:
        try:
            spark = start(way, scratch)
        except Exception as error:  # noqa: BLE001 - whatever keeps it from starting is what is told
            tell(failure(error))
            return
        tell({"release": way.release()})
        for line in sys.stdin:
            try:
                found = done(way, spark, json.loads(line))
            except Exception as error:  # noqa: BLE001 - a peer may fail in any way of its own
                found = failure(error)
            gc.collect()  # what Python no longer holds, the JVM may drop
            jvm(spark).System.gc()  # where that fails, the JVM is dead, and so must be this process
            tell(found)
        spark.stop()


def done(way: Way, spark: SparkSession, asked: dict[str, Any]) -> dict[str, Any]:
    """Answer a question, or write the end of a table's log."""
    path = asked["table"]
    if asked["do"] == "finish":
        finish_log(spark, path)
        return {}
    question = QUESTIONS[asked["question"]]
    forget(way, spark)
    cpu, begin = cpu_seconds(), time.perf_counter()
    frame = way.load(spark, path, question)
    loaded = time.perf_counter()
    answer = question.answer(frame)
    first = time.perf_counter()
    found = {"load": loaded - begin, "first": first - begin, "cpu": cpu_seconds() - cpu, "answer": answer}
    if asked["again"]:
        begin = time.perf_counter()
        if question.answer(frame) != answer:
            raise AssertionError("asked again, it answers otherwise")
        found["again"] = time.perf_counter() - begin
    way.prove(frame)
    return found


def failure(error: Exception) -> dict[str, str]:
    """Why there is no answer, in a line; all of it goes to the log."""
    traceback.print_exception(error)
    if isinstance(error, AbsentError):
        return {"absent": str(error)}
    lines = str(error).strip().splitlines() or [""]
    # What the JVM says stands behind the name of the call.
    said = lines[1].removeprefix(": ") if lines[0].startswith("An error occurred while calling") else lines[0]
    return {"failed": f"{type(error).__name__}: {said}"}


def cpu_seconds() -> float:
    """Of all processes of this session: this one, its JVM, Python's workers, and those of them that ended."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        if int(words[3]) == os.getsid(0):
            ticks += sum(map(int, words[11:15]))
    return ticks / TICKS


def tell(found: dict[str, Any]) -> None:
    """A line to who asked."""
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
