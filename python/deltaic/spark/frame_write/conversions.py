"""Conversions of columns that only Spark does as the session means them: to times, dates and text."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - as in Spark's own documents
from pyspark.sql.types import (
    ArrayType,
    AtomicType,
    BinaryType,
    DataType,
    DateType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

__all__ = ["converted"]

_TIMES = (DateType, TimestampType, TimestampNTZType)


def converted(values: Column, given: DataType, wanted: DataType) -> Column:
    """Converts values to the type of their column where the session's zone matters, as Spark's INSERT does.

    Everything else is left to the core, which keeps each value exactly, or raises.

    Args:
        values: The values.
        given: Their type.
        wanted: The type of the column.
    """
    return _changed(values, given, wanted) if _needs_spark(given, wanted) else values


def _needs_spark(given: DataType, wanted: DataType) -> bool:
    if isinstance(given, StructType) and isinstance(wanted, StructType):
        return any(_needs_spark(part.dataType, field.dataType) for part, field in _pairs(given, wanted))
    if isinstance(given, ArrayType) and isinstance(wanted, ArrayType):
        return _needs_spark(given.elementType, wanted.elementType)
    if isinstance(given, MapType) and isinstance(wanted, MapType):
        return _needs_spark(given.keyType, wanted.keyType) or _needs_spark(given.valueType, wanted.valueType)
    if isinstance(given, _TIMES) and isinstance(wanted, _TIMES):
        return type(given) is not type(wanted)
    is_text = isinstance(given, StringType | BinaryType)
    return isinstance(wanted, StringType) and isinstance(given, AtomicType) and not is_text


def _changed(values: Column, given: DataType, wanted: DataType) -> Column:
    if not _needs_spark(given, wanted):
        return values
    if isinstance(given, StructType) and isinstance(wanted, StructType):
        known = {id(part): field for part, field in _pairs(given, wanted)}
        parts = [
            (
                _changed(part_of, part.dataType, known[id(part)].dataType) if id(part) in known else part_of
            ).alias(part.name)
            for part in given.fields
            for part_of in (values.getField(part.name),)
        ]
        return F.when(values.isNotNull(), F.struct(*parts))
    if isinstance(given, ArrayType) and isinstance(wanted, ArrayType):
        element, other = given.elementType, wanted.elementType
        return F.transform(values, lambda each: _changed(each, element, other))
    if isinstance(given, MapType) and isinstance(wanted, MapType):
        keys, values_of = (given.keyType, wanted.keyType), (given.valueType, wanted.valueType)
        entries = F.transform(
            F.map_entries(values),
            lambda entry: F.struct(
                _changed(entry.getField("key"), *keys).alias("key"),
                _changed(entry.getField("value"), *values_of).alias("value"),
            ),
        )
        return F.map_from_entries(entries)
    return values.cast(wanted)


def _pairs(given: StructType, wanted: StructType) -> list[tuple[StructField, StructField]]:
    fields = {field.name.lower(): field for field in wanted.fields}
    return [(part, fields[part.name.lower()]) for part in given.fields if part.name.lower() in fields]
