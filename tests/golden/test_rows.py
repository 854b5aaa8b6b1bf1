"""The comparison itself: it must report every relevant difference, and no other."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal

import pyarrow as pa
import pytest

from .rows import difference


def one(values: list[object], kind: pa.DataType) -> pa.Table:
    return pa.table({"x": pa.array(values, kind)})


MAP = pa.map_(pa.string(), pa.int32())
STRUCT = pa.struct({"a": pa.int32(), "b": pa.string()})
LIST = pa.list_(pa.int32())

DIFFERENT: dict[str, tuple[pa.Table, pa.Table, str]] = {
    "a row is missing": (one([1, 2], pa.int64()), one([1, 2, 3], pa.int64()), "2 rows, not 3"),
    "a row is twice": (
        one([1, 1, 2], pa.int64()),
        one([1, 2, 2], pa.int64()),
        "1 rows too many and 1 missing",
    ),
    "null and a value": (one([None], pa.int64()), one([0], pa.int64()), "too many"),
    "null and an empty string": (one([None], pa.string()), one([""], pa.string()), "too many"),
    "null and an empty list": (one([None], LIST), one([[]], LIST), "too many"),
    "null and an empty map": (one([None], MAP), one([[]], MAP), "too many"),
    "null and a struct of nulls": (one([None], STRUCT), one([{"a": None, "b": None}], STRUCT), "too many"),
    "negative zero": (one([-0.0], pa.float64()), one([0.0], pa.float64()), "too many"),
    "negative zero in a list": (
        one([[-0.0]], pa.list_(pa.float32())),
        one([[0.0]], pa.list_(pa.float32())),
        "too many",
    ),
    "the last bit of a float": (
        one([0.1], pa.float64()),
        one([math.nextafter(0.1, 1)], pa.float64()),
        "too many",
    ),
    "NaN and null": (one([math.nan], pa.float64()), one([None], pa.float64()), "too many"),
    "float and double": (one([0.5], pa.float32()), one([0.5], pa.float64()), "the type float, not double"),
    "int and long": (one([1], pa.int32()), one([1], pa.int64()), "the type int32, not int64"),
    "int and boolean": (one([1], pa.int32()), one([True], pa.bool_()), "the type int32, not bool"),
    "the scale of a decimal": (
        one([Decimal("1.0")], pa.decimal128(5, 1)),
        one([Decimal("1.00")], pa.decimal128(5, 2)),
        "the type decimal(5,1), not decimal(5,2)",
    ),
    "a decimal's value": (
        one([Decimal("1.01")], pa.decimal128(5, 2)),
        one([Decimal("1.10")], pa.decimal128(5, 2)),
        "too many",
    ),
    "string and binary": (one(["a"], pa.string()), one([b"a"], pa.binary()), "the type string, not binary"),
    "a byte of a binary": (one([b"a\0"], pa.binary()), one([b"a"], pa.binary()), "too many"),
    "a microsecond": (one([1], pa.timestamp("us", "UTC")), one([2], pa.timestamp("us", "UTC")), "too many"),
    "with and without zone": (
        one([1], pa.timestamp("us", "UTC")),
        one([1], pa.timestamp("us")),
        "the type timestamp, not timestamp_ntz",
    ),
    "a day": (one([1], pa.date32()), one([2], pa.date32()), "too many"),
    "the order of a list": (one([[1, 2]], LIST), one([[2, 1]], LIST), "too many"),
    "where a list ends": (one([[1], [2, 3]], LIST), one([[1, 2], [3]], LIST), "too many"),
    "a map's value": (one([[("a", 1)]], MAP), one([[("a", 2)]], MAP), "too many"),
    "a map's entry twice": (one([[("a", 1)]], MAP), one([[("a", 1), ("a", 1)]], MAP), "too many"),
    "a nested null": (one([{"a": None, "b": "x"}], STRUCT), one([{"a": 0, "b": "x"}], STRUCT), "too many"),
    "a nested name": (
        one([{"a": 1}], pa.struct({"a": pa.int32()})),
        one([{"b": 1}], pa.struct({"b": pa.int32()})),
        "the type struct<a:int32>, not struct<b:int32>",
    ),
    "rows mixed up": (
        pa.table({"x": [1, 2], "y": ["a", "b"]}),
        pa.table({"x": [1, 2], "y": ["b", "a"]}),
        "2 rows too many and 2 missing",
    ),
    "a column is missing": (
        pa.table({"x": [1]}),
        pa.table({"x": [1], "y": [1]}),
        "columns [] too many, ['y'] missing",
    ),
    "the case of a column's name": (
        pa.table({"x": [1]}),
        pa.table({"X": [1]}),
        "columns ['x'] too many, ['X'] missing",
    ),
    "a column is twice": (
        pa.table([pa.array([1]), pa.array([1])], ["x", "x"]),
        pa.table({"x": [1]}),
        "a column name occurs twice",
    ),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_a_difference_is_observed_both_ways(name: str) -> None:
    actual, expected, words = DIFFERENT[name]
    assert words in (difference(actual, expected) or "no difference")
    assert difference(expected, actual) is not None


SAME: dict[str, Callable[[], tuple[pa.Table, pa.Table]]] = {
    "any order of rows": lambda: (one([1, 2, 2, None], pa.int64()), one([2, None, 1, 2], pa.int64())),
    "any order of columns": lambda: (pa.table({"x": [1], "y": ["a"]}), pa.table({"y": ["a"], "x": [1]})),
    "any order of a map": lambda: (one([[("a", 1), ("b", 2)]], MAP), one([[("b", 2), ("a", 1)]], MAP)),
    "any NaN": lambda: (one([math.nan], pa.float64()), one([-math.nan], pa.float64())),
    "large and small strings": lambda: (one(["a"], pa.large_string()), one(["a"], pa.string())),
    "a dictionary": lambda: (
        pa.table({"x": pa.array(["a", "b", "a"]).dictionary_encode()}),
        one(["b", "a", "a"], pa.string()),
    ),
    "units of time": lambda: (one([1], pa.timestamp("ms")), one([1000], pa.timestamp("us"))),
    "years that Python cannot hold": lambda: (
        one([-(10**17)], pa.timestamp("us", "UTC")),
        one([-(10**17)], pa.timestamp("us", "UTC")),
    ),
    "the width of a decimal": lambda: (
        one([Decimal("1.25"), None], pa.decimal32(5, 2)),
        one([Decimal("1.25"), None], pa.decimal128(5, 2)),
    ),
    "chunks": lambda: (
        pa.table({"x": pa.chunked_array([[1], [2, 3]])}),
        pa.table({"x": pa.chunked_array([[1, 2], [3]])}),
    ),
    "slices of nested columns": lambda: (
        pa.table({"x": pa.array([[("z", 0)], [("a", 1)], None, [("b", 2)]], MAP).slice(1)}),
        one([[("a", 1)], None, [("b", 2)]], MAP),
    ),
    "slices of structs": lambda: (
        pa.table({"x": pa.array([{"a": 0, "b": ""}, {"a": 1, "b": None}, None], STRUCT).slice(1)}),
        one([None, {"a": 1, "b": None}], STRUCT),
    ),
    "slices of lists": lambda: (
        pa.table({"x": pa.array([[9], [1, None], None, []], LIST).slice(1)}),
        one([[], None, [1, None]], LIST),
    ),
    "no rows": lambda: (one([], MAP), one([], MAP)),
}


@pytest.mark.parametrize("name", SAME)
def test_equal_tables_have_no_difference(name: str) -> None:
    actual, expected = SAME[name]()
    assert difference(actual, expected) is None
