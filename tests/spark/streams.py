"""Helpers for streams: run queries to their end, and read batches without Spark."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import deltaic.spark as ds
from deltaic.spark.stream.files import StreamFiles
from deltaic.spark.stream.offset import StreamOffset
from deltaic.spark.stream.options import Limits, StreamOptions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def stream_of(spark: SparkSession, root: Path, options: Mapping[str, str] | None = None) -> DataFrame:
    """Returns a stream of the table."""
    ds.register(spark)
    return spark.readStream.format("deltaic").options(**(options or {})).load(str(root))


def run(
    spark: SparkSession,
    root: Path,
    checkpoint: Path,
    out: Path,
    options: Mapping[str, str] | None = None,
) -> int:
    """Runs a stream into a folder of Parquet files until all rows are read. Returns the number of batches."""
    stream = stream_of(spark, root, options)
    query = (
        stream.writeStream.format("parquet")
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start(str(out))
    )
    try:
        query.awaitTermination()
        return sum(1 for progress in query.recentProgress if progress["numInputRows"])
    finally:
        query.stop()


def opened(root: Path, **options: str) -> StreamFiles:
    """Returns the files of a stream, without Spark."""
    return StreamFiles(StreamOptions.parse({"path": str(root), **options}))


def rows_between(files: StreamFiles, start: StreamOffset, end: StreamOffset) -> list[dict[str, Any]]:
    """Returns the rows between two offsets, without Spark."""
    found: list[dict[str, Any]] = []
    for file in files.between(start, end):
        found.extend(file.task.read().read_all().to_pylist())
    return found


def batches(files: StreamFiles, start: StreamOffset, limits: Limits) -> list[tuple[StreamOffset, list[str]]]:
    """Returns the ends of all batches after an offset, and the files of each batch."""
    found: list[tuple[StreamOffset, list[str]]] = []
    while (end := files.end_of_batch(start, limits)) != start:
        found.append((end, [file.task.path for file in files.between(start, end)]))
        start = end
    return found
