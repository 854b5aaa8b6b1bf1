"""Predicates in every form that a caller may pass, as the SQL text that the core takes."""

from __future__ import annotations

from typing import Protocol

from deltaic.engines.conditions import TRUE, Translation
from deltaic.exceptions import UnsupportedExpression
from deltaic.reading.schema import Schema
from deltaic.values.predicates import Expression

__all__ = ["ArrowCondition", "PolarsCondition", "Predicate", "to_sql"]


class ArrowCondition(Protocol):
    """A `pyarrow.compute.Expression`, without importing it."""

    def to_substrait(self, schema: object, allow_arrow_extensions: bool = ...) -> object:  # noqa: FBT001
        """Serializes it, bound to a schema."""
        ...


class PolarsCondition(Protocol):
    """A `polars.Expr`, without importing it."""

    @property
    def meta(self) -> object:
        """The namespace for introspection of the expression."""
        ...

    def is_finite(self) -> object:
        """Distinguishes it from other objects with a ``meta``."""
        ...


Predicate = str | Expression | ArrowCondition | PolarsCondition
"""The forms of a predicate: SQL text, or an expression of deltaic, pyarrow or polars."""


def to_sql(predicate: Predicate | None, schema: Schema) -> str | None:
    """Converts a predicate to the SQL text that the core takes.

    Raises:
        TypeError: It is neither text nor an expression.
        UnsupportedExpression: An expression of pyarrow or polars cannot be translated exactly.
    """
    if predicate is None or isinstance(predicate, str):
        return predicate
    if isinstance(predicate, Expression):
        return predicate.sql
    translation = _translated(predicate, schema)
    if translation.exact:
        return translation.sql or TRUE.sql
    raise UnsupportedExpression(
        f"the {library_of(predicate)} expression has no exact translation: {translation.rest[0]}",
        context={"expression": str(predicate)},
        hint="write it as SQL text or with deltaic.col(…), or filter the rows afterwards",
    )


def library_of(predicate: object) -> str:
    """Returns the package of an object's class."""
    return type(predicate).__module__.partition(".")[0]


def _translated(predicate: object, schema: Schema) -> Translation:
    # An expression exists only if its library is imported, so its class is identified by name, without an
    # import.
    kind = (library_of(predicate), type(predicate).__name__)
    if kind == ("pyarrow", "Expression"):
        from deltaic.engines.from_pyarrow import translate_pyarrow

        return translate_pyarrow(predicate, schema)
    if kind == ("polars", "Expr"):
        from deltaic.engines.from_polars import translate_polars

        return translate_polars(predicate, schema)
    raise TypeError(
        f"a predicate must be SQL text, an expression of deltaic.col(…), or one of pyarrow or polars, "
        f"not {type(predicate).__name__}: write \"amount > 9.5\" or deltaic.col('amount') > 9.5"
    )
