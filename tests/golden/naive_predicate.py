"""Predicates as SQL text with their results, by Spark's rules and independent of the core's evaluator.

The values of a column become ranks: integers in Spark's order. NaN is greater than every number, ``-0.0``
equals ``0.0``, strings are ordered by their bytes. A result is an array of 1 for TRUE, 0 for FALSE and -1 for
NULL.
"""

from __future__ import annotations

import math
import operator
from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

Answers: TypeAlias = Any  # a NumPy array
TRUE, FALSE, NULL = 1, 0, -1

COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Column:
    """A column or a nested field: its NULLs, and its values as keys that Python can order."""

    def __init__(self, path: tuple[str, ...], kind: pa.DataType, is_null: Answers, keys: list[Any]) -> None:
        self.path = path
        self.kind = kind
        self.is_null = is_null
        self.order = sorted({key for key in keys if key is not None})
        """The values of the column; empty if its type cannot be compared."""
        self.ranks = _ranks(self.order, keys)

    @property
    def sql(self) -> str:
        """Its name in a predicate."""
        return ".".join("`" + name.replace("`", "``") + "`" for name in self.path)

    def compared(self, op: str, key: Any) -> Answers:
        """Returns the result of a comparison with a value that is not NULL."""
        place = bisect_left(self.order, key)
        is_present = place < len(self.order) and self.order[place] == key
        # A key between two values has an odd rank.
        return self._answers(op, 2 * self.ranks, np.int64(2 * place if is_present else 2 * place - 1), False)

    def compared_with(self, op: str, other: Column) -> Answers:
        """Returns the result of a comparison with another column, row by row."""
        order = sorted({*self.order, *other.order})
        left, right = (np.append(_ranks(order, column.order), -1)[column.ranks] for column in (self, other))
        return self._answers(op, left, right, other.is_null)

    def _answers(self, op: str, left: Answers, right: Answers, other_is_null: Answers) -> Answers:
        if op == "<=>":
            both = self.is_null & other_is_null
            return (both | ((left == right) & ~self.is_null & ~np.asarray(other_is_null))).astype(np.int8)
        compared = COMPARISONS[op](left, right).astype(np.int8)
        return np.where(np.logical_or(self.is_null, other_is_null), NULL, compared)


@dataclass
class Predicate:
    """SQL text and the result for each row."""

    sql: str
    answers: Answers

    def __and__(self, other: Predicate) -> Predicate:
        either = (self.answers == FALSE) | (other.answers == FALSE)
        both = (self.answers == TRUE) & (other.answers == TRUE)
        return Predicate(f"({self.sql} AND {other.sql})", np.where(either, FALSE, np.where(both, TRUE, NULL)))

    def __or__(self, other: Predicate) -> Predicate:
        either = (self.answers == TRUE) | (other.answers == TRUE)
        neither = (self.answers == FALSE) & (other.answers == FALSE)
        return Predicate(
            f"({self.sql} OR {other.sql})", np.where(either, TRUE, np.where(neither, FALSE, NULL))
        )

    def __invert__(self) -> Predicate:
        return Predicate(f"NOT ({self.sql})", np.where(self.answers == NULL, NULL, 1 - self.answers))


def columns_of(table: pa.Table, schema: dict[str, Any]) -> list[Column]:
    """Returns all columns, and the fields of structs as separate columns; ``schema`` is the table's."""
    found: list[Column] = []
    kinds = {field["name"]: field["type"] for field in schema["fields"]}
    for name in table.column_names:
        array = table[name].combine_chunks()
        if isinstance(array, pa.ChunkedArray):
            array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
        _collect((name,), array, kinds[name], np.zeros(len(array), dtype=bool), found)
    return found


def key_of(value: Any, kind: pa.DataType) -> Any:
    """Returns a key that Python orders as Spark orders the value."""
    if value is None:
        return None
    if pa.types.is_floating(kind):
        return (True, 0.0) if math.isnan(value) else (False, value + 0.0)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return value.encode()
    return value


def _ranks(order: list[Any], keys: Iterable[Any]) -> Answers:
    rank_of = {key: rank for rank, key in enumerate(order)}
    return np.array([-1 if key is None else rank_of[key] for key in keys], dtype=np.int64)


def _collect(path: tuple[str, ...], array: Any, of_log: Any, above: Answers, found: list[Column]) -> None:
    kind = array.type
    is_null = above | np.array(array.is_null().to_pylist(), dtype=bool)
    found.append(Column(path, kind, is_null, _keys(array, kind, is_null)))
    # A variant is a struct in Arrow only.
    if isinstance(of_log, dict) and of_log["type"] == "struct":
        for index, field_of_log in enumerate(of_log["fields"]):
            name = field_of_log["name"]
            _collect((*path, name), array.field(index), field_of_log["type"], is_null, found)


def _keys(array: Any, kind: pa.DataType, is_null: Answers) -> list[Any]:
    if pa.types.is_timestamp(kind):
        values = array.cast(pa.timestamp("us", kind.tz)).view(pa.int64()).to_pylist()
    elif pa.types.is_date32(kind):
        values = array.view(pa.int32()).to_pylist()
    elif (
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_string(kind)
        or pa.types.is_binary(kind)
    ):
        values = array.to_pylist()
    else:
        return []
    return [None if null else key_of(value, kind) for value, null in zip(values, is_null, strict=True)]
