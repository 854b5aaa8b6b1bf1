"""The accepted sections on variants, `variantType` and `variantShredding`, as far as they bind readers."""

from __future__ import annotations

import math
import uuid
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from .handmade_variants import EXTENSION, IN_A_FILE, STORED, V, column, nested, nested_rows, table_of, texts
from .naive_variant import (
    Written,
    decimal4,
    decimal8,
    float32,
    int8,
    int16,
    int32,
    nanos,
    time,
    to_json,
    variant,
)

UTC = timezone.utc
PRIMITIVES: dict[str, tuple[Any, str]] = {
    "null": (None, "null"),
    "true": (True, "true"),
    "false": (False, "false"),
    "int8": (int8(-128), "-128"),
    "int16": (int16(-32768), "-32768"),
    "int32": (int32(2**31 - 1), "2147483647"),
    "int64": (-(2**63), "-9223372036854775808"),
    "double": (0.1, "0.1"),
    "double without a part": (100.0, "100.0"),
    "negative zero": (-0.0, "-0.0"),
    "small double": (0.00012, "1.2E-4"),
    "just not small": (0.001, "0.001"),
    "large double": (1e7, "1.0E7"),
    "just not large": (9999999.5, "9999999.5"),
    "largest double": (1.7976931348623157e308, "1.7976931348623157E308"),
    "least double": (5e-324, "4.9E-324"),
    "NaN": (math.nan, '"NaN"'),
    "infinity": (-math.inf, '"-Infinity"'),
    "float": (float32(0.1), "0.1"),
    "large float": (float32(3.4028234663852886e38), "3.4028235E38"),
    "decimal4": (decimal4(-5, 3), "-0.005"),
    "decimal4 with zeros": (decimal4(12500, 3), "12.5"),
    "decimal8": (decimal8(10**17, 17), "1"),
    "decimal16": (Decimal("-12345678901234567890.5"), "-12345678901234567890.5"),
    "date": (date(2020, 2, 29), '"2020-02-29"'),
    "timestamp": (datetime(2020, 2, 2, 1, 2, 3, 456789, UTC), '"2020-02-02 01:02:03.456789+00:00"'),
    "timestamp of tenths": (datetime(1969, 12, 31, 23, 59, 59, 500000, UTC), '"1969-12-31 23:59:59.5+00:00"'),
    "timestamp_ntz": (datetime(1, 1, 1), '"0001-01-01 00:00:00"'),  # noqa: DTZ001
    "nanoseconds": (nanos(1_000_000_001, zone=True), '"1970-01-01 00:00:01.000000001+00:00"'),
    "nanoseconds_ntz": (nanos(-1, zone=False), '"1969-12-31 23:59:59.999999999"'),
    "time": (time(3_600_000_001), '"01:00:00.000001"'),
    "binary": (b"\x00\xff", '"AP8="'),
    "text": ("ключ \U0001f600", '"ключ \U0001f600"'),
    "text with escapes": ('"\\/\b\f\n\r\t\x01\x1f\x7f', '"\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001F\x7f"'),
    "long text": ("x" * 300, '"' + "x" * 300 + '"'),
    "uuid": (uuid.UUID(int=0x67E5504410B1426F9247BB680E5FE0C8), '"67e55044-10b1-426f-9247-bb680e5fe0c8"'),
}
NESTED: dict[str, tuple[Any, str]] = {
    "empty object": ({}, "{}"),
    "empty array": ([], "[]"),
    "object": ({"b": 1, "a": None, "ключ": [True]}, '{"a":null,"b":1,"ключ":[true]}'),
    "large array": (list(range(300)), "[" + ",".join(map(str, range(300))) + "]"),
    "objects in arrays": ([{"a": {"b": [[]]}}, 2], '[{"a":{"b":[[]]}},2]'),
}


@pytest.mark.parametrize("name", [*PRIMITIVES, *NESTED])
def test_each_value_is_read_in_both_forms(tmp_path: Path, name: str) -> None:
    """protocol: beyond:variant.1, beyond:variant.2."""
    value, text = {**PRIMITIVES, **NESTED}[name]
    written = variant(value)
    table = table_of(tmp_path, V, column([written, None]))
    assert table.snapshot().scan().to_arrow()["v"].to_pylist() == [written, None]
    assert texts(table) == [text, None]


@pytest.mark.parametrize("features", [["variantType"], ["variantType-preview"]], ids=str)
@pytest.mark.parametrize("kind", [IN_A_FILE, pa.struct(list(IN_A_FILE)[::-1])], ids=["value first", "last"])
def test_the_parts_are_found_by_name(tmp_path: Path, kind: pa.DataType, features: list[str]) -> None:
    """protocol: beyond:variant.1, beyond:variant.2."""
    table = table_of(tmp_path, V, column([variant({"a": 1})], kind), features=features)
    assert texts(table) == ['{"a":1}']


def test_variants_lie_in_structs_arrays_and_maps_and_a_missing_column_is_null(tmp_path: Path) -> None:
    """NULL and a variant's own null are different values.

    protocol: beyond:variant.1
    """
    scan = table_of(tmp_path, nested("variant"), nested_rows()).snapshot().scan(variant="json")
    assert scan.to_arrow().to_pylist() == [
        {
            "id": 0,
            "s": {"v": '{"a":[1]}', "n": 1},
            "l": ['{"a":[1]}', None, "null"],
            "m": [("x", '{"a":[1]}'), ("y", None)],
            "later": None,
        },
        {"id": 1, "s": {"v": None, "n": 2}, "l": [], "m": [], "later": None},
        {"id": 2, "s": {"v": "null", "n": 3}, "l": None, "m": None, "later": None},
        {"id": 3, "s": None, "l": ["null"], "m": [("z", "null")], "later": None},
    ]


def test_the_arrow_schema_names_the_extension_type_wherever_a_variant_lies(tmp_path: Path) -> None:
    table = table_of(tmp_path, nested("variant"), nested_rows())
    scan = table.snapshot().scan()
    rows = scan.to_arrow()
    assert rows.schema.equals(scan.schema.to_arrow(), check_metadata=True)
    assert rows.schema.equals(next(iter(scan)).schema, check_metadata=True)
    found = rows.schema
    fields = [
        found.field("later"),
        found.field("s").type.field("v"),
        found.field("l").type.value_field,
        found.field("m").type.item_field,
    ]
    assert [one.type for one in fields] == [STORED] * 4
    assert [one.metadata for one in fields] == [EXTENSION] * 4
    assert not found.field("id").metadata
    assert not found.field("s").metadata
    assert rows["s"].to_pylist()[0]["v"] == variant({"a": [1]})
    as_text = table.snapshot().scan(variant="json")
    assert as_text.schema.to_arrow() == as_text.to_arrow().schema
    assert as_text.to_arrow().schema.field("l").type.value_type == pa.string()
    assert not as_text.to_arrow().schema.field("later").metadata
    assert table.snapshot().schema.to_arrow().field("later").metadata == EXTENSION


def test_the_oracle_reads_what_it_writes() -> None:
    for name, (value, text) in {**PRIMITIVES, **NESTED}.items():
        row = variant(value)
        assert to_json(row["metadata"], row["value"]) == text, name
    assert Written(0, b"") != Written(1, b"")
