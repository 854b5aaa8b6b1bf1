"""The Arrow schema that a Delta schema must be read as, derived from the schema's JSON alone.

It is that of PySpark's ``to_arrow_schema(schema, timezone="UTC")``: no large or view types, microseconds,
list children named ``element``, map children ``key`` and ``value``, Delta's nullability, and no field
metadata except a variant's extension type name.
"""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa

_PRIMITIVES = {
    "string": pa.string(),
    "long": pa.int64(),
    "integer": pa.int32(),
    "short": pa.int16(),
    "byte": pa.int8(),
    "float": pa.float32(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "void": pa.null(),
    "variant": pa.struct([pa.field("metadata", pa.binary(), nullable=False), pa.field("value", pa.binary())]),
}
_EXTENSION = {"ARROW:extension:name": "arrow.parquet.variant", "ARROW:extension:metadata": ""}


def arrow_schema(schema: dict[str, Any]) -> pa.Schema:
    """Returns the Arrow schema of a table with this schema (the parsed ``schemaString``)."""
    return pa.schema(_fields(schema))


def describe(schema: pa.Schema) -> list[str]:
    """Describes every field of a schema, including nested ones; equal descriptions mean equal schemas."""
    return [_describe(field) for field in schema]


def _fields(struct: dict[str, Any]) -> list[pa.Field]:
    return [_field(item["name"], item["type"], nullable=item["nullable"]) for item in struct["fields"]]


def _field(name: str, kind: str | dict[str, Any], *, nullable: bool) -> pa.Field:
    return pa.field(name, _type(kind), nullable, metadata=_EXTENSION if kind == "variant" else None)


def _type(kind: str | dict[str, Any]) -> pa.DataType:
    if isinstance(kind, str):
        if decimal := re.fullmatch(r"decimal\((\d+),\s*(-?\d+)\)", kind):
            return pa.decimal128(int(decimal[1]), int(decimal[2]))
        return _PRIMITIVES[kind]
    if kind["type"] == "struct":
        return pa.struct(_fields(kind))
    if kind["type"] == "array":
        return pa.list_(_field("element", kind["elementType"], nullable=kind["containsNull"]))
    if kind["type"] == "map":
        value = _field("value", kind["valueType"], nullable=kind["valueContainsNull"])
        return pa.map_(_field("key", kind["keyType"], nullable=False), value)
    raise ValueError(f"no Arrow type for {kind!r}")


def _describe(field: pa.Field) -> str:
    kind = field.type
    if pa.types.is_struct(kind):
        word = "struct<" + ", ".join(_describe(child) for child in kind) + ">"
    elif pa.types.is_map(kind):
        word = f"map<{_describe(kind.key_field)}, {_describe(kind.item_field)}>"
    elif pa.types.is_list(kind):
        word = f"list<{_describe(kind.value_field)}>"
    else:
        word = str(kind)
    metadata = f" metadata {dict(sorted(field.metadata.items()))}" if field.metadata else ""
    return f"{field.name}: {word}{'' if field.nullable else ' not null'}{metadata}"
