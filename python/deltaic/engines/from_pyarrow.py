"""Pyarrow expressions as predicates: the operands of AND, OR and NOT are translated separately."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from deltaic.engines.conditions import Translation, Untranslatable, all_of, any_of, column, is_nan, operand
from deltaic.engines.from_substrait import translate_bound
from deltaic.engines.pyarrow_parts import Part, Parts
from deltaic.reading.schema import Schema
from deltaic.values.predicates import Expression

__all__ = ["columns_of", "translate_pyarrow"]

_TEXTS = {"starts_with": "startswith", "ends_with": "endswith", "match_substring": "contains"}
_DEPTH = 8


def translate_pyarrow(expression: Any, schema: Schema) -> Translation:  # Any: pyarrow ships no types
    """Translates a `pyarrow.compute.Expression` as far as possible."""
    try:
        parts = Parts(expression)
    except ValueError as error:
        return Translation(rest=[str(error)])
    arrow = schema.to_arrow()
    translation = Translation()
    for link in _links(parts.root, "and_kleene"):
        translation.add(lambda link=link: _logic(link, parts, arrow))
    return translation.without_padding(schema)


def columns_of(expression: Any) -> set[str] | None:  # Any: pyarrow ships no types
    """Returns the names of the top-level columns that an expression uses; None if they are not known."""
    try:
        return Parts(expression).columns
    except ValueError:
        return None


def _links(part: Part, function: str) -> Iterator[Part]:
    """Yields the links of a chain of ANDs or ORs, from left to right."""
    waiting = [part]
    while waiting:
        link = waiting.pop()
        if link.function == function:
            waiting.extend(reversed(link.arguments))
        else:
            yield link


def _logic(part: Part, parts: Parts, schema: Any) -> Expression:
    """Translates operands of AND, OR and NOT separately: pyarrow writes 2ⁿ bytes for n nested calls."""
    try:
        if part.function == "and_kleene":
            return all_of(_logic(link, parts, schema) for link in _links(part, part.function))
        if part.function == "or_kleene":
            return any_of(_logic(link, parts, schema) for link in _links(part, part.function))
        if part.function == "invert":
            return ~_logic(part.arguments[0], parts, schema)
        optional = _optional(part, parts, schema)
        if optional is not None:
            return optional
        if part.depth > _DEPTH:
            raise Untranslatable(f"{part.depth} calls in each other")
        return translate_bound(parts.expression(part), schema)
    except RecursionError as error:
        raise Untranslatable("ANDs, ORs and NOTs that nest too deeply") from error


def _optional(part: Part, parts: Parts, schema: Any) -> Expression | None:
    """Translates a call with options that pyarrow cannot always write as Substrait; None for others."""
    path = parts.path(part.arguments[0]) if len(part.arguments) == 1 else None
    if path is None:
        return None
    types: Any = import_module("pyarrow").types
    data_type: Any = _type_at(path, schema)
    options = parts.options(part)
    match part.function, options:
        case "is_null", {"nan_is_null": True}:
            name = column(path)
            return any_of([name.is_null(), *([is_nan(name)] if types.is_floating(data_type) else [])])
        case "starts_with" | "ends_with" | "match_substring" | "match_like", {
            "pattern": bytes() | str() as text
        }:
            if options.get("ignore_case") is not False:
                raise Untranslatable(f"{part.function} without regard to the case of letters")
            if not types.is_string(data_type):
                raise Untranslatable(f"{part.function} of a column of type {data_type}")
            return _text(part.function, column(path), text if isinstance(text, str) else text.decode())
        case _:
            return None


def _type_at(path: list[str], schema: Any) -> Any:
    found = schema
    try:
        for name in path:
            found = found.field(name) if found is schema else found.type.field(name)
    except (AttributeError, KeyError) as error:
        raise Untranslatable(f"there is no column {'.'.join(path)}") from error
    return found.type


def _text(function: str, name: Expression, text: str) -> Expression:
    """Tests whether a string starts or ends with, contains or equals another one."""
    if function == "match_like":
        inner = text.strip("%")
        if any(letter in inner for letter in "%_\\"):
            raise Untranslatable(f"match_like with the pattern {text!r}")
        function = {
            (False, False): "=",
            (False, True): "starts_with",
            (True, False): "ends_with",
            (True, True): "match_substring",
        }[(text.startswith("%"), text.endswith("%"))]
        text = inner
    if function == "=":
        return name == text
    return Expression(f"{_TEXTS[function]}({name.sql}, {operand(text)})")
