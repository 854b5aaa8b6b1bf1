"""A projection from the physical columns of files to the table's logical columns.

Protocol: *Column Mapping*.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, cast

from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom
from pyspark.sql.types import ArrayType, CharType, DataType, MapType, StructField, StructType

from deltaic.spark.types import LENGTHS

if TYPE_CHECKING:
    from pyspark.sql import Column

__all__ = ["declared_lengths", "nests", "padded", "physical_names", "quoted", "renamed"]

_PHYSICAL_NAME = "delta.columnMapping.physicalName"


def physical_names(schema: StructType, schema_json: str) -> StructType:
    """Returns the same columns under their physical names, if column mapping is enabled.

    Args:
        schema: The result of `types.struct_type` for the table.
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
    """Renames a physical column and its fields to their logical names.

    Structs are rebuilt field by field, so that Spark can still prune nested fields; inside arrays and maps, a
    cast renames fields by position.
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


def declared_lengths(field: StructField) -> DataType | None:
    """Returns the type of a column with the lengths of char(n); None if it has none, or not a valid one."""
    text = str(field.metadata.get(LENGTHS, ""))
    # "varchar(n)" needs no padding.
    if not re.search(r"\bchar\s*\(", text, re.IGNORECASE):
        return None
    try:
        return DataType.fromDDL(text)
    except PySparkException:
        return None


def padded(column: Column, declared: DataType) -> Column:
    """Pads values of char(n), as Spark does when it reads them from files."""
    if isinstance(declared, CharType):
        is_short = F.length(column) < declared.length
        return F.when(is_short, F.rpad(column, declared.length, " ")).otherwise(column)
    if not nests(declared, CharType):
        return column
    if isinstance(declared, StructType):
        fields = [padded(column.getField(field.name), field.dataType).alias(field.name) for field in declared]
        return F.when(column.isNotNull(), F.struct(*fields))
    if isinstance(declared, MapType):
        keys, values = declared.keyType, declared.valueType
        with_keys = F.transform_keys(column, lambda key, _: padded(key, keys))
        return F.transform_values(with_keys, lambda _, value: padded(value, values))
    return F.transform(column, lambda item: padded(item, cast("ArrayType", declared).elementType))


def _are_named_alike(physical: DataType, logical: DataType) -> bool:
    """Whether two types differ at most in field metadata, such as comments."""
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
    """Whether a type is or contains a type of this kind; with `inside`, whether it contains one."""
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
    """Quotes a name for Spark's expressions."""
    return "`" + name.replace("`", "``") + "`"
