"""Statistics and clustering of the columns that predicates use."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from deltaic.advice.facts import ColumnStatistics, TableFacts, clustering_columns, column_path, quoted_name
from deltaic.advice.partitions import target_size
from deltaic.advice.recommendation import Recommendation, literal
from deltaic.values.sizes import counted, readable_size

__all__ = ["ColumnClustering", "check_clustering", "check_statistics", "clustering_of"]

# Bytes that a predicate for one value reads.
_LITTLE, _MUCH = 64 << 20, 10 << 30
_STATS_COLUMNS = "delta.dataSkippingStatsColumns"
_NUM_INDEXED = "delta.dataSkippingNumIndexedCols"
_DEFAULT_INDEXED = 32
_MOST_CLUSTERING_COLUMNS = 4


@dataclass(frozen=True)
class ColumnClustering:
    """How well the files are separated by one column, according to its bounds in the statistics."""

    name: str
    """The column; a field of a struct with dots, and backticks around parts that need them."""

    files: int
    """The number of files with bounds."""

    average_depth: float | None
    """The number of files whose bounds contain a point, on average over the lower bounds of all files: 1.0 if
    no files overlap, the number of files if all do. None if no file has bounds."""

    maximum_depth: int | None
    """The largest number of files that contain one point."""

    overlapping_files: int | None
    """The number of files that share at least one point with another file."""

    @property
    def share(self) -> float | None:
        """The share of the files that a predicate for one value reads, on average."""
        return None if self.average_depth is None or not self.files else self.average_depth / self.files

    def to_dict(self) -> dict[str, Any]:
        """Returns the figures as plain values."""
        return {
            "name": self.name,
            "files": self.files,
            "average_depth": self.average_depth,
            "maximum_depth": self.maximum_depth,
            "overlapping_files": self.overlapping_files,
        }


def clustering_of(column: ColumnStatistics) -> ColumnClustering:
    """Measures the overlap of the files in a column, by sorting their bounds.

    >>> import pyarrow as pa
    >>> bounds = pa.array([1, 2, 9]), pa.array([2, 3, 9])
    >>> found = clustering_of(ColumnStatistics("id", *bounds, None, has_bounds=True))
    >>> found.average_depth, found.maximum_depth, found.overlapping_files
    (1.3333333333333333, 2, 2)
    """
    nothing = ColumnClustering(column.name, 0, None, None, None)
    if not column.has_bounds or column.minimum is None or column.maximum is None:
        return nothing
    arrow, compute = import_module("pyarrow"), import_module("pyarrow.compute")
    # Bounds in the wrong order are no bounds.
    known = compute.fill_null(compute.less_equal(column.minimum, column.maximum), fill_value=False)
    lower, upper = (_flat(array.filter(known)) for array in (column.minimum, column.maximum))
    count = len(lower)
    if not count:
        return nothing
    both = arrow.concat_arrays([lower, upper])
    # Ranks count: "min" is one more than the number of smaller values, "max" that of values up to this one.
    ended = compute.subtract(_ranks(both, "min").slice(0, count), _ranks(lower, "min"))
    depth = compute.subtract(_ranks(lower, "max"), ended)
    total, most = compute.sum(depth).as_py(), compute.max(depth).as_py()
    del depth
    # Files that start up to the last point of a file, without those that ended before its first point.
    started = compute.subtract(_ranks(both, "max").slice(count), _ranks(upper, "max"))
    touched = compute.greater(compute.subtract(started, ended), 1)
    return ColumnClustering(column.name, count, total / count, most, compute.sum(touched).as_py() or 0)


def _ranks(values: Any, ties: str) -> Any:
    ranks = import_module("pyarrow.compute").rank(values, sort_keys="ascending", tiebreaker=ties)
    # The memory of sorting is returned, not kept for the next allocation.
    import_module("pyarrow").default_memory_pool().release_unused()
    return ranks


def check_statistics(facts: TableFacts) -> Iterator[Recommendation]:
    """Looks for examined columns whose statistics are missing in some files."""
    missing: dict[str, int] = {}
    for column in facts.columns:
        count = _files_without(column, facts)
        if count:
            missing[column.name] = count
    if not missing:
        return
    total, worst = len(facts.sizes), max(missing.values())
    yield Recommendation(
        "MISSING_STATISTICS",
        "warning" if worst * 2 >= total else "advice",
        f"{worst:,} of {counted(total, 'file')} lack statistics of {', '.join(missing)}",
        "A predicate on a column without statistics reads these files whatever they contain.",
        f"up to {worst:,} files can be skipped by predicates; the table's "
        f"{readable_size(facts.snapshot.size_in_bytes)} are read once",
        _statistics_action(facts, list(missing)),
        "",
        {"files": total, "files_without_statistics": missing},
    )


def check_clustering(
    facts: TableFacts, measured: Sequence[ColumnClustering], clustered: Sequence[str], partitions: int
) -> Iterator[Recommendation]:
    """Looks for columns whose files overlap so much that predicates skip few of them.

    Args:
        facts: The table.
        measured: The clustering of the examined columns.
        clustered: The clustering columns.
        partitions: The number of partitions, each of which has files of its own.
    """
    size = facts.snapshot.size_in_bytes
    after = max(1, partitions, -(-size // target_size(facts.snapshot.properties)))
    containing = partitions if partitions > 1 else min(2, after)
    poor = [
        column
        for column in measured
        if column.average_depth is not None
        and column.average_depth >= max(4, 2 * containing)
        and column.average_depth * 5 >= column.files
    ]
    if not poor:
        return
    worst = max(poor, key=lambda column: column.average_depth or 0)
    average = worst.average_depth or 0
    read = int(size * average / max(1, worst.files))
    names = [column.name for column in poor]
    quoted = ", ".join(literal(name) for name in names)
    action, command = (
        f"table.optimize(zorder_by=[{quoted}])",
        # The option divides its value at commas.
        "" if "," in "".join(names) else f"deltaic optimize PATH --zorder-by {shlex.quote(','.join(names))}",
    )
    other = ""
    if clustered and set(clustered).isdisjoint(names):
        action, command, other = "", "", " The table is clustered by other columns."
    elif clustered:
        action, command = "table.optimize(full=True)", "deltaic optimize PATH --full"
    elif "clustering" in facts.features:
        # Such a table cannot be Z-ordered, and a partitioned one cannot be clustered.
        first = ", ".join(literal(name) for name in names[:_MOST_CLUSTERING_COLUMNS])
        is_partitioned = bool(facts.snapshot.partition_columns)
        clustering = f"table.alter(deltaic.alter.ClusterBy({first}))\ntable.optimize(full=True)"
        action, command = "" if is_partitioned else clustering, ""
    yield Recommendation(
        "POOR_CLUSTERING",
        "info" if read < _LITTLE else "warning" if read >= _MUCH else "advice",
        f"a value of {worst.name} is in the range of {average:,.1f} of {counted(worst.files, 'file')}",
        f"The files overlap in {', '.join(names)}: a predicate for one value reads about "
        f"{readable_size(read)}.{other}",
        f"with sorted rows in about {counted(after, 'file')}, {containing:,} of them "
        f"{'contains' if containing == 1 else 'contain'} a value",
        action,
        command,
        {
            "columns": [column.to_dict() for column in poor],
            "bytes_read_for_a_value": read,
            "files_after": after,
            "files_with_a_value_after": containing,
        },
    )


def _files_without(column: ColumnStatistics, facts: TableFacts) -> int:
    """Counts the files with neither a null count nor bounds. Values such as NaN have no bounds by nature."""
    compute = import_module("pyarrow.compute")
    described = None if column.null_count is None else compute.is_valid(column.null_count)
    if column.has_bounds and column.minimum is not None and column.maximum is not None:
        bounds = compute.and_(compute.is_valid(column.minimum), compute.is_valid(column.maximum))
        described = bounds if described is None else compute.or_(described, bounds)
    return len(facts.sizes) - (0 if described is None else compute.sum(described).as_py() or 0)


def _statistics_action(facts: TableFacts, missing: list[str]) -> str:
    """Lines that add statistics of columns, and retain those of the columns that have them today."""
    paths = [tuple(column_path(name, facts.schema) or ()) for name in missing]
    today = _indexed(facts)
    clustered = [tuple(column_path(name, facts.schema) or ()) for name in clustering_columns(facts.snapshot)]
    others = [path for path in paths if not any(path[: len(one)] == one for one in [*today, *clustered])]
    below = {path: [leaf for leaf in _leaves(facts) if leaf[: len(path)] == path] for path in others}
    others = [path for path in others if not set(below[path]) <= set(today)]
    if not others:
        return "table.recompute_statistics()"
    names = [quoted_name(path) for path in [*today, *others]]
    if any("," in name for name in names):
        # The list cannot name such columns, but their number can select them.
        if _STATS_COLUMNS in facts.snapshot.properties:
            return f"table.recompute_statistics([{', '.join(literal(name) for name in missing)}])"
        wanted = {*others, *(leaf for leaves in below.values() for leaf in leaves)}
        count = max(number for number, leaf in enumerate(_leaves(facts), 1) if leaf in wanted)
        text = f'{literal(_NUM_INDEXED)}: "{count}"'
        return f"table.alter(deltaic.alter.SetProperties({{{text}}}))\ntable.recompute_statistics()"
    text = f"{literal(_STATS_COLUMNS)}: {literal(','.join(names))}"
    return f"table.alter(deltaic.alter.SetProperties({{{text}}}))\ntable.recompute_statistics()"


def _indexed(facts: TableFacts) -> list[tuple[str, ...]]:
    """The columns that the properties select today."""
    properties = facts.snapshot.properties
    listed = properties.get(_STATS_COLUMNS)
    if listed is not None:
        named = (column_path(name.strip(), facts.schema) for name in listed.split(","))
        return [tuple(path) for path in named if path]
    leaves, text = _leaves(facts), properties.get(_NUM_INDEXED, "").strip()
    if text == "-1":
        return leaves
    count = int(text) if re.fullmatch(r"\+?[0-9]{1,18}", text) else _DEFAULT_INDEXED
    return leaves[:count]


def _leaves(facts: TableFacts) -> list[tuple[str, ...]]:
    """The columns of data files, with the fields of structs in their place; arrays and maps are leaves."""
    partitions = facts.snapshot.partition_columns
    fields: list[dict[str, Any]] = facts.schema.get("fields", [])
    return [leaf for leaf in _leaves_of(fields, ()) if leaf[0] not in partitions]


def _leaves_of(fields: list[dict[str, Any]], above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for field in fields:
        path, kind = (*above, field["name"]), field["type"]
        if isinstance(kind, dict) and "fields" in kind:
            yield from _leaves_of(kind["fields"], path)  # pyright: ignore[reportUnknownArgumentType]
        else:
            yield path


def _flat(array: Any) -> Any:
    arrow = import_module("pyarrow")
    chunked = array.combine_chunks() if isinstance(array, arrow.ChunkedArray) else array
    # pyarrow 12 to 16 return a chunked array from combine_chunks() of several chunks.
    return arrow.concat_arrays(chunked.chunks) if isinstance(chunked, arrow.ChunkedArray) else chunked
