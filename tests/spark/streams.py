"""Streams over tables: a source that has nothing but its stream, and a query that is run to its end."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deltaic.spark.stream_files import StreamFiles
from deltaic.spark.stream_offset import StreamOffset
from deltaic.spark.stream_options import StreamOptions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SOURCE = "deltaic_stream"


def register_source(spark: SparkSession, source: str = SOURCE) -> None:
    """A data source of that name, which can be streamed and nothing else."""
    from pyspark.sql.datasource import DataSource
    from pyspark.sql.types import LongType, StringType, StructField, StructType, TimestampType

    # Within the function, so that it is pickled as a whole: workers need not find this folder.
    class StreamSource(DataSource):
        @classmethod
        def name(cls) -> str:
            return source

        def schema(self) -> StructType:
            import deltaic
            from deltaic.spark.types import struct_type

            columns = struct_type(deltaic.Table(self.options["path"]).snapshot().schema.to_json())
            if self.options.get("readchangefeed") == "true":
                columns = StructType(
                    [
                        *columns.fields,
                        StructField("_change_type", StringType()),
                        StructField("_commit_version", LongType()),
                        StructField("_commit_timestamp", TimestampType()),
                    ]
                )
            return columns

        def streamReader(self, schema: StructType) -> Any:
            from deltaic.spark.stream import DeltaStreamReader

            return DeltaStreamReader(self.options, schema)

    spark.dataSource.register(StreamSource)


def stream_of(spark: SparkSession, root: Path, options: Mapping[str, str] | None = None) -> DataFrame:
    register_source(spark)
    return spark.readStream.format(SOURCE).options(**(options or {})).load(str(root))


def run(
    spark: SparkSession,
    root: Path,
    checkpoint: Path,
    out: Path,
    options: Mapping[str, str] | None = None,
) -> int:
    """Runs a stream into a folder of Parquet files until all that is there was read. Returns its batches."""
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
    """The files of a stream, without Spark."""
    return StreamFiles(StreamOptions.parse({"path": str(root), **options}))


def rows_between(files: StreamFiles, start: StreamOffset, end: StreamOffset) -> list[dict[str, Any]]:
    """The rows between two places, without Spark."""
    found: list[dict[str, Any]] = []
    for file in files.between(start, end):
        found.extend(file.task.read().read_all().to_pylist())
    return found
