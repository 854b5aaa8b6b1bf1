"""Values that writers and readers often get wrong: extremes of every type, and unusual strings."""

from __future__ import annotations

from datetime import date, datetime, timezone
from decimal import Decimal

import pyarrow as pa

UTC = timezone.utc
INSTANTS = [
    datetime(1, 1, 1, tzinfo=UTC),
    datetime(1582, 10, 10, tzinfo=UTC),
    datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    # The hour that occurs twice in New York, and the one that does not occur.
    datetime(2024, 11, 3, 5, 30, tzinfo=UTC),
    datetime(2024, 11, 3, 6, 30, 0, 123_456, tzinfo=UTC),
    datetime(2024, 3, 10, 7, 30, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
]
PARTITION_VALUES: dict[str, pa.Array] = {
    "string": pa.array(["a", "ü/é", "a b", "a%20b", "=", "NULL", " ", "x" * 100, "日本", "\U0001f6eb"]),
    "long": pa.array([0, -(2**63), 2**63 - 1], pa.int64()),
    "integer": pa.array([0, -(2**31), 2**31 - 1], pa.int32()),
    "short": pa.array([0, -(2**15), 2**15 - 1], pa.int16()),
    "byte": pa.array([0, -128, 127], pa.int8()),
    "float": pa.array([0.5, -0.0, float("nan"), float("inf"), float("-inf"), 1e-45, 3.4e38], pa.float32()),
    "double": pa.array([0.1, -0.0, float("nan"), float("inf"), float("-inf"), 5e-30, 1.7e30], pa.float64()),
    "boolean": pa.array([True, False]),
    "decimal": pa.array(
        list(map(Decimal, ["1.10", "-99999999.99", "0.01", "-0.01", "-0.5", "0.5", "-1", "0"])),
        pa.decimal128(10, 2),
    ),
    "wide_decimal": pa.array([Decimal("9" * 38), Decimal("-1")], pa.decimal128(38, 0)),
    "fraction": pa.array(
        [Decimal("-0." + "9" * 38), Decimal("-1E-38"), Decimal("1E-38")], pa.decimal128(38, 38)
    ),
    "date": pa.array([date(1, 1, 1), date(1582, 10, 10), date(1970, 1, 1), date(9999, 12, 31)]),
    "timestamp": pa.array(INSTANTS, pa.timestamp("us", "UTC")),
    "binary": pa.array([b"abc", b"a b"]),
}


def _struct_of(values: list[dict[str, object] | None]) -> pa.Array:
    return pa.array(values, pa.struct([("x", pa.int32()), ("y", pa.string())]))


def every_type() -> pa.Table:
    """Returns a column of each type in data files, six rows, each column with a null."""
    texts = ["a", "", "b" * 40, "ü" * 40, "\U0001f6eb" * 40, None]
    columns = {
        "id": pa.array(range(6), pa.int64()),
        "string": pa.array(texts),
        "byte": pa.array([0, 1, -128, 127, 5, None], pa.int8()),
        "short": pa.array([0, 1, -(2**15), 2**15 - 1, 5, None], pa.int16()),
        "integer": pa.array([0, 1, -(2**31), 2**31 - 1, 5, None], pa.int32()),
        "long": pa.array([0, 1, -(2**63), 2**63 - 1, 5, None], pa.int64()),
        "float": pa.array([0.5, -0.0, float("nan"), float("inf"), float("-inf"), None], pa.float32()),
        "double": pa.array([0.1, -0.0, float("nan"), float("inf"), float("-inf"), None], pa.float64()),
        "boolean": pa.array([True, False, True, False, True, None]),
        "binary": pa.array([b"", b"\xff\x00", b"a", b"b" * 40, b"c", None]),
        "decimal": pa.array(
            [*map(Decimal, ["1.10", "-99999999.99", "0", "0.01", "2"]), None], pa.decimal128(10, 2)
        ),
        "wide_decimal": pa.array(
            [*map(Decimal, ["9" * 20, "-1", "0", "0." + "0" * 17 + "1", "2"]), None], pa.decimal128(38, 18)
        ),
        "date": pa.array(
            [date(1, 1, 1), date(1582, 10, 10), date(1970, 1, 1), date(9999, 12, 31), date(2026, 1, 1), None]
        ),
        "timestamp": pa.array([*INSTANTS[:5], None], pa.timestamp("us", "UTC")),
        "struct": _struct_of(
            [{"x": 1, "y": "a"}, {"x": None, "y": None}, {"x": 2, "y": None}, None, {"x": 3, "y": "b"}, None]
        ),
        "array": pa.array([[1, 2], [], [None], None, [3], [4]], pa.list_(pa.int64())),
        "map": pa.array(
            [[("a", 1)], [], [("b", None), ("c", 3)], None, [("d", 4)], [("e", 5)]],
            pa.map_(pa.string(), pa.int64()),
        ),
        "structs": pa.array(
            [[{"x": 1}], [], [None], None, [{"x": None}], [{"x": 2}]],
            pa.list_(pa.struct([("x", pa.int32())])),
        ),
    }
    return pa.table(columns)
