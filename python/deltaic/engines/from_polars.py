"""Polars expressions as predicates, from polars' JSON serialization.

The JSON is internal to polars and may change between versions: only exactly known forms are translated.
Polars orders NaN as a predicate does, equal to itself and above all other values.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any, cast

from deltaic.engines.conditions import (
    FALSE,
    NULL,
    TRUE,
    Translation,
    Untranslatable,
    all_of,
    any_of,
    choice,
    column,
    is_nan,
    operand,
)
from deltaic.engines.polars_literals import (
    PolarsLiteral,
    compared_as_they_are,
    entry,
    shortened,
    value_beside,
)
from deltaic.reading.schema import Schema
from deltaic.values.predicates import Expression

__all__ = ["translate_polars"]

_COMPARISONS = {
    "Eq": "=",
    "NotEq": "<>",
    "Lt": "<",
    "LtEq": "<=",
    "Gt": ">",
    "GtEq": ">=",
    "EqValidity": "<=>",
}
_AND, _OR = ("And", "LogicalAnd"), ("Or", "LogicalOr")
_MIRRORED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<=", "<=>": "<=>"}
_BETWEEN = {"Both": (">=", "<="), "Left": (">=", "<"), "Right": (">", "<="), "None": (">", "<")}
_TEXTS = {"StartsWith": "startswith", "EndsWith": "endswith"}
_FLOATS = {"float", "double"}


def translate_polars(expression: Any, schema: Schema) -> Translation:  # Any: a polars.Expr of any version
    """Translates a `polars.Expr` as far as possible."""
    try:
        tree = json.loads(expression.meta.serialize(format="json"))
    except Exception as error:  # noqa: BLE001 (a later version may raise any error)
        return Translation(rest=[f"polars cannot write it as JSON: {error}"])
    types = json.loads(schema.to_json())
    translation = Translation()
    for part in _flat(tree, _AND):
        translation.add(lambda part=part: _known(part, types))
    return translation.without_padding(schema)


def _known(part: Any, types: Any) -> Expression:
    try:
        return _condition(part, types)
    except (
        AttributeError,
        IndexError,
        KeyError,
        OverflowError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        # The format of another version of polars.
        raise Untranslatable(f"the form of {shortened(part)}") from error


def _flat(node: Any, words: Sequence[str]) -> Iterator[Any]:
    """Yields the links of a chain of ANDs or ORs, from left to right."""
    waiting: list[Any] = [node]
    while waiting:
        link: Any = waiting.pop()
        operation: Any = cast("dict[str, Any]", link).get("BinaryExpr") if isinstance(link, dict) else None
        if operation and operation.get("op") in words:
            waiting.extend((operation["right"], operation["left"]))
        else:
            yield link


def _condition(node: Any, types: Any) -> Expression:
    name, inside = entry(node)
    if name == "Alias":
        return _condition(inside[0], types)
    if name == "Literal":
        value = PolarsLiteral(inside)
        if value.kind == "Null":
            return NULL
        if value.kind == "Boolean":
            return TRUE if value.raw is True else FALSE
        raise Untranslatable(f"a literal of type {value.kind} as a condition")
    if name == "BinaryExpr":
        return _operation(node, inside, types)
    if name == "Ternary":
        tested = entry(inside["predicate"])
        if tested[0] != "Function" or _function(tested[1]) not in ("IsNull", "IsNotNull"):
            raise Untranslatable("when")
        return choice(*(_condition(inside[part], types) for part in ("predicate", "truthy", "falsy")))
    if name == "Function":
        return _call(inside["input"], _function(inside), types)
    found, data_type = _column(node, types)
    if data_type != "boolean":
        raise Untranslatable(f"the column {found} as a condition")
    return found


def _operation(node: Any, inside: Any, types: Any) -> Expression:
    word = inside["op"]
    if word in _AND:
        return all_of(_condition(part, types) for part in _flat(node, _AND))
    if word in _OR:
        return any_of(_condition(part, types) for part in _flat(node, _OR))
    if word == "NotEqValidity":
        return ~_comparison("<=>", inside["left"], inside["right"], types)
    if word not in _COMPARISONS:
        raise Untranslatable(f"the operator {word}")
    return _comparison(_COMPARISONS[word], inside["left"], inside["right"], types)


def _function(inside: Any) -> str:
    """Returns the name of a function including its options, if they are known."""
    family, function = entry(inside["function"])
    if family == "Boolean":
        name, options = entry(function)
        if name == "IsIn":
            return "IsInWithNulls" if options["nulls_equal"] is True else "IsIn"
        return f"IsBetween{options['closed']}" if name == "IsBetween" else name
    if family == "StringExpr":
        name, options = entry(function)
        return "ContainsLiteral" if name == "Contains" and options["literal"] is True else name
    return family


def _call(arguments: Any, name: str, types: Any) -> Expression:
    if name == "Not":
        return ~_condition(arguments[0], types)
    found, data_type = _column(arguments[0], types)
    if name in ("IsNull", "IsNotNull"):
        return found.is_null() if name == "IsNull" else found.is_not_null()
    if name in ("IsNan", "IsNotNan") and data_type in _FLOATS:
        return is_nan(found) if name == "IsNan" else ~is_nan(found)
    if name in ("IsIn", "IsInWithNulls"):
        return _listed(found, data_type, arguments[1], of_null_too=name == "IsInWithNulls")
    if name.startswith("IsBetween"):
        ends = zip(_BETWEEN[name.removeprefix("IsBetween")], arguments[1:], strict=True)
        return all_of(_comparison(operator, arguments[0], end, types) for operator, end in ends)
    function = {**_TEXTS, "ContainsLiteral": "contains"}.get(name)
    if function is None or data_type != "string":
        raise Untranslatable(f"the function {name}")
    text = _literal(arguments[1])
    if text.kind != "String":
        raise Untranslatable(f"{function} with a {text.kind}")
    return Expression(f"{function}({found.sql}, {operand(text.raw)})")


def _column(node: Any, types: Any) -> tuple[Expression, Any]:
    """Returns a column or a nested field, and its type as in the log."""
    names: list[Any] = []
    name, inside = entry(node)
    while name == "Function":
        family, function = entry(inside["function"])
        kind, below = entry(function) if family == "StructExpr" else (family, None)
        if kind != "FieldByName":
            raise Untranslatable(f"the function {_function(inside)} of a column")
        names.insert(0, below)
        name, inside = entry(inside["input"][0])
    if name != "Column":
        raise Untranslatable(f"{name} in the place of a column")
    names.insert(0, inside)
    data_type = types
    for part in names:
        data_type = next((field["type"] for field in data_type["fields"] if field["name"] == part), None)
        if data_type is None:
            raise Untranslatable(f"the column {part}, which is not in the table")
    return column(names), data_type


def _literal(node: Any) -> PolarsLiteral:
    name, inside = entry(node)
    while name == "Alias":
        name, inside = entry(inside[0])
    if name != "Literal":
        raise Untranslatable(f"{name} in the place of a literal")
    return PolarsLiteral(inside)


def _is_literal(node: Any) -> bool:
    name, inside = entry(node)
    return name == "Literal" or (name == "Alias" and _is_literal(inside[0]))


def _comparison(operator: str, left: Any, right: Any, types: Any) -> Expression:
    if _is_literal(left):
        left, right, operator = right, left, _MIRRORED[operator]
    found, data_type = _column(left, types)
    if _is_literal(right):
        value = _literal(right)
        text = "NULL" if value.kind == "Null" else operand(value_beside(value, data_type))
        return Expression(f"{found.sql} {operator} {text}")
    other, other_type = _column(right, types)
    if data_type != other_type or not isinstance(data_type, str):
        raise Untranslatable(f"a comparison of {found} and {other}")
    return Expression(f"{found.sql} {operator} {other.sql}")


def _listed(found: Expression, data_type: Any, node: Any, *, of_null_too: bool) -> Expression:
    value = _literal(node)
    if value.kind != "List":
        raise Untranslatable(f"is_in with a {value.kind}")
    # The list is an Arrow stream of one column.
    values: Any = import_module("polars").read_ipc_stream(io.BytesIO(bytes(value.raw))).to_series()
    if not compared_as_they_are(str(values.dtype), str(data_type)):
        raise Untranslatable(f"is_in with values of type {values.dtype} and a column of type {data_type}")
    items: list[Any] = values.to_list()
    literals = [operand(item) for item in items if item is not None]
    if not literals:
        # Versions differ in the result for a NULL value.
        raise Untranslatable("is_in with an empty list")
    # A NULL in the list matches only NULL values, and only with nulls_equal.
    listed = Expression(f"{found.sql} IN ({', '.join(literals)})")
    if not of_null_too:
        return listed
    if len(literals) < len(items):
        return any_of([listed, found.is_null()])
    return all_of([listed, found.is_not_null()])
