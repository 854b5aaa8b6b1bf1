"""Writes on two hosts, where Spark starts a second attempt of a slow task: both attempts write files.

Spark starts no such attempt on the host of the first one, so the workers have two addresses of this machine.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyspark

import deltaic
import deltaic.spark as ds
from tests.spark.programs.session import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TASKS = 4
ROWS = 100
MOST = 10
"""The number of rows of a file."""


class WaitingForBoth:
    """Returns the rows of a task; before its last ones, the first task waits until two attempts wrote."""

    def __init__(self, table: Path) -> None:
        self._table = str(table)

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            # More files than one attempt of each task writes.
            while ROWS - 1 in batch["id"].to_pylist() and self._files() <= TASKS * ROWS // MOST:
                time.sleep(0.05)
            yield batch

    def _files(self) -> int:
        return len(list(Path(self._table).glob("*.parquet")))


@contextmanager
def cluster(scratch: Path) -> Iterator[str]:
    """Runs a master and two workers; yields the address of the master."""
    started: list[subprocess.Popen[bytes]] = []
    home = Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent)

    def start(name: str, *arguments: str) -> Path:
        log = scratch / f"{len(started)}.log"
        command = [home / "bin" / "spark-class", f"org.apache.spark.deploy.{name}", *arguments]
        settings = {**os.environ, "SPARK_LOCAL_DIRS": str(scratch), "SPARK_DAEMON_MEMORY": "256m"}
        with log.open("wb") as out:
            started.append(subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=settings))
        return log

    try:
        log = start("master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        master = _address(log, started[0])
        for host in ("127.0.0.1", "127.0.0.2"):
            folder = scratch / host
            folder.mkdir()
            given = ["--host", host, "--cores", "2", "--memory", "1g", "--work-dir", str(folder)]
            start("worker.Worker", *given, "--webui-port", "0", master)
        yield master
    finally:
        for each in started:
            each.send_signal(signal.SIGTERM)
        for each in started:
            each.wait()


def _address(log: Path, process: subprocess.Popen[bytes]) -> str:
    while True:
        for word in log.read_text("utf-8").split():
            if word.startswith("spark://"):
                return word.rstrip(".,")
        if process.poll() is not None:
            raise SystemExit(log.read_text("utf-8"))
        time.sleep(0.05)


def written(spark: SparkSession, path: Path) -> list[Any]:
    """Returns the number of rows of a table, of different ones, and that of the commit."""
    # Long rows, which no buffer on their way keeps.
    rows = spark.range(0, TASKS * ROWS, 1, TASKS).selectExpr("id", "REPEAT('long', 5000) AS text")
    frame = rows.mapInArrow(WaitingForBoth(path), rows.schema)
    commit = ds.write(frame).option("maxRecordsPerFile", MOST).save(path)
    ids = deltaic.Table(path).to_arrow()["id"].to_pylist()
    return [len(ids), len(set(ids)), commit.metrics["numOutputRows"] if commit else None]


def main(scratch: str) -> None:
    """Prints what is written."""
    folder = Path(scratch)
    with cluster(folder) as master:
        spark = session(
            master,
            spark__executor__memory="512m",
            spark__executor__cores="2",
            spark__sql__execution__arrow__maxRecordsPerBatch=str(MOST),
            spark__speculation="true",
            spark__speculation__interval="100ms",
            spark__speculation__minTaskRuntime="100ms",
            spark__speculation__quantile="0.5",
            spark__scheduler__minRegisteredResourcesRatio="1.0",
            spark__scheduler__maxRegisteredResourcesWaitingTime="3000s",
            spark__cores__max="4",
        )
        told = written(spark, folder / "table")
        spark.stop()
    print(json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
