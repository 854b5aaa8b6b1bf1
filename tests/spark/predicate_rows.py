"""Rows with the edge values of every primitive type, the same for deltaic and for Spark."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pyarrow as pa

_SECOND = 1_000_000
_DAY = 86_400 * _SECOND

# Dates are days since the epoch, times are microseconds: Python's own types end with the year 9999.
VALUES: dict[str, tuple[str, pa.DataType, list[Any]]] = {
    "t8": ("TINYINT", pa.int8(), [-128, -1, 0, 1, 5, 127]),
    "i16": ("SMALLINT", pa.int16(), [-32768, -1, 0, 1, 5, 32767]),
    "i32": ("INT", pa.int32(), [-(2**31), -1, 0, 1, 5, 2**31 - 1]),
    "i64": ("BIGINT", pa.int64(), [-(2**63), -1, 0, 1, 5, 2**53, 2**53 + 1, 2**63 - 1]),
    "f32": (
        "FLOAT",
        pa.float32(),
        [math.nan, -math.inf, math.inf, -0.0, 0.0, 0.1, 1.5, 5.0, 16777216.0, 3.4028234663852886e38],
    ),
    "f64": (
        "DOUBLE",
        pa.float64(),
        [math.nan, -math.inf, math.inf, -0.0, 0.0, 0.1, 1.5, 5.0, 5e-324, 9007199254740993.0, 1e300],
    ),
    "dec": (
        "DECIMAL(5,2)",
        pa.decimal128(5, 2),
        [
            Decimal("-999.99"),
            Decimal("-0.01"),
            Decimal("0.00"),
            Decimal("1.50"),
            Decimal("5.00"),
            Decimal("999.99"),
        ],
    ),
    "big": (
        "DECIMAL(38,10)",
        pa.decimal128(38, 10),
        [
            Decimal("-9999999999999999999999999999.9999999999"),
            Decimal("0E-10"),
            Decimal("0.1000000000"),
            Decimal("1.5000000000"),
            Decimal("9007199254740993.0000000001"),
        ],
    ),
    "txt": (
        "STRING",
        pa.string(),
        [
            "",
            "a",
            "A",
            "ab",
            "abc",
            "a%b",
            "a_b",
            "a\\b",
            "it's",
            "é",
            "\U0001f600",
            "\uffff",
            "5",
            " 5 ",
            "x\ny",
            "true",
        ],
    ),
    "bin": ("BINARY", pa.binary(), [b"", b"\x00", b"a", b"ab", b"\xff\x00", "é".encode()]),
    "day": ("DATE", pa.date32(), [-719_162, -719_163, -1, 0, 1, 20_454, 2_932_896, 2_932_897]),
    "ts": (
        "TIMESTAMP",
        pa.timestamp("us", "UTC"),
        [
            -62_135_596_800 * _SECOND,
            -1,
            0,
            1,
            _DAY,
            20_454 * _DAY,
            20_454 * _DAY + 43_200 * _SECOND + 500_000,
        ],
    ),
    "ntz": (
        "TIMESTAMP_NTZ",
        pa.timestamp("us"),
        [
            -62_135_596_800 * _SECOND,
            -1,
            0,
            1,
            _DAY,
            20_454 * _DAY,
            20_454 * _DAY + 43_200 * _SECOND + 500_000,
        ],
    ),
    "flag": ("BOOLEAN", pa.bool_(), [True, False]),
}
NEST = pa.struct([("n", pa.int32()), ("s", pa.string())])


def _rows() -> list[dict[str, Any]]:
    """Each value at least once, including NULL, in varying combinations."""
    rows: list[dict[str, Any]] = []
    for number in range(24):
        row: dict[str, Any] = {"id": number}
        for place, (name, (_, _, values)) in enumerate(VALUES.items()):
            at = (
                (number * (1 + place % 3) + place + number // 8) % (len(values) + 1)
                if number >= 17
                else number
            )
            row[name] = values[at] if at < len(values) else None
        inner = {"n": [None, 1, 5][number % 3], "s": ["a", None, "é"][number % 3 - number // 12]}
        row["nest"] = inner if number % 4 else None
        rows.append(row)
    return rows


ROWS = _rows()


def as_arrow() -> pa.Table:
    """Returns the rows for deltaic."""
    columns: dict[str, pa.Array] = {"id": pa.array([row["id"] for row in ROWS], pa.int64())}
    for name, (_, kind, _) in VALUES.items():
        values = [row[name] for row in ROWS]
        if pa.types.is_date32(kind):
            columns[name] = pa.array(values, pa.int32()).cast(kind)
        elif pa.types.is_timestamp(kind):
            columns[name] = pa.array(values, pa.int64()).cast(kind)
        else:
            columns[name] = pa.array(values, kind)
    columns["nest"] = pa.array([row["nest"] for row in ROWS], NEST)
    return pa.table(columns)


def _sql(kind: str, value: Any) -> str:
    """Returns an SQL expression for a value, from integers, bytes and plain text."""
    if value is None:
        return f"CAST(NULL AS {kind})"
    match kind:
        case "STRING":
            return f"CAST(X'{value.encode().hex()}' AS STRING)"
        case "BINARY":
            return f"X'{value.hex()}'"
        case "DATE":
            return f"date_from_unix_date({value})"
        case "TIMESTAMP":
            return f"timestamp_micros({value})"
        case "TIMESTAMP_NTZ":
            return f"CAST(timestamp_micros({value}) AS TIMESTAMP_NTZ)"
        case _:
            return f"CAST('{value}' AS {kind})"


def as_sql() -> str:
    """Returns the rows for Spark: an inline table, which it evaluates without a job."""
    lines: list[str] = []
    for row in ROWS:
        cells = [f"{row['id']}L", *(_sql(kind, row[name]) for name, (kind, _, _) in VALUES.items())]
        inner = row["nest"]
        if inner is None:
            cells.append("CAST(NULL AS STRUCT<n: INT, s: STRING>)")
        else:
            cells.append(f"named_struct('n', {_sql('INT', inner['n'])}, 's', {_sql('STRING', inner['s'])})")
        lines.append(f"({', '.join(cells)})")
    return f"SELECT * FROM VALUES {', '.join(lines)} AS t(id, {', '.join(VALUES)}, nest)"  # noqa: S608
