"""The rows that the benchmark of writes writes, computed by Spark in each task."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spark_ways import NATIVE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CODECS = ("snappy", "zstd")
_PLAIN = (
    "id",
    "CAST(id % 1000 AS int) AS small",
    "id * 1.5D AS price",
    "CAST(id % 100000 AS decimal(12, 2)) AS amount",
    "id % 3 = 0 AS flag",
    "DATE '2026-01-01' + CAST(id % 365 AS int) AS day",
    "TIMESTAMP_MICROS(1767225600000000 + id * 1000) AS at",
    "CONCAT('item ', id % 5000) AS item",
    "IF(id % 10 = 0, NULL, id % 77) AS some",
    "XXHASH64(id) AS hash",
)


@dataclass(frozen=True)
class Shape:
    """Rows of one kind."""

    name: str
    columns: tuple[str, ...]
    count: int
    goal: float
    """The goal of deltaic's wall time, as a share of delta-spark's."""
    partition_by: tuple[str, ...] = ()
    batches: int = 0
    """The number of batches of a stream; 0 for one append."""

    def asked(self, scale: float) -> dict[str, Any]:
        """Returns the name, and the numbers of rows and batches at a scale."""
        batches = max(2, round(self.batches * scale)) if self.batches else 0
        return {"shape": self.name, "rows": max(1_000, round(self.count * scale)), "batches": batches}


SHAPES = {
    shape.name: shape
    for shape in (
        Shape("plain", _PLAIN, 20_000_000, 0.75),
        Shape(
            "strings",
            ("id", *(f"SHA2(CONCAT(id, '{part}'), 512) AS text_{part}" for part in "abcd")),
            2_000_000,
            0.65,
        ),
        Shape(
            "nested",
            (
                "id",
                "NAMED_STRUCT('a', id, 'b', NAMED_STRUCT('c', CONCAT('t', id % 100), 'd', id / 3)) AS struct",
                "TRANSFORM(SEQUENCE(1, CAST(id % 5 AS int) + 1), x -> x * id) AS list",
                "MAP('k', id, 'l', id % 7) AS map",
            ),
            4_000_000,
            0.8,
        ),
        Shape("partitioned", (*_PLAIN, "CAST(id % 50 AS int) AS p"), 5_000_000, 0.95, ("p",)),
        Shape("stream", ("id", "CONCAT('t', id) AS text"), 100_000, 0.3, batches=100),
    )
}


def frame_of(spark: SparkSession, shape: Shape, rows: int) -> DataFrame:
    """Returns the rows, of which two tasks compute half each."""
    return spark.range(0, rows, 1, 2).selectExpr(*shape.columns)


def write(spark: SparkSession, way: str, asked: dict[str, Any]) -> float:
    """Appends the rows of a shape; returns the seconds that it took."""
    shape, path, codec = SHAPES[asked["shape"]], asked["table"], asked["codec"]
    if way == NATIVE:
        import deltaic.spark as ds

        ds.enable(spark)
    spark.conf.set("spark.sql.parquet.compression.codec", codec)
    frame = frame_of(spark, shape, asked["rows"])
    begin = time.perf_counter()
    if shape.batches:
        _stream(spark, frame, path, codec, asked["batches"])
    else:
        writer = frame.write.format("delta").mode("append").option("compression", codec)
        writer.partitionBy(*shape.partition_by).save(path)
    return time.perf_counter() - begin


def _stream(spark: SparkSession, frame: DataFrame, path: str, codec: str, batches: int) -> None:
    """Writes the rows as a stream of Parquet files, one batch for each."""
    source = Path(f"{path} source")
    if not source.exists():
        frame.repartition(batches).write.parquet(str(source))
    stream = spark.readStream.schema(frame.schema).option("maxFilesPerTrigger", 1).parquet(str(source))
    checkpoint = f"{path} checkpoint {time.time_ns()}"
    writer = stream.writeStream.format("delta").option("checkpointLocation", checkpoint)
    query = writer.option("compression", codec).trigger(availableNow=True).start(path)
    query.awaitTermination()


def answer(spark: SparkSession, path: str) -> list[Any]:
    """Returns what the rows of a table are: their number, and a sum of their hashes."""
    frame = spark.read.format("delta").load(path)
    texts = [
        f"`{name}`" if kind != "map<string,bigint>" else f"TO_JSON(`{name}`)" for name, kind in frame.dtypes
    ]
    row = frame.selectExpr("COUNT(*)", f"SUM(CAST(XXHASH64({', '.join(texts)}) AS decimal(38, 0)))").first()
    return [str(value) for value in row or ()]
