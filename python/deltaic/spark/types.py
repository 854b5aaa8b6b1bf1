"""Conversion of a table's schema to Spark's."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TypeGuard

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    NullType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
    VariantType,
)

from deltaic.exceptions import CorruptLog, UnsupportedFeature

__all__ = ["LENGTHS", "struct_type", "user_metadata"]

_PRIMITIVES: dict[str, DataType] = {
    "binary": BinaryType(),
    "boolean": BooleanType(),
    "byte": ByteType(),
    "date": DateType(),
    "double": DoubleType(),
    "float": FloatType(),
    "integer": IntegerType(),
    "long": LongType(),
    "short": ShortType(),
    "string": StringType(),
    "timestamp": TimestampType(),
    "timestamp_ntz": TimestampNTZType(),
    "variant": VariantType(),
    "void": NullType(),
}

_DECIMAL = re.compile(r"decimal\(\s*(\d+)\s*,\s*(\d+)\s*\)")

# Declares lengths of strings: Spark pads values of char(n), also those of files whose writer did not.
LENGTHS = "__CHAR_VARCHAR_TYPE_STRING"
# Keys that Spark interprets: EXISTS_DEFAULT fills columns that a file lacks (here they are NULL),
# `parquet.field.id` changes column resolution. delta-spark hides its own (`delta.*`) from users as well.
_KEYS_WITH_MEANING = ("CURRENT_DEFAULT", "EXISTS_DEFAULT")
_PREFIXES_WITH_MEANING = ("__", "delta.", "parquet.")


def struct_type(schema_json: str) -> StructType:
    """Converts a Delta schema (`Schema.to_json()`) to a Spark schema.

    Every field is nullable, as for all of Spark's file formats: a column that a file lacks reads as NULL.
    Field metadata is kept, except for keys that would change how Spark or delta-spark read.

    `StructType.fromJson` is not used, because it imports the classes that a schema names.

    Raises:
        UnsupportedFeature: A type that the native Spark scan does not support.
        CorruptLog: It is not a Delta schema.

    Example:
        >>> text = '{"type":"struct","fields":[{"name":"a","type":"long","nullable":false,"metadata":{}}]}'
        >>> struct_type(text).simpleString()
        'struct<a:bigint>'
    """
    return _struct(json.loads(schema_json), "")


def _struct(declared: object, path: str) -> StructType:
    fields = declared.get("fields") if _is_object(declared) else None
    if not _is_array(fields):
        raise _not_a_schema(declared, path)
    return StructType([_field(field, path) for field in fields])


def _field(declared: object, parent: str) -> StructField:
    name = declared.get("name") if _is_object(declared) else None
    if not _is_object(declared) or not isinstance(name, str):
        raise _not_a_schema(declared, parent)
    path = f"{parent}.{name}" if parent else name
    metadata = declared.get("metadata")
    retained = user_metadata(metadata) if _is_object(metadata) else {}
    return StructField(name, _type(declared.get("type"), path), nullable=True, metadata=retained)


def user_metadata(metadata: Mapping[str, object]) -> dict[str, object]:
    """Returns the metadata of a column without the keys that Spark and Delta interpret, except lengths.

    Example:
        >>> user_metadata({"comment": "of the ride", "delta.columnMapping.id": 3})
        {'comment': 'of the ride'}
    """
    return {
        key: value
        for key, value in metadata.items()
        if key == LENGTHS or (key not in _KEYS_WITH_MEANING and not key.startswith(_PREFIXES_WITH_MEANING))
    }


def _type(declared: object, path: str) -> DataType:
    if isinstance(declared, str):
        return _primitive(declared, path)
    kind = declared.get("type") if _is_object(declared) else None
    if not _is_object(declared) or not isinstance(kind, str):
        raise _not_a_schema(declared, path)
    match kind:
        case "struct":
            return _struct(declared, path)
        case "array":
            return ArrayType(_type(declared.get("elementType"), f"{path}.element"), containsNull=True)
        case "map":
            return MapType(
                _type(declared.get("keyType"), f"{path}.key"),
                _type(declared.get("valueType"), f"{path}.value"),
                valueContainsNull=True,
            )
        case _:
            raise _unknown_type(kind, path)


def _primitive(name: str, path: str) -> DataType:
    if known := _PRIMITIVES.get(name):
        return known
    if decimal := _DECIMAL.fullmatch(name):
        return DecimalType(int(decimal[1]), int(decimal[2]))
    raise _unknown_type(name, path)


def _is_object(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict)  # JSON's objects have text keys


def _is_array(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list)


def _unknown_type(name: str, path: str) -> UnsupportedFeature:
    return UnsupportedFeature(
        f"column {path} has type {name}, which the native Spark scan does not read",
        context={"field": path, "type": name},
        hint="read the table with deltaic.Table(path).snapshot().scan()",
    )


def _not_a_schema(declared: object, path: str) -> CorruptLog:
    where = f"at column {path}" if path else "at its root"
    return CorruptLog(
        f"the table's schema is not a Delta schema {where}: {declared!r:.80}", context={"field": path}
    )
