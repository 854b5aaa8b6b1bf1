"""Reads and writes tables on a cluster of two executor processes, with and without Python on them."""

from __future__ import annotations

import json
import os
import signal
import sys
import tarfile
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pyspark

import deltaic
import deltaic.spark as ds
from tests.spark import java
from tests.spark.as_arrow import by_arrow
from tests.spark.programs.session import session

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import DataFrame, SparkSession


def own_home(folder: Path) -> None:
    """Creates a Spark home that links to the installed one, except for `work`, where executors write."""
    folder.mkdir()
    installed = Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent)
    for each in installed.iterdir():
        if each.name != "work":
            (folder / each.name).symlink_to(each)
    os.environ["SPARK_HOME"] = str(folder)


def packed(archive: Path) -> str:
    """Packs the package as `docs/guides/spark-cluster.md` describes, and returns the name to unpack it as."""
    with tarfile.open(archive, "w") as out:
        out.add(
            Path(deltaic.__file__).parent,
            "deltaic",
            filter=lambda member: None if "__pycache__" in member.name else member,
        )
    return f"{archive}#libraries"


def answers(frame: DataFrame) -> dict[str, Any]:
    """Returns what the tests compare: sums, the rows of one partition, and a self-join."""
    by_region = frame.groupBy("region").agg({"id": "sum"}).toDF("region", "s").collect()
    return {
        "sums": {row.region: row.s for row in by_region},
        "one partition": frame.where("region = 'EU' AND id >= 200").count(),
        "joined": frame.join(frame.withColumnRenamed("region", "other"), "id").count(),
        "rows": sorted(map(list, frame.where("id < 4").collect())),
    }


def tasks_by_executor(spark: SparkSession) -> dict[str, int]:
    """Returns the number of finished tasks per executor."""
    context = cast("Any", spark.sparkContext)._jsc.sc()
    # Spark counts tasks when it handles the events of their ends.
    context.listenerBus().waitUntilEmpty(3_000_000)
    told = context.statusStore().executorList(True)
    executors = [told.apply(i) for i in range(told.size())]
    return {each.id(): each.totalTasks() for each in executors if each.id() != "driver"}


def where_python_runs(_: Iterable[Any]) -> Iterator[tuple[str, str, int]]:
    """Yields the executor's working directory, the package's path there, and a count from its Rust core."""
    import pyarrow as pa

    import deltaic

    table = deltaic.Table.create("memory://there/", pa.schema([("id", pa.int64())]))
    table.append(pa.table({"id": pa.array([1, 2], pa.int64())}))
    yield str(Path.cwd()), str(Path(deltaic.__file__).resolve()), table.snapshot().scan().count()


def failing_twice(batches: Iterator[Any]) -> Iterator[Any]:
    """Returns rows; the first two attempts of each task fail after their first rows."""
    from pyspark import TaskContext

    attempt = cast("Any", TaskContext.get()).attemptNumber()
    for batch in batches:
        yield batch
        if attempt < 2:
            raise RuntimeError("this attempt fails")


class HaltingOnce:
    """Returns rows; the first task kills its executor after its first rows."""

    def __init__(self, marker: Path) -> None:
        self._marker = str(marker)

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            yield batch
            with suppress(FileExistsError):
                os.close(os.open(self._marker, os.O_CREAT | os.O_EXCL))
                os.kill(_executor(), signal.SIGKILL)


def _executor() -> int:
    """Returns the process of the executor, an ancestor of its Python workers."""
    process = os.getppid()
    while Path(f"/proc/{process}/comm").read_text("utf-8").strip() != "java":
        status = Path(f"/proc/{process}/stat").read_text("utf-8")
        process = int(status.rpartition(")")[2].split()[1])
    return process


def written(spark: SparkSession, folder: Path) -> dict[str, Any]:
    """Returns the rows of tables whose tasks ran again, and what the versions of their logs added."""
    told: dict[str, Any] = {}
    for way, taken in (("", nullcontext), (", as Arrow data", by_arrow)):
        halting = HaltingOnce(folder / f"marker{way}")
        for name, work in ((f"failing{way}", failing_twice), (f"halting{way}", halting)):
            frame = spark.range(0, 1_000, 1, 4).mapInArrow(work, "id long")
            with taken():
                commit = ds.write(frame).save(folder / name)
            rows = deltaic.Table(folder / name).to_arrow()["id"].to_pylist()
            told[name] = [len(rows), len(set(rows)), commit.metrics["numOutputRows"] if commit else None]
    return told


def main(path: str, scratch: str) -> None:
    """Prints the results of both ways, and the tasks of each executor."""
    own_home(Path(scratch) / "home")
    # The executors have no Python until the native scan has finished.
    python = Path(scratch) / "python"
    os.environ["PYSPARK_PYTHON"] = str(python)
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    spark = session(
        "local-cluster[2,1,1024]",
        spark__executor__memory="512m",
        spark__executor__extraJavaOptions=java.SHORT,
        # Neither compiled queries nor their adaptation depend on the cluster.
        spark__sql__codegen__wholeStage="false",
        spark__sql__codegen__factoryMode="NO_CODEGEN",
        spark__sql__adaptive__enabled="false",
        # Both executors must be registered before the first task is scheduled.
        spark__scheduler__minRegisteredResourcesRatio="1.0",
        spark__scheduler__maxRegisteredResourcesWaitingTime="3000s",
        spark__ui__liveUpdate__period="0",
        spark__archives=packed(Path(scratch) / "libraries.tar"),
        spark__executorEnv__PYTHONPATH="libraries",
    )
    told: dict[str, Any] = {"native": answers(ds.read(spark).load(path))}
    told["native tasks"] = tasks_by_executor(spark)

    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    # Tasks of a barrier run at the same time, so that each executor runs one of them.
    both = spark.sparkContext.parallelize(range(2), 2).barrier()
    told["places"] = sorted(set(both.mapPartitions(where_python_runs).collect()))
    before = tasks_by_executor(spark)
    ds.register(spark)
    told["source"] = answers(spark.read.format("deltaic").load(path))
    after = tasks_by_executor(spark)
    told["source tasks"] = {name: after[name] - before[name] for name in after}
    told["written"] = written(spark, Path(scratch))
    spark.stop()
    print(json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
