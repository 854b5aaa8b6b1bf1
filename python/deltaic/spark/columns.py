"""The columns of a table as its files have them, made into the table's own by a projection.

Protocol: *Column Mapping*.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom
from pyspark.sql.types import ArrayType, MapType, StructField, StructType

if TYPE_CHECKING:
    from pyspark.sql import Column
    from pyspark.sql.types import DataType

__all__ = ["nests", "physical_names", "quoted", "renamed"]

_PHYSICAL_NAME = "delta.columnMapping.physicalName"


def physical_names(schema: StructType, schema_json: str) -> StructType:
    """The same columns under the names that files have, where the table maps its columns.

    Args:
        schema: What `types.struct_type` makes of the schema.
        schema_json: The table's schema.
    """
    declared = json.loads(schema_json)
    return _physical_struct(schema, declared)


def _physical_struct(logical: StructType, declared: dict[str, Any]) -> StructType:
    fields = zip(logical.fields, declared["fields"], strict=True)
    return StructType(
        [
            StructField(
                field["metadata"].get(_PHYSICAL_NAME, known.name), _physical(known.dataType, field["type"])
            )
            for known, field in fields
        ]
    )


def _physical(logical: DataType, declared: Any) -> DataType:
    if isinstance(logical, StructType):
        return _physical_struct(logical, declared)
    if isinstance(logical, ArrayType):
        return ArrayType(_physical(logical.elementType, declared["elementType"]))
    if isinstance(logical, MapType):
        key = _physical(logical.keyType, declared["keyType"])
        return MapType(key, _physical(logical.valueType, declared["valueType"]))
    return logical


def renamed(column: Column, physical: DataType, logical: DataType) -> Column:
    """A column of the files under the table's names.

    Structs are taken apart and put together, so that Spark still reads single fields of them; inside arrays
    and maps the names alone are changed, by place.
    """
    if _are_named_alike(physical, logical):
        return column
    if isinstance(physical, StructType) and isinstance(logical, StructType):
        pairs = zip(physical.fields, logical.fields, strict=True)
        fields = [
            renamed(column.getField(inside.name), inside.dataType, outside.dataType).alias(outside.name)
            for inside, outside in pairs
        ]
        return F.when(column.isNotNull(), F.struct(*fields))
    return column.cast(logical)


def _are_named_alike(physical: DataType, logical: DataType) -> bool:
    """Whether two types differ in nothing but what is said of their fields, such as comments."""
    if isinstance(physical, StructType) and isinstance(logical, StructType):
        pairs = zip(physical.fields, logical.fields, strict=True)
        return all(a.name == b.name and _are_named_alike(a.dataType, b.dataType) for a, b in pairs)
    if isinstance(physical, ArrayType) and isinstance(logical, ArrayType):
        return _are_named_alike(physical.elementType, logical.elementType)
    if isinstance(physical, MapType) and isinstance(logical, MapType):
        keys = _are_named_alike(physical.keyType, logical.keyType)
        return keys and _are_named_alike(physical.valueType, logical.valueType)
    return physical == logical


def nests(data_type: DataType, kind: type[DataType], *, inside: bool = False) -> bool:
    """Whether a type is of a kind, or one in it; of what is in it alone with `inside`."""
    if isinstance(data_type, StructType):
        below = [field.dataType for field in data_type.fields]
    elif isinstance(data_type, ArrayType):
        below = [data_type.elementType]
    elif isinstance(data_type, MapType):
        below = [data_type.keyType, data_type.valueType]
    else:
        below = []
    return (not inside and isinstance(data_type, kind)) or any(nests(each, kind) for each in below)


def quoted(name: str) -> str:
    """A name as Spark's expressions have it."""
    return "`" + name.replace("`", "``") + "`"
