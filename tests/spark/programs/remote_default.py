"""Reads a table by its plain path, both ways, while Hadoop's default file system does not respond."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import deltaic.spark as ds
from tests.spark.programs.session import session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def sums(frame: DataFrame) -> dict[str, int]:
    """Returns the sum of the ids of each partition."""
    return {row.p: row.s for row in frame.groupBy("p").agg({"id": "sum"}).toDF("p", "s").collect()}


def main(default: str, path: str) -> None:
    """Prints what each way reads, and which temporary files a load leaves."""
    spark = session("local[2]", spark__hadoop__fs__defaultFS=default)
    before = set(Path(tempfile.gettempdir()).iterdir())
    answers: dict[str, object] = {"native": sums(ds.read(spark).load(path))}
    answers["left"] = [str(left) for left in set(Path(tempfile.gettempdir()).iterdir()) - before]
    ds.register(spark)
    answers["source"] = sums(spark.read.format("deltaic").load(path))
    spark.stop()
    print(json.dumps(answers))


if __name__ == "__main__":
    main(*sys.argv[1:])
