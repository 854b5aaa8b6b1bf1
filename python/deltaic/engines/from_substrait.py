"""Pyarrow conditions as predicates, from the Substrait that pyarrow writes.

Arrow compares floating-point numbers by IEEE 754: NaN is not equal to, less or greater than any value. In a
predicate NaN equals NaN and is above all other values, so `>` and `>=` get an upper bound here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from deltaic.engines.conditions import (
    FALSE,
    NULL,
    TRUE,
    Untranslatable,
    all_of,
    any_of,
    choice,
    column,
    is_nan,
    operand,
)
from deltaic.engines.substrait import AnyOf, Call, Choice, Field, Node, Unread, Value, read_expression
from deltaic.values.predicates import Expression

__all__ = ["translate_bound"]

_COMPARISONS = {"equal": "=", "not_equal": "<>", "lt": "<", "lte": "<=", "gt": ">", "gte": ">="}
_MIRRORED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_INFINITY = operand(float("inf"))


def translate_bound(expression: Any, schema: Any) -> Expression:  # Any: pyarrow ships no types
    """Translates a condition without enclosing AND, OR or NOT, bound to a `pyarrow.Schema`.

    Raises:
        Untranslatable: It has no exact translation.
    """
    try:
        node, widened = _bound(expression, schema)
    except ValueError as error:
        raise Untranslatable(f"{expression}: {error}") from error
    return _condition(node, _Columns(schema, widened=widened))


def _bound(expression: Any, schema: Any) -> tuple[Node, bool]:
    """Returns the expression as a tree, and whether its columns were bound to wider types.

    If the types of numbers and columns differ, Arrow casts the column, which Substrait cannot express. With
    the widest types no cast is needed, and the comparison has the same result.
    """
    try:
        return _tree(expression, schema), False
    except ValueError as error:
        try:
            return _tree(expression, _widest(schema)), True
        except ValueError:
            raise error from None


def _tree(expression: Any, schema: Any) -> Node:
    arrow_error: type[Exception] = import_module("pyarrow").ArrowException
    try:
        # Allow Arrow's own functions, so that one of them does not hide the other parts.
        data = expression.to_substrait(schema, allow_arrow_extensions=True)
    except (arrow_error, NotImplementedError, KeyError, TypeError) as error:
        raise ValueError(str(error)) from error
    return read_expression(bytes(data))


def _widest(schema: Any) -> Any:
    pyarrow = import_module("pyarrow")

    def widest(data_type: Any) -> Any:
        if pyarrow.types.is_signed_integer(data_type):
            return pyarrow.int64()
        if pyarrow.types.is_floating(data_type):
            return pyarrow.float64()
        if pyarrow.types.is_struct(data_type):
            return pyarrow.struct([field.with_type(widest(field.type)) for field in data_type])
        return data_type

    return pyarrow.schema([field.with_type(widest(field.type)) for field in schema])


class _Columns:
    """The columns by index, with their types in the table."""

    def __init__(self, schema: Any, *, widened: bool = False) -> None:
        self._schema = schema
        self._types = import_module("pyarrow").types
        self.widened = widened

    def of(self, field: Field) -> _Column:
        """Returns the column that a field references."""
        first, *rest = field.path
        found = self._schema.field(first)
        names = [found.name]
        for index in rest:
            found = found.type.field(index)
            names.append(found.name)
        return _Column(column(names), found.type, self._types)


@dataclass(frozen=True)
class _Column:
    name: Expression
    data_type: Any
    types: Any

    @property
    def is_float(self) -> bool:
        return self.types.is_floating(self.data_type)

    @property
    def is_single(self) -> bool:
        return self.types.is_float32(self.data_type)


def _condition(node: Node, columns: _Columns) -> Expression:
    match node:
        case Value(True):
            return TRUE
        case Value(False):
            return FALSE
        case Value(None):
            return NULL
        case Field():
            return columns.of(node).name
        case Call():
            return _called(node, columns)
        case AnyOf(Field() as field, values):
            listed = _listed(field, values, columns, of_null_too=True)
            return all_of([listed, columns.of(field).name.is_not_null()])
        case Choice():
            return _chosen(node, columns)
        case _:
            raise Untranslatable(_named(node))


def _called(call: Call, columns: _Columns) -> Expression:
    match call:
        case Call("and", (left, right)):
            return all_of([_condition(left, columns), _condition(right, columns)])
        case Call("or", (left, right)):
            return any_of([_condition(left, columns), _condition(right, columns)])
        case Call("not", (inner,)):
            return ~_condition(inner, columns)
        case Call(name, (left, right)) if name in _COMPARISONS:
            return _comparison(_COMPARISONS[name], left, right, columns)
        case Call("is_null", (Field() as field,)):
            return columns.of(field).name.is_null()
        case Call("is_not_null", (Field() as field,)):
            return columns.of(field).name.is_not_null()
        case Call("is_nan", (Field() as field,)) if columns.of(field).is_float:
            return is_nan(columns.of(field).name)
        case _:
            raise Untranslatable(_named(call))


def _chosen(node: Choice, columns: _Columns) -> Expression:
    match node:
        case Choice(Call("is_not_null", (Field() as field,)), AnyOf(value, values), Value(None)) if (
            value == field
        ):
            # DuckDB's translation of IN: a NULL value yields NULL, so NULLs in the list match nothing.
            return _listed(field, values, columns, of_null_too=False)
        case Choice(Call("is_null" | "is_not_null") as tested, then, otherwise):
            return choice(*(_condition(part, columns) for part in (tested, then, otherwise)))
        case _:
            raise Untranslatable(_named(node))


def _comparison(operator: str, left: Node, right: Node, columns: _Columns) -> Expression:
    match left, right:
        case Field(), Value(value):
            return _compared(columns.of(left), operator, value)
        case Value(value), Field():
            return _compared(columns.of(right), _MIRRORED[operator], value)
        case Field(), Field():
            one, other = columns.of(left), columns.of(right)
            if one.data_type != other.data_type or one.is_float:
                raise Untranslatable(f"a comparison of {one.name} and {other.name}")
            return Expression(f"{one.name.sql} {operator} {other.name.sql}")
        case _:
            raise Untranslatable(next(_named(side) for side in (left, right) if not isinstance(side, Field)))


def _compared(found: _Column, operator: str, value: Any) -> Expression:
    name = found.name.sql
    if value is None:
        return NULL
    if not found.is_float:
        return Expression(f"{name} {operator} {operand(value)}")
    if math.isnan(value):
        # NaN is unequal to all values including itself; every other comparison is false.
        if operator == "<>":
            return any_of([found.name.is_not_null(), NULL])
        return all_of([found.name.is_null(), NULL])
    condition = Expression(f"{name} {operator} {operand(value)}")
    if operator in (">", ">="):
        return all_of([condition, Expression(f"{name} <= {_INFINITY}")])
    return condition


def _listed(field: Field, values: tuple[Node, ...], columns: _Columns, *, of_null_too: bool) -> Expression:
    found = columns.of(field)
    literals: list[str] = []
    for item in values:
        if not isinstance(item, Value):
            raise Untranslatable(_named(item))
        if item.value is None:
            if of_null_too:
                # The serialization does not specify whether a NULL value matches it.
                raise Untranslatable(f"is_in with a null in its list, of {found.name}")
            continue
        # Arrow looks numbers up by their bits: the two zeros do not match each other, and NaN matches NaN.
        rare = not item.value or (isinstance(item.value, float) and math.isnan(item.value))
        if found.is_float and (found.is_single or rare):
            raise Untranslatable(f"is_in with {item.value} of {found.name}")
        literals.append(operand(item.value))
    if columns.widened:
        raise Untranslatable(f"is_in with values of another type than {found.name}")
    if not literals:
        return FALSE if of_null_too else all_of([found.name.is_null(), NULL])
    return Expression(f"{found.name.sql} IN ({', '.join(literals)})")


def _named(node: Node) -> str:
    """Describes a part in a few words."""
    match node:
        case Call(name):
            return f"the function {name.removeprefix('arrow:')}"
        case Choice():
            return "if_else"
        case AnyOf():
            return "is_in of something else than a column"
        case Unread(what):
            return what
        case Value(value):
            return f"the literal {value!r}"
        case Field():
            return "a column"
