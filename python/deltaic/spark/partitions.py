"""Scan tasks packed into Spark's partitions, balanced by bytes."""

from __future__ import annotations

import heapq
import os
from collections.abc import Callable, Sequence
from typing import TypeVar

__all__ = ["balanced", "partition_count"]

Task = TypeVar("Task")

# As Spark's spark.sql.files.maxPartitionBytes by default, and as the least share of its file scans.
_MOST_BYTES = 128 * 1024 * 1024
_LEAST_SHARE = 4 * 1024 * 1024
# To open a file takes as long as to read so many bytes.
_OPEN_COST = 1024 * 1024


def partition_count(sizes: Sequence[int], parallelism: int | None = None) -> int:
    """How many partitions files of these sizes are worth, much as Spark's own file scans count.

    Args:
        sizes: In bytes.
        parallelism: How many tasks can run at once. Spark does not tell a data source, so by itself as many
            as the driver's machine has processors: right where the driver does the work, and elsewhere the
            bound of a partition's bytes counts.

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
    """The tasks in so many lists of nearly the same bytes: each goes to the lightest, the largest first.

    >>> balanced([5, 1, 3, 3], lambda task: task, 2)
    [[5, 1], [3, 3]]
    """
    lists: list[list[Task]] = [[] for _ in range(count)]
    loads = [(0, number) for number in range(count)]
    for task in sorted(tasks, key=size, reverse=True):
        load, number = heapq.heappop(loads)
        lists[number].append(task)
        # Of many small files the opening is the work.
        heapq.heappush(loads, (load + size(task) + _OPEN_COST, number))
    return lists
