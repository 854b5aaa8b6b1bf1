"""Packs many small files into few tasks: Spark's own packing takes 32 per task, however small they are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from deltaic.spark.native.scan_plan import NativeScanPlan

__all__ = ["tasks_of", "with_fewer_tasks"]

_BYTES_OF_A_TASK = 16 << 20
_TASKS_OF_A_CORE = 16
# For local files. Remote files have latency, which many concurrent tasks hide.
_FILES_OF_A_TASK, _REMOTE_FILES_OF_A_TASK = 1024, 128
_FILES_OF_SPARKS_TASK = 32

# Settings with which a session configures Spark's packing of files.
_PACKING = (
    "spark.sql.files.maxPartitionBytes",
    "spark.sql.files.openCostInBytes",
    "spark.sql.files.minPartitionNum",
    "spark.sql.files.maxPartitionNum",
    "spark.sql.leafNodeDefaultParallelism",
)


def with_fewer_tasks(
    spark: SparkSession, frame: DataFrame, scan_plan: NativeScanPlan
) -> tuple[DataFrame, str | None]:
    """Returns the DataFrame with its small files in fewer tasks, and a note on it; else unchanged.

    There is no shuffle, and Spark pushes columns and filters through. Unchanged if the session configures the
    packing of files, or allocates executors dynamically and the files are remote.

    Args:
        spark: A classic session.
        frame: The DataFrame that reads the files.
        scan_plan: The native scan plan.
    """
    is_local = scan_plan.uri.startswith("file:")
    grows = str(spark.conf.get("spark.dynamicAllocation.enabled", "false")).lower() == "true"
    # Spark sorts large splits next to each other, so that one task would read them all.
    has_large = scan_plan.largest_file_in_bytes > _BYTES_OF_A_TASK
    cores = spark.sparkContext.defaultParallelism
    tasks = tasks_of(
        scan_plan.num_files, scan_plan.size_in_bytes, cores=cores, is_local=is_local, grows=grows
    )
    is_configured = any(spark.conf.get(name, None) is not None for name in _PACKING)
    if tasks is None or has_large or is_configured:
        return frame, None
    return frame.coalesce(tasks), f"small files are packed into at most {tasks:,} tasks"


def tasks_of(
    files: int, size_in_bytes: int, *, cores: int, is_local: bool, grows: bool = False
) -> int | None:
    """Returns the maximum number of tasks for small files; None if Spark creates no more by itself.

    Example:
        >>> tasks_of(100_000, 1_000_000_000, cores=2, is_local=True)
        98
        >>> tasks_of(100_000, 1_000_000_000, cores=2, is_local=False, grows=True) is None
        True
        >>> tasks_of(1_000, 10_000_000, cores=2, is_local=True) is None
        True
    """
    if grows and not is_local:
        return None
    tasks = max(
        _TASKS_OF_A_CORE * cores,
        math.ceil(files / (_FILES_OF_A_TASK if is_local else _REMOTE_FILES_OF_A_TASK)),
        math.ceil(size_in_bytes / _BYTES_OF_A_TASK),
    )
    return tasks if files > tasks * _FILES_OF_SPARKS_TASK else None
