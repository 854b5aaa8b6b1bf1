"""The new values of an update."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import TypeAlias, cast

from deltaic.values.arguments import text
from deltaic.values.predicates import Expression, literal

__all__ = ["NewValue", "to_assignments"]

NewValue: TypeAlias = "str | Expression | bool | int | float | Decimal | date | datetime | bytes | None"
"""A new value: SQL text, an expression of `deltaic.col`, or a value of Python other than text."""


def to_assignments(values: Mapping[str, NewValue]) -> list[tuple[str, str]]:
    """Converts new values to pairs of a column and SQL text.

    Raises:
        TypeError: It is not a mapping of column names to values.
        ValueError: It is empty.

    >>> to_assignments({"name": "upper_name", "visits": 3, "note": None})
    [('name', 'upper_name'), ('visits', '3'), ('note', 'NULL')]
    """
    # Checked for callers without a type checker.
    if not isinstance(values, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        given = type(cast("object", values)).__name__
        raise TypeError(f"set must be a mapping of columns to values, not {given}: write {{'name': \"'x'\"}}")
    if not values:
        raise ValueError("set must have at least one column, such as {'name': \"'x'\"}")
    return [(text("a column of set", column), _sql(value)) for column, value in values.items()]


def _sql(value: NewValue) -> str:
    if isinstance(value, str):
        return text("a value of set", value)
    if isinstance(value, Expression):
        return value.sql
    return "NULL" if value is None else literal(value)
