"""Packs scan tasks into Spark partitions, balanced by bytes."""

from __future__ import annotations

import heapq
import os
from collections.abc import Callable, Sequence
from typing import TypeVar

__all__ = ["balanced", "partition_count"]

Task = TypeVar("Task")

# The default of spark.sql.files.maxPartitionBytes, and the minimum split size of Spark's file scans.
_MOST_BYTES = 128 * 1024 * 1024
_LEAST_SHARE = 4 * 1024 * 1024
# Opening a file takes as long as reading this many bytes.
_OPEN_COST = 1024 * 1024


def partition_count(sizes: Sequence[int], parallelism: int | None = None) -> int:
    """Returns the number of partitions for files of these sizes, similar to Spark's own file scans.

    Args:
        sizes: In bytes.
        parallelism: The number of concurrent tasks. A data source cannot query Spark for it, so the default
            is the number of processors of the driver's host: correct in local mode; elsewhere the maximum
            size of a partition decides.

    >>> partition_count([]), partition_count([1000] * 3, 8), partition_count([1 << 30] * 4, 2)
    (1, 1, 4)
    >>> partition_count([64 << 20] * 64, 2)
    33
    """
    if not sizes:
        return 1
    cost = sum(sizes) + len(sizes) * _OPEN_COST
    share = cost // max(1, parallelism or os.cpu_count() or 1)
    most = min(_MOST_BYTES, max(_LEAST_SHARE, share))
    return max(1, min(len(sizes), -(-cost // most)))


def balanced(tasks: Sequence[Task], size: Callable[[Task], int], count: int) -> list[list[Task]]:
    """Distributes tasks to lists of nearly equal size: the largest first, each to the smallest list.

    >>> balanced([5, 1, 3, 3], lambda task: task, 2)
    [[5, 1], [3, 3]]
    """
    lists: list[list[Task]] = [[] for _ in range(count)]
    loads = [(0, number) for number in range(count)]
    for task in sorted(tasks, key=size, reverse=True):
        load, number = heapq.heappop(loads)
        lists[number].append(task)
        # For many small files, opening them dominates.
        heapq.heappush(loads, (load + size(task) + _OPEN_COST, number))
    return lists
