"""Filters that Spark pushes into a data source, as predicates of deltaic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltaic.values.predicates import Expression, col

if TYPE_CHECKING:
    from pyspark.sql.datasource import Filter

__all__ = ["to_predicate"]


def to_predicate(pushed: Filter) -> str | None:
    """Returns the predicate that is true for exactly the rows for which the filter is; None without one.

    Spark passes literals as Python values, which represent them exactly: timestamps as datetimes in UTC or
    without a zone, decimals as `Decimal`.

    >>> from pyspark.sql.datasource import EqualTo, Not  # doctest: +SKIP
    >>> to_predicate(Not(EqualTo(("address", "city"), "Rome")))  # doctest: +SKIP
    "NOT (`address`.`city` = 'Rome')"
    """
    try:
        condition = _condition(pushed)
    except (TypeError, ValueError):
        # A value without a literal, such as an interval: Spark applies the filter.
        return None
    return None if condition is None else condition.sql


def _condition(pushed: Any) -> Expression | None:  # Any: each kind of filter has other attributes
    kind = type(pushed).__name__
    if kind == "Not":
        child = _condition(pushed.child)
        return None if child is None else ~child
    column = _column(pushed.attribute)
    if kind == "IsNull":
        return column.is_null()
    if kind == "IsNotNull":
        return column.is_not_null()
    return _with_value(kind, column, pushed.value)


def _with_value(kind: str, column: Expression, value: Any) -> Expression | None:
    if kind == "EqualNullSafe":
        return column.eq_null_safe(value)
    if value is None:
        # Such a comparison is NULL for every row; Spark does not push it.
        return None
    match kind:
        case "EqualTo":
            return column == value
        case "GreaterThan":
            return column > value
        case "GreaterThanOrEqual":
            return column >= value
        case "LessThan":
            return column < value
        case "LessThanOrEqual":
            return column <= value
        case "In":
            return column.is_in(value)
        case "StringStartsWith":
            return column.starts_with(value)
        case "StringEndsWith":
            return column.ends_with(value)
        case "StringContains":
            return column.contains(value)
        case _:
            return None


def _column(path: tuple[str, ...]) -> Expression:
    return col(".".join(f"`{name.replace('`', '``')}`" for name in path))
