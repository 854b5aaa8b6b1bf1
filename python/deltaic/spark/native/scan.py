"""The native scan: deltaic reads the log, Spark's vectorised Parquet reader reads the data files.

An index in Spark's driver has the snapshot's files, each with a row of constant values. Spark asks it for the
files that a query reads: filters on partition columns are applied by Spark's predicates, other filters leave
out files by the statistics in the log, wherever the filter is in the query.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pyspark.sql.types import LongType, StructField, StructType

from deltaic.spark.native.projection import OPTIONS, Projection
from deltaic.spark.native.tasks import with_fewer_tasks
from deltaic.spark.runtime.classes import Callback, list_file
from deltaic.values.optional import require

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from deltaic.spark.native.scan_plan import NativeScanPlan

__all__ = ["NativeScan", "native_scan"]


@dataclass(frozen=True)
class NativeScan:
    """The DataFrame of a native scan, and its description."""

    frame: DataFrame
    key: str
    """The key of its index in Spark's plans."""
    notes: list[str] = field(default_factory=list[str])
    """What is attached to the files, and how."""


def native_scan(
    spark: SparkSession,
    classes: Any,
    scan_plan: NativeScanPlan,
    answer: Callable[[str], bytes | str | None],
    *,
    file_list: Any,
    hadoop_options: dict[str, str],
    purpose: str = "",
) -> NativeScan:
    """Returns a DataFrame with the table's columns in their order, read by Spark alone.

    Args:
        spark: A classic session.
        classes: The result of `java_classes`.
        scan_plan: The native scan plan.
        answer: Answers requests of the index: which files pass a tree of filters, or `aggregates`.
        file_list: As `_rust.NativeScanPlan.file_list`.
        hadoop_options: Settings of Hadoop's file systems for this read.
        purpose: Distinguishes its index from others of the same files.
    """
    pa = require("pyarrow", "deltaic.spark.read")
    projection = Projection(spark, scan_plan)
    fields, arrays = projection.file_values()
    ordinals, times = (scan_plan.files.column(index) for index in (0, 1))
    if scan_plan.vectors.num_rows:
        fields.append(StructField(projection.name("file"), LongType(), nullable=False))
        arrays.append(ordinals)
    uris, lengths = pa.table(file_list).columns
    names = ["uri", "length", "time", *(each.name for each in fields)]
    key = _key(scan_plan, [uris, lengths, times]) + purpose
    path = list_file(pa.table([uris, lengths, times, *arrays], names=names))
    try:
        made = classes.Relations.frame(
            cast("Any", spark)._jsparkSession,  # noqa: SLF001 - no public way
            key,
            scan_plan.uri,
            path,
            scan_plan.num_files,
            projection.stored().json(),
            StructType(fields).json(),
            projection.name("") if scan_plan.vectors.num_rows else "",
            {**OPTIONS, **hadoop_options},
            Callback(answer),
        )
    finally:
        Path(path).unlink()
    frame = projection.rows(_with_row_index(_frame(made, spark), projection, scan_plan))
    frame, packed = with_fewer_tasks(spark, frame, scan_plan)
    return NativeScan(frame, key, [*projection.notes, *([packed] if packed else [])])


def _frame(made: Any, spark: SparkSession) -> DataFrame:
    from pyspark.sql.classic.dataframe import DataFrame as ClassicFrame

    return ClassicFrame(made, spark)


def _with_row_index(frame: DataFrame, projection: Projection, scan_plan: NativeScanPlan) -> DataFrame:
    if not scan_plan.vectors.num_rows and scan_plan.row_columns is None:
        return frame
    # Not frame["_metadata"]: a table may have a column of that name.
    about = frame.metadataColumn("_metadata")
    return frame.select("*", about["row_index"].alias(projection.name("row")))


def _key(scan_plan: NativeScanPlan, columns: list[Any]) -> str:
    """Returns a key that is equal for the same files; the version is not enough if a table is replaced."""
    digest = hashlib.blake2b(digest_size=16)
    for column in columns:
        for chunk in column.chunks:
            for buffer in chunk.buffers():
                if buffer is not None:
                    digest.update(buffer)
    return f"{scan_plan.uri} {scan_plan.version} {digest.hexdigest()}"
