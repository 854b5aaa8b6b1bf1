"""The table's schema as Spark's reader gets it: every type, without changes to the values."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="missing: PySpark")

from deltaic import CorruptLog, UnsupportedFeature
from deltaic.spark.types import struct_type
from tests.protocol.handmade_log import field, schema

TYPES = {
    "binary": "binary",
    "boolean": "boolean",
    "byte": "tinyint",
    "date": "date",
    "decimal(10,2)": "decimal(10,2)",
    "decimal( 38 , 0 )": "decimal(38,0)",
    "double": "double",
    "float": "float",
    "integer": "int",
    "long": "bigint",
    "short": "smallint",
    "string": "string",
    "timestamp": "timestamp",
    "timestamp_ntz": "timestamp_ntz",
    "void": "void",
}


def array(element: Any) -> dict[str, Any]:
    return {"type": "array", "elementType": element, "containsNull": False}


@pytest.mark.parametrize(("declared", "simple"), TYPES.items())
def test_each_primitive_type(declared: str, simple: str) -> None:
    assert struct_type(schema(field("a", declared))).simpleString() == f"struct<a:{simple}>"


def test_nested_types() -> None:
    inner = {"type": "struct", "fields": [field("x", "integer"), field("y", array("string"))]}
    by_name = {"type": "map", "keyType": "string", "valueType": inner, "valueContainsNull": False}
    found = struct_type(schema(field("m", by_name), field("l", array(inner))))
    assert found.simpleString() == (
        "struct<m:map<string,struct<x:int,y:array<string>>>,l:array<struct<x:int,y:array<string>>>>"
    )


def test_everything_is_nullable_because_a_file_may_lack_it() -> None:
    inner = {"type": "struct", "fields": [field("x", "integer", nullable=False)]}
    found = struct_type(schema(field("s", inner, nullable=False), field("l", array("long"), nullable=False)))
    assert '"nullable":false' not in found.json()
    assert '"containsNull":false' not in found.json()


def test_metadata_is_retained_except_for_what_changes_the_reading() -> None:
    declared = {
        "comment": "of the user",
        "answer": 42,
        "CURRENT_DEFAULT": "1",
        "EXISTS_DEFAULT": "1",
        "__CHAR_VARCHAR_TYPE_STRING": "char(5)",
        "__COLLATIONS": {"a": "ICU.de"},
        "delta.generationExpression": "b + 1",
        "parquet.field.id": 7,
    }
    inner = {"type": "struct", "fields": [{**field("x", "integer"), "metadata": declared}]}
    found = struct_type(schema({**field("a", inner), "metadata": declared}))
    kept = {"comment": "of the user", "answer": 42, "__CHAR_VARCHAR_TYPE_STRING": "char(5)"}
    assert found["a"].metadata == kept
    assert found["a"].dataType["x"].metadata == kept


@pytest.mark.parametrize("declared", ["geometry(OGC:CRS84)", "decimal(1)", "interval day"])
def test_a_type_that_is_not_read_is_named_with_its_column(declared: str) -> None:
    inner = {"type": "struct", "fields": [field("x", array(declared))]}
    with pytest.raises(UnsupportedFeature) as raised:
        struct_type(schema(field("s", inner)))
    assert raised.value.context == {"field": "s.x.element", "type": declared}
    assert declared in str(raised.value)


def test_a_variant_is_sparks_own() -> None:
    found = struct_type(schema(field("v", "variant"), field("l", array("variant"))))
    assert found.simpleString() == "struct<v:variant,l:array<variant>>"


def test_a_user_defined_type_is_refused_and_its_class_not_imported() -> None:
    declared = {"type": "udt", "pyClass": "this.Module", "class": "c", "sqlType": "long"}
    with pytest.raises(UnsupportedFeature, match="type udt"):
        struct_type(schema(field("a", declared)))


@pytest.mark.parametrize(
    "declared",
    [
        [],
        {"type": "struct"},
        {"type": "struct", "fields": [{"type": "long"}]},
        {"type": "struct", "fields": [7]},
        {"type": "struct", "fields": [{"name": "a"}]},
        {"type": "struct", "fields": [{"name": "a", "type": {"elementType": "long"}}]},
    ],
)
def test_an_invalid_schema_is_an_error(declared: Any) -> None:
    with pytest.raises(CorruptLog, match="not a Delta schema"):
        struct_type(json.dumps(declared))
