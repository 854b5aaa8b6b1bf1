"""Many small files in few tasks: Spark's own packing takes 32 of them for one, however little they hold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from deltaic.spark.handed import Handed

__all__ = ["tasks_of", "with_fewer_tasks"]

_BYTES_OF_A_TASK = 16 << 20
_TASKS_OF_A_CORE = 16
# Of files on this machine. Others are waited for, which many tasks do at once.
_FILES_OF_A_TASK, _REMOTE_FILES_OF_A_TASK = 1024, 128
_FILES_OF_SPARKS_TASK = 32

# By which a session says itself how Spark packs files.
_PACKING = (
    "spark.sql.files.maxPartitionBytes",
    "spark.sql.files.openCostInBytes",
    "spark.sql.files.minPartitionNum",
    "spark.sql.files.maxPartitionNum",
    "spark.sql.leafNodeDefaultParallelism",
)


def with_fewer_tasks(spark: SparkSession, frame: DataFrame, handed: Handed) -> tuple[DataFrame, str | None]:
    """The DataFrame with its small files in fewer tasks, and what is told of that; else as it is.

    Nothing is shuffled, and Spark pushes columns and filters through. A session that says how files are
    packed is left to it; so is one whose cores come when they are needed, for files of a store.

    Args:
        spark: A classic session.
        frame: What reads the files.
        handed: What is known of them.
    """
    is_local = handed.uri.startswith("file:")
    grows = str(spark.conf.get("spark.dynamicAllocation.enabled", "false")).lower() == "true"
    # Spark lays large pieces side by side, so that one task would have them all.
    has_large = handed.largest_file_in_bytes > _BYTES_OF_A_TASK
    cores = spark.sparkContext.defaultParallelism
    tasks = tasks_of(handed.num_files, handed.size_in_bytes, cores=cores, is_local=is_local, grows=grows)
    says_itself = any(spark.conf.get(name, None) is not None for name in _PACKING)
    if tasks is None or has_large or says_itself:
        return frame, None
    return frame.coalesce(tasks), f"small files are packed into at most {tasks:,} tasks"


def tasks_of(
    files: int, size_in_bytes: int, *, cores: int, is_local: bool, grows: bool = False
) -> int | None:
    """In how many tasks small files are read at most; None where Spark makes no more by itself.

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
