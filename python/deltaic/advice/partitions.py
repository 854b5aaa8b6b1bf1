"""Files and bytes of each partition, and the findings on small files and skewed partitions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from deltaic.advice.facts import TableFacts, clustering_columns, quoted_name
from deltaic.advice.recommendation import Recommendation, literal
from deltaic.values.sizes import counted, readable_size
from deltaic.writing.dry_run import DryRun

__all__ = ["PartitionFigures", "check_partitions", "check_small_files", "partition_figures", "target_size"]

_DEFAULT_TARGET = 1 << 30
_SMALL = 32 << 20
_SHOWN = 5
_UNITS = {"": 0, "b": 0, "k": 10, "m": 20, "g": 30, "t": 40}
# A larger target has the same effect; Arrow computes with 64 bits.
_LARGEST_TARGET = 1 << 62


@dataclass(frozen=True)
class PartitionFigures:
    """The files of all partitions, as Arrow arrays with one value per partition."""

    values: Sequence[Any]
    """One array for each partition column; none for an unpartitioned table."""
    files: Any
    size_in_bytes: Any
    candidates: Any
    """The number of files that `Table.optimize` would combine or rewrite."""
    candidate_bytes: Any
    remaining: Any
    """The number of files after `Table.optimize`, at the least."""

    def __len__(self) -> int:
        return len(self.files)

    def largest(self, by: Any, count: int) -> list[int]:
        """Returns the indices of the partitions with the largest values, the largest first."""
        compute = import_module("pyarrow.compute")
        order = compute.sort_indices(by, sort_keys=[("", "descending")])
        return order.slice(0, count).to_pylist()

    def name(self, index: int, columns: Sequence[str]) -> str:
        """Formats the values of a partition as ``day=2026-11-01, shop=NULL``."""
        shown = (_shown(array[index].as_py()) for array in self.values)
        return ", ".join(f"{column}={value}" for column, value in zip(columns, shown, strict=True))


def target_size(properties: dict[str, str]) -> int:
    """The target size of `Table.optimize` in bytes.

    >>> target_size({}), target_size({"delta.targetFileSize": "100mb"})
    (1073741824, 104857600)
    """
    text = properties.get("delta.targetFileSize", "").strip().lower()
    found = re.fullmatch(r"([0-9]{1,20})\s*(?:([kmgt]?)(?:i?b)?)", text)
    if not found or int(found[1]) == 0:
        return _DEFAULT_TARGET
    return min(_LARGEST_TARGET, int(found[1]) << _UNITS[found[2]])


def partition_figures(facts: TableFacts) -> PartitionFigures:
    """Counts the files of each partition, and those that an optimization would leave."""
    arrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    target = target_size(facts.snapshot.properties)
    is_candidate = compute.less(facts.sizes, target)
    keys = [f"p{number}" for number in range(len(facts.partition_values))] or ["all"]
    values = list(facts.partition_values) or [arrow.repeat(0, len(facts.sizes))]
    grouped = (
        arrow.table(
            {
                **dict(zip(keys, values, strict=True)),
                "size": facts.sizes,
                "candidate": compute.cast(is_candidate, arrow.int64()),
                "candidate_bytes": compute.if_else(is_candidate, facts.sizes, 0),
            }
        )
        .group_by(keys)
        .aggregate([("size", "count"), ("size", "sum"), ("candidate", "sum"), ("candidate_bytes", "sum")])
        .combine_chunks()
    )
    files, candidates = grouped["size_count"], grouped["candidate_sum"]
    bytes_in = grouped["candidate_bytes_sum"]
    new = compute.max_element_wise(compute.add(compute.divide(compute.subtract(bytes_in, 1), target), 1), 1)
    combined = compute.add(compute.subtract(files, candidates), new)
    return PartitionFigures(
        values=[grouped[key] for key in keys] if facts.partition_values else [],
        files=files,
        size_in_bytes=grouped["size_sum"],
        candidates=candidates,
        candidate_bytes=bytes_in,
        remaining=compute.if_else(compute.greater_equal(candidates, 2), combined, files),
    )


def check_small_files(
    facts: TableFacts, partitions: PartitionFigures, preview: DryRun | None
) -> Iterator[Recommendation]:
    """Compares the number of files with that after an optimization.

    Args:
        facts: The table.
        partitions: Its partitions.
        preview: What an optimization would do, if that was computed: exact.
    """
    compute = import_module("pyarrow.compute")
    threshold = min(_SMALL, target_size(facts.snapshot.properties))
    small = compute.sum(compute.less(facts.sizes, threshold)).as_py()
    total = len(facts.sizes)
    remaining: int = compute.sum(partitions.remaining).as_py() or 0
    if preview is not None:
        remaining = total - preview.rewritten_files - preview.removed_files + preview.added_files
    saved = total - remaining
    if not small or saved < 4:
        return
    exact = "" if preview is not None else "about "
    places: list[dict[str, Any]] = []
    if partitions.values:
        gain = compute.subtract(partitions.files, partitions.remaining)
        places = [
            {
                "partition": partitions.name(index, facts.snapshot.partition_columns),
                "files": partitions.files[index].as_py(),
                "remaining_files": partitions.remaining[index].as_py(),
                "size_in_bytes": partitions.size_in_bytes[index].as_py(),
            }
            for index in partitions.largest(gain, _SHOWN)
        ]
    most = "".join(
        f"; most in {place['partition']} ({place['files']:,} files to {place['remaining_files']:,})"
        for place in places[:1]
    )
    rewritten = preview.rewritten_bytes if preview else compute.sum(partitions.candidate_bytes).as_py()
    yield Recommendation(
        "SMALL_FILES",
        "warning" if saved >= 1000 else "advice" if saved >= 16 else "info",
        f"{small:,} of {counted(total, 'file')} are smaller than {readable_size(threshold)}",
        f"Each file costs a request and a footer in every scan{most}.",
        f"{exact}{total:,} files become {remaining:,}; {readable_size(rewritten)} are rewritten",
        "table.optimize()",
        "deltaic optimize PATH",
        {
            "files": total,
            "small_files": small,
            "remaining_files": remaining,
            "is_exact": preview is not None,
            "rewritten_bytes": rewritten,
            "partitions": places,
        },
    )


def check_partitions(facts: TableFacts, partitions: PartitionFigures) -> Iterator[Recommendation]:
    """Looks for one partition that is much larger than others, and for very many very small ones."""
    if not partitions.values or len(partitions) < 2 or clustering_columns(facts.snapshot):
        return
    compute = import_module("pyarrow.compute")
    columns = facts.snapshot.partition_columns
    [largest] = partitions.largest(partitions.size_in_bytes, 1)
    most: int = partitions.size_in_bytes[largest].as_py()
    median = int(compute.quantile(partitions.size_in_bytes, q=0.5)[0].as_py())
    figures = {
        "partitions": len(partitions),
        "largest": partitions.name(largest, columns),
        "largest_bytes": most,
        "median_bytes": median,
        "share_of_largest": round(most / max(1, facts.snapshot.size_in_bytes), 4),
    }
    names = ", ".join(literal(quoted_name([name])) for name in columns[:4])
    copy = (
        f'deltaic.Table.create("NEW_PATH", table.snapshot().schema, cluster_by=[{names}])'
        ".append(table.snapshot().scan())"
    )
    if len(partitions) >= 100 and median < (1 << 20):
        yield Recommendation(
            "SMALL_PARTITIONS",
            "warning" if len(partitions) >= 10_000 else "advice",
            f"{len(partitions):,} partitions, of which half hold less than {readable_size(max(1, median))}",
            "Files of different partitions are never combined, so the table cannot have fewer files than "
            "partitions.",
            f"clustering needs about {_files_for(facts):,} files instead of at least {len(partitions):,}",
            copy,
            "",
            figures,
        )
    elif most >= 10 * max(1, median) and most >= (128 << 20):
        yield Recommendation(
            "SKEWED_PARTITIONS",
            "advice",
            f"the largest of {len(partitions):,} partitions is {most / max(1, median):,.0f} times the median",
            f"{figures['largest']} holds {readable_size(most)}, {figures['share_of_largest']:.0%} of the "
            f"table; the median is {readable_size(median)}. Jobs for each partition wait for the largest.",
            "clustering divides the rows by size, not by value",
            copy,
            "",
            figures,
        )


def _files_for(facts: TableFacts) -> int:
    return max(1, -(-facts.snapshot.size_in_bytes // target_size(facts.snapshot.properties)))


def _shown(value: object) -> str:
    text = "NULL" if value is None else str(value)
    return text if len(text) <= 40 else text[:39] + "…"
