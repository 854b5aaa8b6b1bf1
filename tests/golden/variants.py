"""Compares variant columns as JSON text, as the reference stores them.

The reference stores either each variant as text within its structs and lists, or a whole column as text.
"""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from tests.protocol.naive_variant import to_json

from .arrow_schema import arrow_schema


def holds_variants(kind: Any) -> bool:
    """Whether a type is or contains a variant."""
    return '"variant"' in json.dumps(kind)


def as_text(rows: pa.Table, schema: dict[str, Any]) -> pa.Table:
    """Decodes the variants of the rows to JSON text, with a decoder written for the tests."""
    kinds = {field["name"]: field["type"] for field in schema["fields"]}
    columns = [_decoded(rows[name].to_pylist(), kinds[name]) for name in rows.column_names]
    wanted = arrow_schema(_without_variants(schema))
    return pa.table(
        [
            pa.array(column, wanted.field(name).type) if holds_variants(kinds[name]) else rows[name]
            for name, column in zip(rows.column_names, columns, strict=True)
        ],
        schema=pa.schema([wanted.field(name) for name in rows.column_names]),
    )


def rendered(rows: pa.Table, schema: dict[str, Any], like: pa.Schema) -> pa.Table:
    """Converts columns of rows with variants as text to text where the reference stores whole columns so."""
    for field in schema["fields"]:
        name, kind = field["name"], field["type"]
        if name in like.names and holds_variants(kind) and pa.types.is_string(like.field(name).type):
            index = rows.column_names.index(name)
            texts = [None if value is None else _rendered(value, kind) for value in rows[name].to_pylist()]
            rows = rows.set_column(index, name, pa.array(texts, pa.string()))
    return rows


def _decoded(values: list[Any], kind: Any) -> list[Any]:
    return [None if value is None else _decode(value, kind) for value in values]


def _decode(value: Any, kind: Any) -> Any:
    if kind == "variant":
        return to_json(value["metadata"], value["value"])
    if isinstance(kind, str):
        return value
    if kind["type"] == "struct":
        return {field["name"]: _decoded([value[field["name"]]], field["type"])[0] for field in kind["fields"]}
    if kind["type"] == "array":
        return _decoded(value, kind["elementType"])
    return [(key, _decoded([item], kind["valueType"])[0]) for key, item in value]


def _without_variants(schema: Any) -> Any:
    return json.loads(json.dumps(schema).replace('"variant"', '"string"'))


def _rendered(value: Any, kind: Any) -> str:
    """As Spark's `to_json`: NULL fields are omitted from structs, and are null elsewhere."""
    if value is None:
        return "null"
    if kind == "variant":
        return value
    if isinstance(kind, str):
        return json.dumps(value, ensure_ascii=False)
    if kind["type"] == "struct":
        there = [field for field in kind["fields"] if value[field["name"]] is not None]
        parts = (
            f"{json.dumps(field['name'])}:{_rendered(value[field['name']], field['type'])}" for field in there
        )
        return "{" + ",".join(parts) + "}"
    if kind["type"] == "array":
        return "[" + ",".join(_rendered(item, kind["elementType"]) for item in value) + "]"
    return (
        "{" + ",".join(f"{json.dumps(key)}:{_rendered(item, kind['valueType'])}" for key, item in value) + "}"
    )
