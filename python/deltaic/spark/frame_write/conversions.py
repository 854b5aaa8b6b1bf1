"""Conversions of columns that Spark does, because expressions or the session's time zone depend on them."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - as in Spark's own documents
from pyspark.sql.types import (
    ArrayType,
    AtomicType,
    BinaryType,
    ByteType,
    DataType,
    DateType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    NumericType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

__all__ = ["changes_numbers", "converted", "is_kept"]

_BINARY = (FloatType, DoubleType)
# The first numbers above those of a type.
_LIMITS: dict[type[DataType], float] = {IntegerType: 2.0**31, LongType: 2.0**63}
_WIDER: list[list[type[DataType]]] = [[ByteType, ShortType, IntegerType, LongType], [FloatType, DoubleType]]
_TIMES = (DateType, TimestampType, TimestampNTZType)


def converted(values: Column, given: DataType, wanted: DataType, *, exactly: bool) -> Column:
    """Converts values to the type of their column.

    Args:
        values: The values.
        given: Their type.
        wanted: The type of the column.
        exactly: Whether the result must have that type, because expressions are evaluated for it. Otherwise
            only conversions that depend on the session's time zone are done, to dates, times and text; the
            core does the others, and keeps each value or raises.
    """
    if not _differ(given, wanted, exactly=exactly):
        return values
    if isinstance(given, StructType) and isinstance(wanted, StructType):
        return _struct(values, given, wanted, exactly=exactly)
    if isinstance(given, ArrayType) and isinstance(wanted, ArrayType):
        element, other = given.elementType, wanted.elementType
        return F.transform(values, lambda each: converted(each, element, other, exactly=exactly))
    if isinstance(given, MapType) and isinstance(wanted, MapType):
        keys, items = (given.keyType, wanted.keyType), (given.valueType, wanted.valueType)
        entries = F.transform(
            F.map_entries(values),
            lambda entry: F.struct(
                converted(entry.getField("key"), *keys, exactly=exactly).alias("key"),
                converted(entry.getField("value"), *items, exactly=exactly).alias("value"),
            ),
        )
        return F.map_from_entries(entries)
    # Without an error, also with ANSI mode: `is_kept` finds what does not fit.
    return values.try_cast(wanted) if isinstance(wanted, NumericType) else values.cast(wanted)


def is_kept(values: Column, given: DataType, wanted: DataType) -> Column | None:
    """Returns whether numbers are the same after a conversion; None if they always are, or are none."""
    if isinstance(given, StructType) and isinstance(wanted, StructType):
        parts = [
            is_kept(values.getField(part.name), part.dataType, field.dataType)
            for part, field in _pairs(given, wanted)
        ]
        found = [part for part in parts if part is not None]
        return _all(found)
    if isinstance(given, ArrayType) and isinstance(wanted, ArrayType):
        return _of_all(values, given.elementType, wanted.elementType)
    if isinstance(given, MapType) and isinstance(wanted, MapType):
        of_keys = _of_all(F.map_keys(values), given.keyType, wanted.keyType)
        of_items = _of_all(F.map_values(values), given.valueType, wanted.valueType)
        return _all([each for each in (of_keys, of_items) if each is not None])
    if not (isinstance(given, NumericType) and isinstance(wanted, NumericType)) or given == wanted:
        return None
    kept = values.try_cast(wanted).try_cast(given).eqNullSafe(values)
    return kept & _is_below_limit(values, given, wanted)


def _is_below_limit(values: Column, given: DataType, wanted: DataType) -> Column:
    """Whether a number is not the first one above its type, which Spark casts to the last one of it."""
    if isinstance(given, _BINARY) and type(wanted) in _LIMITS:
        return values.isNull() | (values < F.lit(_LIMITS[type(wanted)]))
    if isinstance(wanted, _BINARY) and type(given) in _LIMITS:
        return values.isNull() | (values.try_cast(wanted) < F.lit(_LIMITS[type(given)]))
    return F.lit(True)  # noqa: FBT003 - a literal of SQL


def changes_numbers(given: DataType, wanted: DataType) -> bool:
    """Whether numbers become those of another type, other than of a wider one that has all of them.

    >>> changes_numbers(IntegerType(), LongType()), changes_numbers(LongType(), DoubleType())
    (False, True)
    """
    if isinstance(given, StructType) and isinstance(wanted, StructType):
        return any(changes_numbers(part.dataType, field.dataType) for part, field in _pairs(given, wanted))
    if isinstance(given, ArrayType) and isinstance(wanted, ArrayType):
        return changes_numbers(given.elementType, wanted.elementType)
    if isinstance(given, MapType) and isinstance(wanted, MapType):
        keys, items = (given.keyType, wanted.keyType), (given.valueType, wanted.valueType)
        return changes_numbers(*keys) or changes_numbers(*items)
    if not (isinstance(given, NumericType) and isinstance(wanted, NumericType)) or given == wanted:
        return False
    return not any(
        type(given) in order and type(wanted) in order[order.index(type(given)) :] for order in _WIDER
    )


def _of_all(values: Column, given: DataType, wanted: DataType) -> Column | None:
    if is_kept(F.lit(None), given, wanted) is None:
        return None
    return values.isNull() | F.forall(values, lambda each: _known(is_kept(each, given, wanted)))


def _known(condition: Column | None) -> Column:
    assert condition is not None  # noqa: S101 - it depends on types alone
    return condition


def _all(conditions: list[Column]) -> Column | None:
    if not conditions:
        return None
    found = conditions[0]
    for condition in conditions[1:]:
        found &= condition
    return found


def _differ(given: DataType, wanted: DataType, *, exactly: bool) -> bool:
    if isinstance(given, StructType) and isinstance(wanted, StructType):
        names = [[field.name for field in each.fields] for each in (given, wanted)]
        return (exactly and names[0] != names[1]) or any(
            _differ(part.dataType, field.dataType, exactly=exactly) for part, field in _pairs(given, wanted)
        )
    if isinstance(given, ArrayType) and isinstance(wanted, ArrayType):
        return _differ(given.elementType, wanted.elementType, exactly=exactly)
    if isinstance(given, MapType) and isinstance(wanted, MapType):
        return _differ(given.keyType, wanted.keyType, exactly=exactly) or _differ(
            given.valueType, wanted.valueType, exactly=exactly
        )
    if isinstance(given, _TIMES) and isinstance(wanted, _TIMES):
        return type(given) is not type(wanted)
    if isinstance(given, StringType) and isinstance(wanted, StringType):
        # Another collation compares differently.
        return exactly and given != wanted
    if exactly and isinstance(given, NumericType) and isinstance(wanted, NumericType):
        return given != wanted
    is_text = isinstance(given, StringType | BinaryType)
    return isinstance(wanted, StringType) and isinstance(given, AtomicType) and not is_text


def _struct(values: Column, given: StructType, wanted: StructType, *, exactly: bool) -> Column:
    parts = {part.name.lower(): part for part in given.fields}
    columns: list[Column] = []
    if exactly:
        for field in wanted.fields:
            part = parts.pop(field.name.lower(), None)
            value = (
                F.lit(None).cast(field.dataType)
                if part is None
                else converted(values.getField(part.name), part.dataType, field.dataType, exactly=True)
            )
            columns.append(value.alias(field.name))
        return F.when(values.isNotNull(), F.struct(*columns))
    fields = {part.name: field for part, field in _pairs(given, wanted)}
    for part in given.fields:
        value = values.getField(part.name)
        if part.name in fields:
            value = converted(value, part.dataType, fields[part.name].dataType, exactly=False)
        columns.append(value.alias(part.name))
    return F.when(values.isNotNull(), F.struct(*columns))


def _pairs(given: StructType, wanted: StructType) -> list[tuple[StructField, StructField]]:
    fields = {field.name.lower(): field for field in wanted.fields}
    return [(part, fields[part.name.lower()]) for part in given.fields if part.name.lower() in fields]
