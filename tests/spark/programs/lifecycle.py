"""A process that enables sessions in every order, stops Spark, and starts it again."""

from __future__ import annotations

import json
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import deltaic.spark as ds
from tests.spark.programs.session import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def reads(spark: SparkSession, path: str) -> dict[str, Any]:
    """Returns what each way to read gives: the number of rows, and which way it took."""
    frame = spark.read.format("delta").load(path)
    query = (
        spark.readStream.format("deltaic").load(path).writeStream.format("noop")
        .option("checkpointLocation", tempfile.mkdtemp()).trigger(availableNow=True).start()
    )  # fmt: skip
    query.awaitTermination()
    return {
        "format": frame.where("id >= 0").count(),
        "way": ds.explain(frame).splitlines()[1].split()[1],
        "stream": query.lastProgress["numInputRows"],
    }


def many(spark: SparkSession, path: str) -> list[int]:
    """Returns the results of 24 queries of 8 threads, each by a name, a format or a view."""
    spark.read.format("delta").load(path).createOrReplaceTempView("viewed")

    def ask(number: int) -> int:
        condition = f"id < {number + 1}"
        if number % 3 == 0:
            return spark.sql(f"SELECT * FROM delta.`{path}` WHERE {condition}").count()  # noqa: S608
        frame = spark.table("viewed") if number % 3 == 1 else spark.read.format("delta").load(path)
        return frame.where(condition).count()

    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(ask, range(24)))


def main(path: str) -> None:
    """Prints the results as JSON."""
    found: dict[str, Any] = {}
    spark = session("local[2]")
    ds.register(spark)
    found["registered"] = reads(spark, path)
    found["registered, enabled"] = reads(ds.enable(spark), path)
    found["new session"] = reads(spark.newSession(), path)
    ds.register(spark)
    found["enabled, registered"] = reads(spark, path)
    found["threads"] = many(spark, path)
    spark.stop()
    spark = session("local[2]")
    found["a new context"] = reads(ds.enable(spark), path)
    spark.stop()
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
