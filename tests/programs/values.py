"""Column types of generated tables, their values, and the values as SQL literals."""

from __future__ import annotations

import math
import random
from datetime import date, datetime, timedelta, timezone
from decimal import Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa

UTC = timezone.utc
Row = dict[str, Any]
CONTEXT = Context(prec=100)

INTEGERS: dict[pa.DataType, int] = {pa.int8(): 8, pa.int16(): 16, pa.int32(): 32, pa.int64(): 64}
DECIMALS = [pa.decimal128(5, 2), pa.decimal128(18, 0), pa.decimal128(38, 10)]
LEAVES = [
    pa.bool_(),
    *INTEGERS,
    pa.int32(),
    pa.int64(),
    pa.float32(),
    pa.float64(),
    *DECIMALS,
    pa.string(),
    pa.string(),
    pa.binary(),
    pa.date32(),
    pa.timestamp("us", "UTC"),
    pa.timestamp("us"),
]

VARIANT = pa.large_string()
"""The type of variant columns, whose values are JSON texts; no other column has this type."""

_VARIANTS = ["null", "true", "-7", "1.5", '"ü"', "[]", '{"a":1,"b":[null,{"c":"x"}]}', '"null"']
_TEXTS = [
    "",
    "a",
    "ab",
    "B",
    "ü",
    "a b",
    " ",
    "it's",
    'a"b',
    "a\\b",
    "a%",
    "b_c",
    "é/=",
    "\U0001f6eb",
    "\ue000",
]
_TEXTS += ["x" * 33, "\U0010ffff" * 40, "y" * 300, "null", "1", "line\nbreak", "__HIVE_DEFAULT_PARTITION__"]
_INSTANTS = [
    datetime(1, 1, 1),  # noqa: DTZ001 - zones are added where the type has one
    datetime(1582, 10, 10, 1, 2, 3),  # noqa: DTZ001
    datetime(1969, 12, 31, 23, 59, 59, 999_999),  # noqa: DTZ001
    datetime(2024, 3, 10, 7, 30),  # noqa: DTZ001
    datetime(2026, 11, 1, 12, 0, 0, 123_456),  # noqa: DTZ001
    datetime(2026, 11, 1, 12, 0, 0, 123_999),  # noqa: DTZ001
    datetime(9999, 12, 31, 23, 59, 59, 999_999),  # noqa: DTZ001
]
_DATES = [date(1, 1, 1), date(1582, 10, 10), date(1969, 12, 31), date(2024, 2, 29), date(9999, 12, 31)]
_DOUBLES = [0.0, -0.0, math.nan, math.inf, -math.inf, 0.1, -2.5, 5e-324, 1.7e308, 1e16, 3.0]


def random_kind(chance: random.Random, depth: int = 1) -> pa.DataType:
    """Returns a column type, nested at most so deep."""
    if depth == 0 or chance.random() < 0.8:
        return chance.choice(LEAVES)
    shape = chance.choice(["struct", "struct", "list", "map"])
    if shape == "struct":
        names = ["x", "Yz", "ü"][: chance.randint(1, 3)]
        fields = [
            pa.field(name, random_kind(chance, depth - 1), nullable=chance.random() < 0.85) for name in names
        ]
        return pa.struct(fields)
    if shape == "list":
        return pa.list_(pa.field("element", random_kind(chance, depth - 1), nullable=chance.random() < 0.8))
    keys = chance.choice([pa.string(), pa.int32()])
    return pa.map_(keys, random_kind(chance, depth - 1))


def random_value(kind: pa.DataType, chance: random.Random, nulls: float = 0.15) -> Any:
    """Returns a value, often an extreme one; None with the given probability."""
    if chance.random() < nulls:
        return None
    if pa.types.is_boolean(kind):
        return chance.random() < 0.5
    if kind == VARIANT:
        return chance.choice(_VARIANTS)
    if bits := INTEGERS.get(kind):
        limit = 2 ** (bits - 1)
        return chance.choice([0, 1, 2, 3, -1, 7, limit - 1, -limit, chance.randrange(-100, 100)])
    if pa.types.is_floating(kind):
        return _rounded(chance.choice(_DOUBLES), kind)
    if pa.types.is_decimal(kind):
        limit = 10**kind.precision
        digits = chance.choice([0, 1, -1, 10**kind.scale, limit - 1, 1 - limit, chance.randrange(limit)])
        return Decimal(digits).scaleb(-kind.scale, CONTEXT)
    if pa.types.is_string(kind):
        return chance.choice(_TEXTS)
    if pa.types.is_binary(kind):
        return chance.choice([b"", b"\x00", b"\xff\x00", b"abc", b"z" * 70])
    if pa.types.is_date(kind):
        return chance.choice(_DATES)
    if pa.types.is_timestamp(kind):
        return chance.choice(_INSTANTS).replace(tzinfo=UTC if kind.tz else None)
    return _random_nested(kind, chance)


def _random_nested(kind: pa.DataType, chance: random.Random) -> Any:
    if pa.types.is_struct(kind):
        return {
            field.name: random_value(field.type, chance, 0.2 if field.nullable else 0.0) for field in kind
        }
    if pa.types.is_list(kind):
        nulls = 0.2 if kind.value_field.nullable else 0.0
        return [random_value(kind.value_type, chance, nulls) for _ in range(chance.randint(0, 3))]
    keys = {random_value(kind.key_type, chance, 0.0) for _ in range(chance.randint(0, 2))}
    return [(key, random_value(kind.item_type, chance, 0.2)) for key in sorted(keys)]


def _rounded(value: float, kind: pa.DataType) -> float:
    if kind == pa.float64() or not math.isfinite(value):
        return value
    return single(value)


def single(value: float) -> float:
    """Returns the float that is nearest to a double."""
    with np.errstate(over="ignore"):
        return float(np.float32(value))


TYPE_NAMES: dict[pa.DataType, str] = {
    pa.bool_(): "BOOLEAN",
    pa.int8(): "TINYINT",
    pa.int16(): "SMALLINT",
    pa.int32(): "INT",
    pa.int64(): "BIGINT",
    pa.float32(): "FLOAT",
    pa.float64(): "DOUBLE",
    pa.string(): "STRING",
    pa.binary(): "BINARY",
    pa.date32(): "DATE",
    pa.timestamp("us", "UTC"): "TIMESTAMP",
    pa.timestamp("us"): "TIMESTAMP_NTZ",
}


def type_name(kind: pa.DataType) -> str:
    """Returns the name of a primitive type in SQL."""
    if pa.types.is_decimal(kind):
        return f"DECIMAL({kind.precision}, {kind.scale})"
    return TYPE_NAMES[kind]


def literal(value: Any, kind: pa.DataType) -> str:
    """Returns a value of a primitive type as a literal that deltaic and Spark read alike."""
    if value is None:
        return "NULL"
    if pa.types.is_boolean(kind):
        return str(value).upper()
    if kind in INTEGERS:
        return str(value)
    if pa.types.is_floating(kind):
        text = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(str(value), repr(value))
        return f"CAST('{text}' AS {type_name(kind)})"
    if pa.types.is_decimal(kind):
        return f"CAST('{value:f}' AS {type_name(kind)})"
    if pa.types.is_date(kind):
        return f"DATE '{value.isoformat()}'"
    if pa.types.is_timestamp(kind):
        text = value.replace(tzinfo=None).isoformat(" ")
        return f"TIMESTAMP '{text}Z'" if kind.tz else f"TIMESTAMP_NTZ '{text}'"
    if pa.types.is_binary(kind):
        return f"X'{value.hex()}'"
    text = value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    return f"'{text}'"


def neighbour(value: Any, kind: pa.DataType, chance: random.Random) -> Any:
    """Returns a value next to one, or the value itself."""
    if value is None or chance.random() < 0.6:
        return value
    if bits := INTEGERS.get(kind):
        return min(value + 1, 2 ** (bits - 1) - 1)
    if pa.types.is_string(kind):
        return value[:-1] if chance.random() < 0.5 else value + "a"
    if pa.types.is_date(kind) and value < _DATES[-1]:
        return value + timedelta(days=1)
    return value


def is_leaf(kind: pa.DataType) -> bool:
    """Whether values have literals and an order."""
    return not pa.types.is_nested(kind) and kind != VARIANT


def quoted(name: str) -> str:
    """Returns a name in backticks."""
    return "`" + name.replace("`", "``") + "`"


def to_arrow(rows: list[Row], schema: pa.Schema) -> pa.Table:
    """Returns rows as an Arrow table; a column that a row lacks is NULL."""
    arrays = [
        pa.array([row.get(field.name) for row in rows], field.type, from_pandas=False) for field in schema
    ]
    return pa.Table.from_arrays(arrays, schema=schema)
