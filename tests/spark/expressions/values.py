"""Values of each type: limits first, then seeded random values."""

from __future__ import annotations

import struct
from collections.abc import Callable
from decimal import Context, Decimal
from functools import partial
from random import Random
from typing import Any

import pyarrow as pa

from tests.seed import generator

from .words import DATES, DIGITS, PATTERNS, UNITS, WORDS

COUNT = 220
"""The number of random values of a type."""

LIMITS = 14
"""The number of values at the beginning that are combined with all of another column."""

EXACT = Context(prec=60)

DECIMALS = {"d9": (9, 2), "d18": (18, 6), "d38": (38, 0), "m38": (38, 18), "f38": (38, 37)}
"""Decimal columns, with precision and scale."""

TYPES: dict[str, pa.DataType] = {
    "flag": pa.bool_(),
    "i8": pa.int8(),
    "i16": pa.int16(),
    "i32": pa.int32(),
    "i64": pa.int64(),
    "f32": pa.float32(),
    "f64": pa.float64(),
    **{name: pa.decimal128(*digits) for name, digits in DECIMALS.items()},
    "text": pa.string(),
    "bytes": pa.binary(),
    "day": pa.date32(),
    "at": pa.timestamp("us", "UTC"),
    "ntz": pa.timestamp("us"),
}
"""A column of each type."""

KINDS: dict[str, pa.DataType] = {
    "digits": pa.string(),
    "dates": pa.string(),
    "pattern": pa.string(),
    "unit": pa.string(),
    "raw": pa.binary(),
    "pos": pa.int32(),
    "list": pa.list_(pa.field("element", pa.int32())),
    "keyed": pa.map_(pa.string(), pa.int64()),
    "counted": pa.map_(pa.int32(), pa.string()),
    "nested": pa.struct(
        {
            "a": pa.int32(),
            "Text": pa.string(),
            "deep": pa.struct({"b": pa.float64(), "list": pa.list_(pa.field("element", pa.string()))}),
        }
    ),
}
"""Columns of other values of these types, and of nested types."""

YEAR_US = 31_556_952_000_000
LAST_US = 253_402_300_799_999_999
ALPHABET = " aAbBzZ09.-+eE%_\\é😀Σßı\t"


def _integers(random: Random, bits: int) -> list[int]:
    least, most = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    edges = [0, 1, -1, 2, 3, 10, least, least + 1, most, most - 1, 7, -10, 100, -2, least // 2, most // 2]
    return edges + [random.randint(least, most) >> random.randrange(bits) for _ in range(COUNT)]


def _doubles(random: Random) -> list[float]:
    edges = [0.0, -0.0, 1.0, -1.0, float("nan"), float("inf"), float("-inf"), 0.5, 2.5, -2.5, 5e-324]
    edges += [1.7976931348623157e308, 9.3e18, -0.5, 1.5, 0.1, 0.2, 1e7, 9999999.0, 1e-3, 9.99e-4, 1e21, 3.0]
    edges += [2.0**31, 2.0**31 - 1, -(2.0**31) - 1, 2.0**53, 2.0**63, -(2.0**63), 127.9, 128.0, -128.9, 1e38]
    edges += [
        1e39,
        2.675,
        1.005,
        123456.789,
        3.4028235e38,
        3.5e38,
        1e-46,
        100.0,
        1e10,
        2.2250738585072014e-308,
    ]
    bits = [struct.unpack("<d", struct.pack("<Q", random.getrandbits(64)))[0] for _ in range(COUNT // 2)]
    return edges + bits + [round(random.uniform(-1e6, 1e6), random.randrange(8)) for _ in range(COUNT // 2)]


def _decimals(random: Random, precision: int, scale: int) -> list[Decimal]:
    most = 10**precision - 1
    half = 5 * 10 ** max(scale - 1, 0)
    edges = [0, 1, -1, most, -most, half, -half, 10**scale, -(10**scale), 3 * half, 7, most // 2, most - 1]
    numbers = [number for number in edges if abs(number) <= most]
    numbers += [random.randint(-most, most) // 10 ** random.randrange(precision) for _ in range(COUNT)]
    return [Decimal(number).scaleb(-scale, EXACT) for number in numbers]


def _texts(random: Random) -> list[str]:
    return WORDS + ["".join(random.choices(ALPHABET, k=random.randrange(12))) for _ in range(COUNT)]


def _digits(random: Random) -> list[str]:
    made = [str(round(random.uniform(-1000, 1000), random.randrange(5))) for _ in range(COUNT // 4)]
    made += [str(random.randint(-(1 << 65), 1 << 65) >> random.randrange(65)) for _ in range(COUNT // 4)]
    return DIGITS + made + ["".join(random.choices("+-.0123456789eE ", k=5)) for _ in range(COUNT // 4)]


def _dates(random: Random) -> list[str]:
    made: list[str] = []
    for _ in range(COUNT // 2):
        year, month, day = random.randint(1, 10_050), random.randint(1, 13), random.randint(1, 32)
        time = random.choice(
            ["", " {:02}:{:02}:{:02}", "T{:02}:{:02}", " {}:{}:{}.{}", " {:02}:{:02}:{:02}+01:00"]
        )
        clock = time.format(
            random.randint(0, 24), random.randint(0, 60), random.randint(0, 60), random.randint(0, 999)
        )
        made.append(f"{year:04}-{month:02}-{day:02}{clock}")
    return DATES + made


def _days(random: Random) -> list[int]:
    edges = [0, 1, -1, 59, -719_162, -719_163, -719_528, -719_529, 2_932_896, 2_932_897, -141_428, -141_427]
    edges += [60, -141_438, 18_000, 20_454, 19_782, 11_016, -25_508, 106_751_991, -106_751_991, 106_751_992]
    edges += [2_147_483_647, -2_147_483_648, -2_147_483_647]
    return edges + [random.randint(-800_000, 3_000_000) for _ in range(COUNT)]


def _instants(random: Random) -> list[int]:
    edges = [
        0,
        1,
        -1,
        999_999,
        -999_999,
        LAST_US,
        LAST_US + 1,
        9_223_372_036_854_775_807,
        -9_223_372_036_854_775_808,
    ]
    edges += [
        86_399_999_999,
        86_400_000_000,
        -62_135_596_800_000_000,
        -62_135_596_800_000_001,
        -62_167_219_200_000_000,
    ]
    edges += [1_774_747_800_000_000, 1_792_886_400_000_000, -12_219_292_800_000_000, -12_219_292_800_000_001]
    return edges + [random.randint(-2500 * YEAR_US, 8500 * YEAR_US) for _ in range(COUNT)]


def _nested(random: Random, name: str) -> list[Any]:
    def number() -> int | None:
        return random.choice([None, 0, -1, random.randint(-(1 << 31), (1 << 31) - 1)])

    def word() -> str:
        return random.choice(["", "a", "b", "A", "key", "😀"])

    def made() -> Any:
        match name:
            case "list":
                return [number() for _ in range(random.randrange(5))]
            case "keyed":
                return list({word(): number() for _ in range(random.randrange(5))}.items())
            case "counted":
                return list({random.randint(-3, 3): word() for _ in range(random.randrange(5))}.items())
            case _:
                deep = {
                    "b": random.choice([None, 0.5, float("nan")]),
                    "list": random.choice([None, [], [word(), None]]),
                }
                return {"a": number(), "Text": word(), "deep": random.choice([None, deep, deep])}

    return [made() for _ in range(COUNT + LIMITS)]


def _raw(random: Random) -> list[bytes]:
    edges = [b"", b"\x00", b"\xff", b"\x80", b"a", b"\xc3\x28", b"\xed\xa0\x80", b"\xf0\x9f\x98"]
    return edges + [random.randbytes(random.randrange(70)) for _ in range(COUNT)]


def _positions(random: Random) -> list[int]:
    edges = [0, 1, -1, 2, -2, 3, 5, -5, 9, 2_147_483_647, -2_147_483_648, -2_147_483_647, 10]
    return edges + [random.randint(-14, 14) for _ in range(COUNT)]


def _patterns(random: Random) -> list[str]:
    return PATTERNS + ["".join(random.choices("%_aAb\\😀", k=random.randrange(6))) for _ in range(COUNT)]


MAKERS: dict[str, Callable[[Random], list[Any]]] = {
    "flag": lambda _: [True, False],
    **{f"i{bits}": partial(_integers, bits=bits) for bits in (8, 16, 32, 64)},
    **dict.fromkeys(("f32", "f64"), _doubles),
    **{
        name: partial(_decimals, precision=precision, scale=scale)
        for name, (precision, scale) in DECIMALS.items()
    },
    "text": _texts,
    "bytes": lambda random: [text.encode() for text in _texts(random)],
    "day": _days,
    **dict.fromkeys(("at", "ntz"), _instants),
    "digits": _digits,
    "dates": _dates,
    "pattern": _patterns,
    "unit": lambda _: UNITS,
    "raw": _raw,
    "pos": _positions,
    **{name: partial(_nested, name=name) for name in ("list", "keyed", "counted", "nested")},
}


def values(name: str) -> pa.Array:
    """Returns the values of a column, NULL first."""
    made = MAKERS[name](generator("expressions", name))
    wanted = {**TYPES, **KINDS}[name]
    physical = {"f32": pa.float64(), "day": pa.int32(), "at": pa.int64(), "ntz": pa.int64()}.get(name, wanted)
    # A double beyond the range of a float becomes infinite.
    return pa.array([None, *made], physical).cast(wanted, safe=name != "f32")


def table() -> pa.Table:
    """Returns a table with the columns `c` and `c_2` for each name.

    The first rows combine the first values of `c` with those of another column's `c_2`; the following have
    all values of `c` beside random ones.
    """
    count = LIMITS**2 + 360
    columns: dict[str, pa.Array] = {"id": pa.array(range(count), pa.int32())}
    for name in (*TYPES, *KINDS):
        found = values(name)
        random = generator("rows", name)
        picks = [list[int](), list[int]()]
        for row in range(count):
            if row < LIMITS**2:
                pair = (row // LIMITS % len(found), row % LIMITS % len(found))
            else:
                pair = ((row - LIMITS**2) % len(found), random.randrange(len(found)))
            picks[0].append(pair[0])
            picks[1].append(pair[1])
        columns[name] = found.take(pa.array(picks[0]))
        columns[f"{name}_2"] = found.take(pa.array(picks[1]))
    return pa.table(columns)
