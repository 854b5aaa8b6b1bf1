"""Assignments of values to columns of another type, where deltaic and delta-spark agree."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa

from tests.programs.definitions import nullable_everywhere
from tests.programs.expressions import Overflow
from tests.programs.values import CONTEXT, DECIMALS, INTEGERS, UTC, single


def are_alike(one: pa.DataType, other: pa.DataType) -> bool:
    """Whether two types differ at most in which of their parts may be NULL."""
    if one == other or not pa.types.is_nested(one):
        return one == other
    return nullable_everywhere(pa.field("", one)) == nullable_everywhere(pa.field("", other))


def can_assign(source: pa.DataType, column: pa.DataType) -> bool:
    """Whether each value of a type can be assigned to a column, or raises an error if it is out of range.

    Among the others are assignments that delta-spark accepts and that lose digits, or convert texts.
    """
    if are_alike(source, column):
        return True
    if source in INTEGERS:
        return column in INTEGERS or column == pa.float64() or pa.types.is_decimal(column)
    if pa.types.is_decimal(source):
        return pa.types.is_decimal(column) and column.scale >= source.scale
    if pa.types.is_date(source):
        return pa.types.is_timestamp(column)
    return source == pa.float32() and column == pa.float64()


def other_types(column: pa.DataType) -> list[pa.DataType]:
    """Returns the other types that can be assigned to a column."""
    every = [*INTEGERS, pa.float32(), pa.float64(), *DECIMALS, pa.date32()]
    return [kind for kind in every if kind != column and can_assign(kind, column)]


def assigned(value: Any, source: pa.DataType, column: pa.DataType) -> Any:
    """Returns a value of a type as a value of the type of a column.

    Raises:
        Overflow: It is out of range.
    """
    if value is None or are_alike(source, column):
        return value
    if column in INTEGERS:
        limit = 2 ** (INTEGERS[column] - 1)
        if not -limit <= value < limit:
            raise Overflow(f"{value} as {column}")
        return value
    if pa.types.is_decimal(column):
        if abs(value) >= CONTEXT.scaleb(1, column.precision - column.scale):
            raise Overflow(f"{value} as {column}")
        return CONTEXT.quantize(Decimal(value), CONTEXT.scaleb(1, -column.scale))
    if pa.types.is_timestamp(column):
        return datetime(value.year, value.month, value.day, tzinfo=UTC if column.tz else None)
    return single(value) if source == pa.float32() else float(value)
