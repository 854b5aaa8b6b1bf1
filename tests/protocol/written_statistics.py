"""Checks the statistics of an add against the rows of its file."""

from __future__ import annotations

import datetime
import math
import struct
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

Faults = Iterator[str]

WITHOUT_BOUNDS = {"binary"}
INDEXED_COLUMNS = 32
LONGEST_BOUND = 32
LAST_MICROSECOND = 253_402_300_799_999_999
"""9999-12-31T23:59:59.999999Z in microseconds since the epoch."""


def statistics_faults(
    stats: dict[str, Any], rows: pa.Table, kinds: dict[str, Any], partition_columns: list[str]
) -> Faults:
    """Yields the faults in the statistics of a file with these rows; `kinds` are the types of its columns."""
    if stats.get("numRecords") != rows.num_rows:
        yield f"numRecords {stats.get('numRecords')}, and the file has {rows.num_rows} rows"
    if stats.get("tightBounds", True) is not True:
        yield "tightBounds is false"
    unknown = set(stats) - {"numRecords", "tightBounds", "minValues", "maxValues", "nullCount"}
    if unknown:
        yield f"stats hold {sorted(unknown)}"
    leaves = [
        leaf
        for name, kind in kinds.items()
        if name not in partition_columns
        for leaf in _leaves((name,), kind)
    ]
    allowed = leaves[:INDEXED_COLUMNS]
    for kind in ("minValues", "maxValues", "nullCount"):
        for path in _paths(stats.get(kind, {})):
            if path not in [leaf for leaf, _ in allowed]:
                yield f"{kind} has {'.'.join(path)}, not one of the first {INDEXED_COLUMNS} leaf columns"
    for path, kind in allowed:
        yield from _check_column(path, kind, stats, _column(rows, path))


def _leaves(path: tuple[str, ...], kind: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(kind, dict) and kind["type"] == "struct":
        for field in kind["fields"]:
            yield from _leaves((*path, field["name"]), field["type"])
    else:
        yield path, kind


def _paths(values: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if isinstance(values, dict):
        for name, value in values.items():
            yield from _paths(value, (*path, name))
    else:
        yield path


def _column(rows: pa.Table, path: tuple[str, ...]) -> pa.Array:
    column = rows[path[0]].combine_chunks() if rows.num_rows else rows[path[0]].type
    if isinstance(column, pa.DataType):
        return pa.array([])
    for name in path[1:]:
        column = pc.struct_field(column, name)
    return column


def _check_column(path: tuple[str, ...], kind: Any, stats: dict[str, Any], column: pa.Array) -> Faults:
    name = ".".join(path)
    low, high, nulls = (_at(stats.get(key, {}), path) for key in ("minValues", "maxValues", "nullCount"))
    if nulls != column.null_count:
        yield f"nullCount of {name} is {nulls}, and the file has {column.null_count}"
    if not isinstance(kind, str) or kind in WITHOUT_BOUNDS:
        if low is not None or high is not None:
            yield f"bounds for {name} of type {kind}"
        return
    values = [value for value in _values(column, kind) if value == value]  # noqa: PLR0124  (NaN is in no bound)
    if not values:
        if low is not None or high is not None:
            yield f"bounds for {name}, which has no values"
        return
    smallest, largest = min(values), max(values)
    if low is not None and not _is_lower_bound(_bound(low, kind), smallest, kind):
        yield f"min of {name} is {low!r}, and the smallest value is {smallest!r}"
    if high is not None and not _is_upper_bound(_bound(high, kind), largest, kind):
        yield f"max of {name} is {high!r}, and the largest value is {largest!r}"
    finite = [value for value in values if not (isinstance(value, float) and math.isinf(value))]
    # Not every reader can represent timestamps after the year 9999.
    if kind.startswith("timestamp") and largest > LAST_MICROSECOND:
        return
    if kind != "string" and None in (low, high) and len(finite) == len(column) - column.null_count:
        yield f"no bounds for {name}"


def _at(values: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        values = values.get(name) if isinstance(values, dict) else None
    return values


def _values(column: pa.Array, kind: str) -> list[Any]:
    if kind.startswith("timestamp"):
        return [
            value
            for value in column.cast(pa.timestamp("us")).view(pa.int64()).to_pylist()
            if value is not None
        ]
    return [value for value in column.to_pylist() if value is not None]


def _bound(value: Any, kind: str) -> Any:
    """Converts a bound of the statistics to a value that compares with the column's."""
    if kind.startswith("timestamp"):
        moment = datetime.datetime.fromisoformat(value.replace("Z", "+00:00"))
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=datetime.timezone.utc)
        epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
        return (moment - epoch) // datetime.timedelta(microseconds=1)
    parse: Callable[[Any], Any]
    if kind.startswith("decimal"):
        parse = lambda text: Decimal(str(text))  # noqa: E731
    elif kind == "date":
        parse = datetime.date.fromisoformat
    elif kind in ("float", "double"):
        parse = float
    else:
        parse = lambda plain: plain  # noqa: E731
    return parse(value)


def _is_lower_bound(bound: Any, smallest: Any, kind: str) -> bool:
    if kind == "string":
        return smallest == bound if len(smallest) <= LONGEST_BOUND else smallest.startswith(bound)
    if kind.startswith("timestamp"):
        return smallest - 1000 < bound <= smallest
    if kind in ("float", "double"):
        return _as_float(bound, kind) == smallest
    return bound == smallest


def _is_upper_bound(bound: Any, largest: Any, kind: str) -> bool:
    if kind == "string":
        # By code points, as the values are ordered: UTF-8 and UTF-32 have the same order.
        return largest == bound if len(largest) <= LONGEST_BOUND else bound >= largest
    if kind.startswith("timestamp"):
        # In milliseconds: truncated, it includes all microseconds of its own; rounded up, it is greater.
        return bound - 1000 < largest < bound + 1000
    if kind in ("float", "double"):
        return _as_float(bound, kind) == largest
    return bound == largest


def _as_float(number: float, kind: str) -> float:
    """Returns the float of a number in the statistics, which is written as its shortest text."""
    return struct.unpack("f", struct.pack("f", number))[0] if kind == "float" else number
