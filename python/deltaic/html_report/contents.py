"""What the page shows besides the advice: sizes over time, sizes of files, partitions and commits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module

from deltaic.advice.facts import TableFacts
from deltaic.advice.partitions import partition_figures
from deltaic.commit import Commit
from deltaic.exceptions import DeltaicError
from deltaic.html_report.charts import Bar
from deltaic.reading.snapshot import Snapshot
from deltaic.values.sizes import counted, readable_size

__all__ = ["SizeAt", "changed_rows", "commit_kind", "file_size_bars", "partition_bars", "sizes_over_time"]

_MOST_PARTITIONS = 20
_MOST_VERSIONS = 24
# Reading earlier versions of a larger table would take long.
_MOST_FILES = 50_000
_ROWS = (
    "numOutputRows",
    "numDeletedRows",
    "numUpdatedRows",
)
_MERGED_ROWS = ("numTargetRowsInserted", "numTargetRowsUpdated", "numTargetRowsDeleted")
_KINDS = {
    "WRITE": "add",
    "STREAMING UPDATE": "add",
    "CREATE TABLE AS SELECT": "add",
    "COPY INTO": "add",
    "UPDATE": "change",
    "MERGE": "change",
    "RESTORE": "change",
    "REPLACE TABLE": "change",
    "REPLACE TABLE AS SELECT": "change",
    "CREATE OR REPLACE TABLE AS SELECT": "change",
    "DELETE": "remove",
    "TRUNCATE": "remove",
    "REMOVE FILES": "remove",
}


@dataclass(frozen=True)
class SizeAt:
    """The size of one version, as its snapshot has it."""

    version: int
    size_in_bytes: int
    files: int


def sizes_over_time(newest: Snapshot, at: Callable[[int], Snapshot], versions: Sequence[int]) -> list[SizeAt]:
    """Reads the sizes of some versions, evenly distributed, the oldest first.

    Args:
        newest: The newest version.
        at: Loads a version.
        versions: The versions that the log still holds, in any order.

    Returns:
        The versions that can be read; only the newest one of a very large table.
    """
    found = [SizeAt(newest.version, newest.size_in_bytes, newest.num_files)]
    if newest.num_files > _MOST_FILES:
        return found
    older = sorted((version for version in set(versions) if version < newest.version), reverse=True)
    step = max(1, -(-len(older) // (_MOST_VERSIONS - 1)))
    wanted = older[step - 1 :: step]
    if older and wanted[-1:] != older[-1:]:
        wanted.append(older[-1])
    # Versions before one that cannot be read are not read either.
    with suppress(DeltaicError):
        for version in wanted:
            snapshot = at(version)
            found.append(SizeAt(version, snapshot.size_in_bytes, snapshot.num_files))
    return found[::-1]


def file_size_bars(facts: TableFacts) -> list[Bar]:
    """Counts the files by size, in steps of a factor of four."""
    if not len(facts.sizes):
        return []
    arrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    positive = compute.max_element_wise(facts.sizes, 1)
    steps = compute.floor(
        compute.divide(compute.log2(compute.cast(positive, arrow.float64(), safe=False)), 2.0)
    )
    steps = compute.max_element_wise(compute.cast(steps, arrow.int64()), 4)
    counts = {pair["values"]: pair["counts"] for pair in compute.value_counts(steps).to_pylist()}
    bars: list[Bar] = []
    for step in range(min(counts), max(counts) + 1):
        low, high = readable_size(4**step), readable_size(4 ** (step + 1))
        label = f"below {high}" if step == 4 else f"{low} to {high}"
        bars.append(Bar(label.replace(".0 ", " "), counts.get(step, 0), counted(counts.get(step, 0), "file")))
    return bars


def partition_bars(facts: TableFacts) -> tuple[list[Bar], int]:
    """Returns the largest partitions by bytes, and the number of all partitions."""
    if not facts.partition_values or not len(facts.sizes):
        return [], 0
    figures = partition_figures(facts)
    columns = facts.snapshot.partition_columns
    bars = [
        Bar(
            figures.name(index, columns),
            figures.size_in_bytes[index].as_py(),
            f"{readable_size(figures.size_in_bytes[index].as_py())}, "
            f"{counted(figures.files[index].as_py(), 'file')}",
        )
        for index in figures.largest(figures.size_in_bytes, _MOST_PARTITIONS)
    ]
    return bars, len(figures)


def changed_rows(commit: Commit) -> int | None:
    """The number of rows that a commit added, changed and deleted; None if its metrics do not specify it."""
    metrics = commit.metrics
    names = _MERGED_ROWS if any(name in metrics for name in _MERGED_ROWS) else _ROWS
    values = [value for name in names if isinstance(value := metrics.get(name), int)]
    return sum(values) if values else None


def commit_kind(commit: Commit) -> str:
    """``"add"``, ``"change"``, ``"remove"``, or ``"other"`` for operations that keep the rows."""
    return _KINDS.get(commit.operation or "", "other")
