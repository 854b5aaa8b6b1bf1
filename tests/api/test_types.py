"""Every type: written to a table and read back with the expected Arrow type."""

from __future__ import annotations

import math
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import deltaic

ELEMENT = pa.field("element", pa.string())
TYPES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "boolean": (pa.bool_(), [True, False]),
    "byte": (pa.int8(), [-128, 127]),
    "short": (pa.int16(), [-(2**15), 2**15 - 1]),
    "integer": (pa.int32(), [-(2**31), 2**31 - 1]),
    "long": (pa.int64(), [-(2**63), 2**63 - 1]),
    "float": (pa.float32(), [1.5, math.inf, -0.0]),
    "double": (pa.float64(), [5e-324, -math.inf, 1.7976931348623157e308]),
    "string": (pa.string(), ["", "Straße 🚋", "a\0b\n", "x" * 100_000]),
    "binary": (pa.binary(), [b"", b"\x00\xff", bytes(range(256))]),
    "date": (pa.date32(), [date(1, 1, 1), date(1969, 12, 31), date(9999, 12, 31)]),
    "timestamp": (
        pa.timestamp("us", "UTC"),
        [datetime(1900, 1, 1, tzinfo=timezone.utc), datetime(2026, 11, 1, 1, 2, 3, 4, tzinfo=timezone.utc)],
    ),
    "timestamp_ntz": (pa.timestamp("us"), [datetime(1, 1, 1), datetime(2026, 11, 1, 1, 2, 3, 4)]),  # noqa: DTZ001
    "decimal(38,10)": (pa.decimal128(38, 10), [Decimal("-9999999999999999999999999999.9999999999")]),
    "decimal(9,2)": (pa.decimal128(9, 2), [Decimal("1234567.89"), Decimal("0.00")]),
    "decimal(18,0)": (pa.decimal128(18, 0), [Decimal("999999999999999999")]),
    "array": (pa.list_(ELEMENT), [[], ["a", None], ["b"]]),
    "array without nulls": (pa.list_(pa.field("element", pa.int32(), nullable=False)), [[], [1, 2]]),
    "map": (pa.map_(pa.string(), pa.float64()), [[], [("a", 1.5), ("b", None)]]),
    "struct": (
        pa.struct([pa.field("a", pa.int32()), pa.field("b", pa.string(), nullable=False)]),
        [{"a": None, "b": "x"}, {"a": 1, "b": ""}],
    ),
    "nested": (
        pa.list_(pa.field("element", pa.struct([("m", pa.map_(pa.int32(), pa.list_(ELEMENT)))]))),
        [[{"m": [(1, ["x", None]), (2, None)]}, None], [{"m": None}]],
    ),
}


def round_trip(root: Path, data: pa.Table) -> pa.Table:
    table = deltaic.Table.create(root, data.schema)
    table.append(data)
    return table.snapshot().scan().to_arrow()


@pytest.mark.parametrize("name", TYPES)
def test_a_type_comes_back_as_it_went_in(root: Path, name: str) -> None:
    arrow, values = TYPES[name]
    schema = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("value", arrow)])
    values = [*values, None]
    data = pa.table({"id": range(len(values)), "value": pa.array(values, arrow)}, schema=schema)
    back = round_trip(root, data).sort_by("id")
    assert back.schema == schema
    assert str(back.schema) == str(schema)
    assert back.column("value").to_pylist() == values
    assert all(field.metadata is None for field in back.schema)


def test_nan_comes_back_as_nan(root: Path) -> None:
    data = pa.table({"x": [math.nan, None, 1.0]})
    values = round_trip(root, data).column("x").to_pylist()
    assert sum(value is None for value in values) == 1
    assert sum(value is not None and math.isnan(value) for value in values) == 1


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (pa.large_string(), pa.string()),
        (pa.string_view(), pa.string()),
        (pa.dictionary(pa.int8(), pa.string()), pa.string()),
        (pa.large_binary(), pa.binary()),
        (pa.binary_view(), pa.binary()),
        (pa.large_list(pa.int32()), pa.list_(pa.field("element", pa.int32()))),
        (pa.list_(pa.int32(), 2), pa.list_(pa.field("element", pa.int32()))),
        (pa.timestamp("ms", "Europe/Rome"), pa.timestamp("us", "UTC")),
        (pa.timestamp("s", "UTC"), pa.timestamp("us", "UTC")),
        (pa.date64(), pa.date32()),
    ],
    ids=str,
)
def test_other_layouts_become_the_plain_one(root: Path, given: pa.DataType, kept: pa.DataType) -> None:
    value: Any = {
        "string": "x",
        "binary": b"x",
    }.get(str(kept), [1, 2] if pa.types.is_list(kept) else datetime(2026, 11, 1, tzinfo=timezone.utc))
    if pa.types.is_date(kept):
        value = date(2026, 11, 1)
    data = pa.table({"value": pa.array([value, None], given)})
    back = round_trip(root, data)
    assert back.schema.field("value").type == kept
    assert back.column("value").to_pylist() == [value, None]


def test_polars_text_comes_back_as_plain_utf8(root: Path) -> None:
    frame = pl.DataFrame({"s": ["a", None], "l": [["x"], []]})
    table = deltaic.Table.create(root, frame.schema)
    table.append(frame)
    schema = table.snapshot().scan().to_arrow().schema
    assert schema.field("s").type == pa.string()
    assert schema.field("l").type == pa.list_(ELEMENT)
    assert table.snapshot().scan().to_polars().equals(frame)


PARTITION_TYPES = [name for name, (arrow, _) in TYPES.items() if not pa.types.is_nested(arrow)]


@pytest.mark.parametrize("name", PARTITION_TYPES)
def test_a_partition_value_comes_back_as_it_went_in(root: Path, name: str) -> None:
    arrow, values = TYPES[name]
    # Empty strings and binaries read as NULL by the protocol, and folder names have a length limit.
    values = [value for value in values if value not in ("", b"") and len(str(value)) < 100]
    if name == "binary":
        values = [b"abc"]  # partition values are serialized as UTF-8
    schema = pa.schema([pa.field("id", pa.int64()), pa.field("value", arrow)])
    values = [*values, None]
    data = pa.table({"id": range(len(values)), "value": pa.array(values, arrow)}, schema=schema)
    table = deltaic.Table.create(root, schema, partition_by=["value"])
    table.append(data)
    back = table.snapshot().scan().to_arrow().sort_by("id")
    assert back.schema == schema
    assert back.column("value").to_pylist() == values


def test_a_scan_can_be_requested_large_text(numbers: deltaic.Table) -> None:
    wanted = pa.schema([("id", pa.int64()), ("name", pa.large_string())])
    scan = numbers.snapshot().scan()
    reader = pa.RecordBatchReader.from_stream(scan, schema=wanted)
    assert reader.read_all().schema == wanted
