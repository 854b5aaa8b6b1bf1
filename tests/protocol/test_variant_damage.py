"""Variants with invalid bytes or invalid typed columns."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic

from .handmade_variants import (
    IN_A_FILE,
    NAMES,
    SHREDDED,
    V,
    column,
    nested,
    nested_rows,
    part,
    shredded,
    table_of,
    texts,
)
from .naive_variant import encode, variant
from .naive_variant import metadata as dictionary


def objects(depth: int) -> dict[str, bytes]:
    value = encode(None)
    for _ in range(depth):
        value = bytes([3, 1, 0, len(value)]) + value if len(value) < 256 else wide(value)
    return {"metadata": dictionary(), "value": value}


def wide(value: bytes) -> bytes:
    return bytes([3 | 3 << 2, 1]) + struct.pack("<II", 0, len(value)) + value


GOOD = encode({"a": 1, "b": [2]}, ["a", "b"])
BAD: dict[str, tuple[bytes, bytes]] = {
    "no metadata": (b"", GOOD),
    "another version": (b"\x02" + NAMES[1:], GOOD),
    "names cut off": (NAMES[:-1], GOOD),
    "more names than bytes": (NAMES[:1] + b"\xff\xff\xff\x7f" + NAMES[5:], GOOD),
    "names in no order": (b"\x01\x02\x00\x02\x01ab", GOOD),
    "names that are not text": (b"\x01\x01\x00\x01\xff", encode(1)),
    "no value": (NAMES, b""),
    "a value cut off": (NAMES, GOOD[:-1]),
    "an unknown primitive": (NAMES, bytes([33 << 2])),
    "a name that is not there": (dictionary(["a"]), GOOD),
    "a length without bytes": (NAMES, bytes([16 << 2]) + b"\xff\xff\xff\xffx"),
    "text that is not text": (NAMES, bytes([1 << 2 | 1, 0xFF])),
    "an offset out of bounds": (NAMES, b"\x03\x01\x00\xff\x00"),
    "fields out of order": (NAMES, b"\x02\x02\x01\x00\x00\x01\x02\x00\x00"),
    "a decimal of 256 places": (NAMES, bytes([8 << 2, 255]) + b"\x01\x00\x00\x00"),
    "too deep": (objects(200)["metadata"], objects(200)["value"]),
    "deeper than a stack": (objects(5000)["metadata"], objects(5000)["value"]),
}


@pytest.mark.parametrize("form", ["arrow", "json"])
@pytest.mark.parametrize("name", BAD)
def test_bytes_that_make_no_sense_are_corrupt_data(tmp_path: Path, name: str, form: Any) -> None:
    words, value = BAD[name]
    table = table_of(tmp_path, V, column([variant(1), {"metadata": words, "value": value}]))
    with pytest.raises(deltaic.CorruptData, match="the variant v cannot be read") as raised:
        table.snapshot().scan(variant=form).to_arrow()
    assert raised.value.context == {"path": "0.parquet", "version": 0, "field": "v"}
    assert raised.value.hint


def test_damage_at_any_byte_is_an_error_or_another_value(tmp_path: Path) -> None:
    whole = variant({"a": [1, "x", 0.5, {"b": None}], "b": {"a": True, "b": b"bytes"}})
    rows: list[dict[str, bytes]] = []
    for name, body in whole.items():
        for at in range(len(body)):
            rows += [{**whole, name: body[:at] + bytes([odd]) + body[at + 1 :]} for odd in (0, 1, 0x7F, 0xFF)]
            rows.append({**whole, name: body[:at]})
    fates = [is_read(table_of(tmp_path / str(at), V, column([row]))) for at, row in enumerate(rows)]
    assert {True, False} == set(fates)


def is_read(table: deltaic.Table) -> bool:
    try:
        texts(table)
    except deltaic.CorruptData as error:
        assert error.context["field"] == "v"  # noqa: PT017 - reading may succeed, too
        return False
    return True


TWO = [{"metadata": NAMES, "value": encode(1), "typed_value": 2}]
BAD_SHREDDING: dict[str, tuple[list[Any], pa.DataType, str]] = {
    "two values": (TWO, shredded(pa.field("typed_value", pa.int64())), "two values"),
    "a field twice": (
        [{"metadata": NAMES, "value": GOOD, "typed_value": {"a": {"value": None, "typed_value": 1}}}],
        shredded(pa.field("typed_value", pa.struct([("a", part(pa.int64()))]))),
        '"a"',
    ),
    "a rest that is not an object": (
        [{"metadata": NAMES, "value": encode(1), "typed_value": {"a": {"value": None, "typed_value": 1}}}],
        shredded(pa.field("typed_value", pa.struct([("a", part(pa.int64()))]))),
        "two values",
    ),
    "a name that is not there": (
        [{"metadata": dictionary(), "value": None, "typed_value": {"a": {"value": None, "typed_value": 1}}}],
        shredded(pa.field("typed_value", pa.struct([("a", part(pa.int64()))]))),
        "'a' not found",
    ),
    "a type that is none": (
        [{"metadata": NAMES, "value": None, "typed_value": 1}],
        shredded(pa.field("typed_value", pa.uint32())),
        "UInt32",
    ),
    "milliseconds": (
        [{"metadata": NAMES, "value": None, "typed_value": 1}],
        shredded(pa.field("typed_value", pa.timestamp("ms"))),
        "not shredded into",
    ),
    "a field that is not a group": (
        [{"metadata": NAMES, "value": None, "typed_value": {"a": 1}}],
        shredded(pa.field("typed_value", pa.struct([("a", pa.int64())]))),
        "not a group",
    ),
    "elements that are not groups": (
        [{"metadata": NAMES, "value": None, "typed_value": [1]}],
        shredded(pa.field("typed_value", pa.list_(pa.int64()))),
        "not a group",
    ),
    "bad bytes in a field": (
        [{"metadata": NAMES, "value": None, "typed_value": {"a": {"value": b"\xff", "typed_value": None}}}],
        shredded(pa.field("typed_value", pa.struct([("a", part(pa.int64()))]))),
        "v",
    ),
    "no metadata": ([{"value": GOOD}], pa.struct([("value", pa.binary())]), "no metadata"),
    "a row without metadata": (
        [{"metadata": None, "value": GOOD}],
        pa.struct([("metadata", pa.binary()), ("value", pa.binary())]),
        "no metadata",
    ),
    "no value": ([{"metadata": NAMES}], pa.struct([("metadata", pa.binary())]), "no value"),
    "text for bytes": (
        [{"metadata": "a", "value": GOOD}],
        pa.struct([("metadata", pa.string()), ("value", pa.binary())]),
        "not bytes",
    ),
    "no group at all": ([1], pa.int64(), "bigint"),
}


@pytest.mark.parametrize("name", BAD_SHREDDING)
def test_shredding_that_makes_no_sense_is_corrupt_data(tmp_path: Path, name: str) -> None:
    rows, kind, says = BAD_SHREDDING[name]
    table = table_of(tmp_path, V, column(rows, kind), features=SHREDDED)
    with pytest.raises(deltaic.CorruptData, match="the variant v cannot be read") as raised:
        table.snapshot().scan().to_arrow()
    assert says in str(raised.value)
    assert raised.value.context == {"path": "0.parquet", "version": 0, "field": "v"}


def test_the_field_of_a_damaged_variant_is_named_all_the_way_down(tmp_path: Path) -> None:
    rows = nested_rows()
    bad = pa.array([[{"metadata": NAMES, "value": b"\xff"}]] + [None] * 3, pa.list_(IN_A_FILE))
    table = table_of(tmp_path, nested("variant"), rows.set_column(2, "l", bad))
    with pytest.raises(deltaic.CorruptData) as raised:
        table.snapshot().scan().to_arrow()
    assert raised.value.context["field"] == "l.element"
    assert table.snapshot().scan(["s", "m"]).to_arrow().num_rows == 4
