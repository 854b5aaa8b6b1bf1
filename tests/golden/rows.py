"""Compares two Arrow tables as multisets of rows, exactly.

Columns are matched by name, rows in any order. Decimals and binary values are compared byte for byte, floats
bit by bit (except that every NaN equals every NaN), maps regardless of the order of their entries. A
timestamp is its number of microseconds; one with a zone never equals one without. Types must match, but not
their Arrow representation (large or view types, dictionaries, names of list children, nullability).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

import pyarrow as pa
import pyarrow.compute as pc

_SHOWN = 3


def difference(actual: pa.Table, expected: pa.Table) -> str | None:
    """Describes the difference between two tables; None if they contain the same rows."""
    if found := _names_differ(actual.column_names, expected.column_names):
        return found
    for name in expected.column_names:
        has, wants = spell(actual.schema.field(name).type), spell(expected.schema.field(name).type)
        if has != wants:
            return f"column {name!r} has the type {has}, not {wants}"
    if actual.num_rows != expected.num_rows:
        return f"{actual.num_rows} rows, not {expected.num_rows}"
    order = sorted(expected.column_names)
    keys = [[column_keys(table.column(name)) for name in order] for table in (actual, expected)]
    if keys[0] == keys[1]:
        return None
    if not order:
        return None
    left, right = (Counter(zip(*columns, strict=True)) for columns in keys)
    if left == right:
        return None
    surplus, missing = left - right, right - left
    return (
        f"{surplus.total()} rows too many and {missing.total()} missing (columns {order}):\n"
        f"  too many: {_some(surplus)}\n  missing:  {_some(missing)}"
    )


def spell(kind: pa.DataType) -> str:
    """Names a type; two names are equal if and only if the types represent the same values."""
    if pa.types.is_dictionary(kind):
        return spell(kind.value_type)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return "string"
    if (
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_binary_view(kind)
        or pa.types.is_fixed_size_binary(kind)
    ):
        return "binary"
    if pa.types.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    if pa.types.is_timestamp(kind):
        return "timestamp" if kind.tz else "timestamp_ntz"
    if _is_list(kind):
        return f"array<{spell(kind.value_type)}>"
    if pa.types.is_map(kind):
        return f"map<{spell(kind.key_type)},{spell(kind.item_type)}>"
    if pa.types.is_struct(kind):
        fields = sorted((field.name, spell(field.type)) for field in kind)
        return "struct<" + ",".join(f"{name}:{word}" for name, word in fields) + ">"
    return str(kind)


def column_keys(column: pa.ChunkedArray | pa.Array) -> list[Hashable]:
    """Returns one hashable key per row, equal if and only if the values are equal; None for null."""
    if isinstance(column, pa.ChunkedArray):
        return [key for chunk in column.chunks for key in column_keys(chunk)]
    kind = column.type
    if pa.types.is_dictionary(kind):
        return column_keys(column.dictionary_decode())
    if pa.types.is_floating(kind):
        return _float_bits(column)
    if pa.types.is_decimal(kind):
        widened = column.cast(pa.decimal128(kind.precision, kind.scale))
        return widened.view(pa.binary(16)).to_pylist()
    if pa.types.is_timestamp(kind):
        return pc.cast(column, pa.timestamp("us", kind.tz)).view(pa.int64()).to_pylist()
    if pa.types.is_date32(kind):
        return column.view(pa.int32()).to_pylist()
    if _is_list(kind):
        return _list_keys(column)
    if pa.types.is_map(kind):
        return _map_keys(column)
    if pa.types.is_struct(kind):
        return _struct_keys(column)
    return column.to_pylist()


def _is_list(kind: pa.DataType) -> bool:
    return pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)


def _float_bits(column: pa.Array) -> list[Hashable]:
    integer = {16: pa.int16(), 32: pa.int32(), 64: pa.int64()}[column.type.bit_width]
    one_nan = pa.scalar(float("nan"), pa.float64()).cast(column.type)
    return pc.if_else(pc.is_nan(column), one_nan, column).view(integer).to_pylist()


def _list_keys(column: pa.Array) -> list[Hashable]:
    items = column_keys(column.flatten())
    keys: list[Hashable] = []
    at = 0
    for length in pc.list_value_length(column).to_pylist():
        keys.append(None if length is None else tuple(items[at : at + length]))
        at += length or 0
    return keys


def _map_keys(column: pa.MapArray) -> list[Hashable]:
    # A slice does not cut the children, and a null row may have entries, so only the offsets are reliable.
    names, values = column_keys(column.keys), column_keys(column.items)
    offsets = column.offsets.to_pylist()
    keys: list[Hashable] = []
    for row, present in enumerate(column.is_valid().to_pylist()):
        span = range(offsets[row], offsets[row + 1])
        keys.append(frozenset(Counter((names[i], values[i]) for i in span).items()) if present else None)
    return keys


def _struct_keys(column: pa.StructArray) -> list[Hashable]:
    order = sorted(range(column.type.num_fields), key=lambda index: column.type.field(index).name)
    children = [column_keys(child) for child in column.flatten()]
    present = column.is_valid().to_pylist()
    return [tuple(children[i][row] for i in order) if here else None for row, here in enumerate(present)]


def _names_differ(actual: Sequence[str], expected: Sequence[str]) -> str | None:
    for names in (actual, expected):
        if len(set(names)) != len(names):
            return f"a column name occurs twice: {list(names)}"
    if set(actual) == set(expected):
        return None
    surplus, missing = set(actual) - set(expected), set(expected) - set(actual)
    return f"columns {sorted(surplus)} too many, {sorted(missing)} missing"


def _some(rows: Counter[tuple[Hashable, ...]]) -> str:
    shown = [f"{count} x {row!r}" for row, count in list(rows.items())[:_SHOWN]]
    return "; ".join(shown) + (" …" if len(rows) > _SHOWN else "") if shown else "none"
