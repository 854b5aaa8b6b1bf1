"""A table of values that engines treat differently: NaN, signed zeros, NULL, times, decimals, strings."""

from __future__ import annotations

import math
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa

import deltaic

UTC = timezone.utc
SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("p", pa.int32()),
        ("tiny", pa.int8()),
        ("i", pa.int64()),
        ("x", pa.float64()),
        ("f", pa.float32()),
        ("s", pa.string()),
        ("b", pa.binary()),
        ("d", pa.date32()),
        ("t", pa.timestamp("us", "UTC")),
        ("n", pa.timestamp("us")),
        ("m", pa.decimal128(10, 2)),
        ("flag", pa.bool_()),
        ("r", pa.struct([("a", pa.int32()), ("b.c", pa.string())])),
        ("l", pa.list_(pa.field("element", pa.int32()))),
    ]
)
# 0.1 rounded to a float, which is a different number as a double.
NEAR_A_TENTH: float = pa.scalar(0.1, pa.float32()).as_py()
VALUES: dict[str, list[Any]] = {
    "p": [None, 1, 2, 3],
    "tiny": [None, -128, -1, 0, 1, 127],
    "i": [None, -5, 0, 7, 2**53, 2**53 + 1, -(2**63), 2**63 - 1],
    "x": [None, math.nan, -math.inf, math.inf, -0.0, 0.0, 1.5, -2.25, 5e-324, 0.1],
    "f": [None, math.nan, -math.inf, math.inf, -0.0, 0.0, NEAR_A_TENTH, 1.5, 2.0**24],
    "s": [None, "", "a", "ab", "a%", "b_c", "it's", "a\\b", "Straße", "x" * 40, "\U0010ffff", "\ue000"],
    "b": [None, b"", b"\x00", b"\xff\x00"],
    "d": [None, date(1, 1, 1), date(1969, 12, 31), date(2026, 11, 1), date(9999, 12, 31)],
    "t": [
        None,
        datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
        datetime(2026, 11, 1, 12, 0, 0, 999_999, tzinfo=UTC),
        datetime(2026, 11, 1, 12, 0, 1, tzinfo=UTC),
    ],
    "n": [None, datetime(1960, 1, 1, 0, 0, 0, 1), datetime(2026, 11, 1), datetime(2026, 11, 1, 12)],  # noqa: DTZ001
    "m": [None, Decimal("-0.01"), Decimal("0.00"), Decimal("1.25"), Decimal("99999999.99")],
    "flag": [None, True, False],
    "a": [None, -1, 4],
    "b.c": [None, "x", "ü"],
    "l": [None, [], [1, None]],
}


def edge_rows() -> pa.Table:
    """Rows that combine the values of the columns in varying ways; some structs are NULL."""
    rows: list[dict[str, Any]] = []
    for number in range(144):
        row: dict[str, Any] = {
            name: values[(number * (2 * place + 1) + number // len(values)) % len(values)]
            for place, (name, values) in enumerate(VALUES.items())
        }
        inner = {"a": row.pop("a"), "b.c": row.pop("b.c")}
        rows.append({"id": number, **row, "r": inner if number % 5 else None})
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def edge_table(root: Path) -> deltaic.Table:
    """Writes the rows in two commits, partitioned by p: files with narrow and with wide statistics."""
    table = deltaic.Table.create(root, SCHEMA, partition_by=["p"])
    rows = edge_rows().sort_by("i")
    for start in range(0, rows.num_rows, 72):
        table.append(rows.slice(start, 72))
    return table
