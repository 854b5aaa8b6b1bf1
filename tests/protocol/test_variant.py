"""The accepted sections on variants, `variantType` and `variantShredding`, as a reader must keep them."""

from __future__ import annotations

import json
import math
import pickle
import struct
import uuid
from collections.abc import Callable, Sequence
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic
from deltaic.cli import main

from .handmade_log import Action, HandmadeTable, field, metadata, protocol, remove, schema
from .naive_variant import (
    Written,
    decimal4,
    decimal8,
    encode,
    float32,
    int8,
    int16,
    int32,
    nanos,
    time,
    to_json,
    variant,
)
from .naive_variant import metadata as dictionary

PLAIN = ["variantType"]
SHREDDED = ["variantType", "variantShredding"]
STORED = pa.struct([pa.field("metadata", pa.binary(), nullable=False), pa.field("value", pa.binary())])
EXTENSION = {b"ARROW:extension:name": b"arrow.parquet.variant", b"ARROW:extension:metadata": b""}
IN_A_FILE = pa.struct(
    [pa.field("value", pa.binary(), nullable=False), pa.field("metadata", pa.binary(), nullable=False)]
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


def table_of(
    root: Path,
    text: str,
    *files: pa.Table,
    features: Sequence[str] = PLAIN,
    configuration: dict[str, str] | None = None,
    write: Callable[[pa.Table, Path], None] = pq.write_table,
) -> deltaic.Table:
    table = HandmadeTable(root / "t")
    adds: list[Action] = []
    for index, rows in enumerate(files):
        add = table.data(f"{index}.parquet", rows)
        write(rows, table.root / f"{index}.parquet")
        add["add"]["size"] = (table.root / f"{index}.parquet").stat().st_size
        adds.append(add)
    table.commit(
        protocol(3, 7, features, features),
        metadata(text, configuration=configuration or {}),
        *adds,
    )
    return deltaic.Table(table.root)


def column(values: Sequence[Any], kind: pa.DataType = IN_A_FILE) -> pa.Table:
    return pa.table({"v": pa.array(values, kind)})


V = schema(field("v", "variant"))


def texts(table: deltaic.Table) -> list[str | None]:
    """The variants as JSON, once the bytes of the other form have been proved to say the same."""
    snapshot = table.snapshot()
    found: list[str | None] = snapshot.scan(["v"], variant="json").to_arrow()["v"].to_pylist()
    rows = snapshot.scan(["v"]).to_arrow()["v"].to_pylist()
    assert found == [None if row is None else to_json(row["metadata"], row["value"]) for row in rows]
    return found


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


def nested(of: Any) -> str:
    return schema(
        field("id"),
        field("s", {"type": "struct", "fields": [field("v", of), field("n", "integer")]}),
        field("l", {"type": "array", "elementType": of, "containsNull": True}),
        field("m", {"type": "map", "keyType": "string", "valueType": of, "valueContainsNull": True}),
        field("later", of),
    )


def nested_rows() -> pa.Table:
    a, null = variant({"a": [1]}), variant(None)
    inner = pa.struct([("v", IN_A_FILE), ("n", pa.int32())])
    return pa.table(
        {
            "id": [0, 1, 2, 3],
            "s": pa.array([{"v": a, "n": 1}, {"v": None, "n": 2}, {"v": null, "n": 3}, None], inner),
            "l": pa.array([[a, None, null], [], None, [null]], pa.list_(IN_A_FILE)),
            "m": pa.array(
                [[("x", a), ("y", None)], [], None, [("z", null)]], pa.map_(pa.string(), IN_A_FILE)
            ),
        }
    )


def test_variants_lie_in_structs_arrays_and_maps_and_a_missing_column_is_null(tmp_path: Path) -> None:
    """NULL and a variant's own null stay two things.

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


def shredded(*parts: pa.Field, null_value: bool = True) -> pa.DataType:
    return pa.struct(
        [
            pa.field("metadata", pa.binary(), nullable=False),
            pa.field("value", pa.binary(), nullable=null_value),
            *parts,
        ]
    )


def part(kind: pa.DataType) -> pa.DataType:
    """A field of an object, or an element: bytes, or a value of a type."""
    return pa.struct([("value", pa.binary()), ("typed_value", kind)])


MOMENT = datetime(2020, 2, 2, 1, 2, 3, 456789)  # noqa: DTZ001
LEAVES: dict[str, tuple[pa.DataType, Any, str, int]] = {
    "boolean": (pa.bool_(), True, "true", 1),
    "int8": (pa.int8(), -1, "-1", 3),
    "int16": (pa.int16(), -1, "-1", 4),
    "int32": (pa.int32(), -1, "-1", 5),
    "int64": (pa.int64(), -1, "-1", 6),
    "float": (pa.float32(), 1.5, "1.5", 14),
    "double": (pa.float64(), 1.5, "1.5", 7),
    "decimal4": (pa.decimal128(9, 2), Decimal("-1234567.80"), "-1234567.8", 8),
    "decimal8": (pa.decimal128(18, 2), Decimal("0.25"), "0.25", 9),
    "decimal16": (pa.decimal128(38, 10), Decimal("1.5"), "1.5", 10),
    "date": (pa.date32(), date(2020, 2, 29), '"2020-02-29"', 11),
    "timestamp": (pa.timestamp("us", "UTC"), MOMENT, '"2020-02-02 01:02:03.456789+00:00"', 12),
    "timestamp_ntz": (pa.timestamp("us"), MOMENT, '"2020-02-02 01:02:03.456789"', 13),
    "nanoseconds": (pa.timestamp("ns", "UTC"), 2000, '"1970-01-01 00:00:00.000002+00:00"', 18),
    "nanoseconds_ntz": (pa.timestamp("ns"), 2001, '"1970-01-01 00:00:00.000002001"', 19),
    "time": (pa.time64("us"), 1_000_000, '"00:00:01"', 17),
    "binary": (pa.binary(), b"\x00\xff", '"AP8="', 15),
    "long text": (pa.string(), "x" * 64, '"' + "x" * 64 + '"', 16),
    "uuid": (pa.binary(16), b"\x01" * 16, '"01010101-0101-0101-0101-010101010101"', 20),
}


@pytest.mark.parametrize("name", LEAVES)
def test_each_type_that_variants_are_shredded_into(tmp_path: Path, name: str) -> None:
    """The value keeps its type: it is written back with the number that the type has.

    protocol: beyond:variant-shredding.1
    """
    kind, value, text, number = LEAVES[name]
    empty = dictionary()
    rows = [
        {"metadata": empty, "value": None, "typed_value": value},
        {"metadata": empty, "value": encode("other"), "typed_value": None},
        {"metadata": empty, "value": b"\x00", "typed_value": None},
        {"metadata": empty, "value": None, "typed_value": None},
        None,
    ]
    file = column(rows, shredded(pa.field("typed_value", kind)))
    table = table_of(tmp_path, V, file, features=SHREDDED)
    assert texts(table) == [text, '"other"', "null", "null", None]
    assert table.snapshot().scan().to_arrow()["v"][0].as_py()["value"][0] == number << 2


INNER = pa.struct([("d", part(pa.list_(pa.field("element", part(pa.int64()))))), ("e", part(pa.int64()))])
OBJECT = pa.struct(
    [("a", part(pa.int64())), ("c", part(INNER)), ("mix", pa.struct([("value", pa.binary())]))]
)


def shredded_objects() -> tuple[pa.Table, list[str | None]]:
    names = ["z", "a", "c", "d", "e", "mix", "extra"]
    words = dictionary(names)
    missing = {"value": None, "typed_value": None}
    one = {"value": None, "typed_value": 1}

    def row(value: Any, a: Any, c: Any, mix: Any) -> dict[str, Any]:
        rest = None if value is None else encode(value, names)
        typed = {"a": a, "c": c, "mix": {"value": None if mix is ... else encode(mix, names)}}
        return {"metadata": words, "value": rest, "typed_value": typed}

    listed = {"value": None, "typed_value": [one, missing, {"value": encode("x"), "typed_value": None}]}
    deep = {"value": encode({"extra": [{"z": None}]}, names), "typed_value": {"d": listed, "e": one}}
    shallow = {
        "value": None,
        "typed_value": {"d": {"value": encode({"z": 1}, names), **missing_typed()}, "e": missing},
    }
    rows: list[tuple[Any, str | None]] = [
        (row(None, one, missing, ...), '{"a":1}'),
        (row({"z": 1, "extra": {"z": 2}}, missing, missing, None), '{"extra":{"z":2},"mix":null,"z":1}'),
        (
            row(None, missing, deep, {"a": 3}),
            '{"c":{"d":[1,null,"x"],"e":1,"extra":[{"z":null}]},"mix":{"a":3}}',
        ),
        (
            row(None, {"value": encode("no"), "typed_value": None}, shallow, ...),
            '{"a":"no","c":{"d":{"z":1}}}',
        ),
        (row(None, missing, missing, ...), "{}"),
        ({"metadata": words, "value": encode([1, {"a": 2}], names), "typed_value": None}, '[1,{"a":2}]'),
        ({"metadata": words, "value": encode({"a": 1}, names), "typed_value": None}, '{"a":1}'),
        (None, None),
    ]
    return column([one for one, _ in rows], shredded(pa.field("typed_value", OBJECT))), [
        text for _, text in rows
    ]


def missing_typed() -> dict[str, Any]:
    return {"typed_value": None}


@pytest.mark.parametrize("features", [SHREDDED, ["variantType", "variantShredding-preview"]], ids=str)
@pytest.mark.parametrize("switch", [None, "false", "true"])
def test_objects_are_put_together_from_typed_fields_and_the_rest(
    tmp_path: Path, features: list[str], switch: str | None
) -> None:
    """protocol: beyond:variant-shredding.1."""
    file, expected = shredded_objects()
    properties = {} if switch is None else {"delta.enableVariantShredding": switch}
    table = table_of(tmp_path, V, file, features=features, configuration=properties)
    assert texts(table) == expected


def test_files_are_shredded_each_in_its_own_way(tmp_path: Path) -> None:
    """protocol: beyond:variant-shredding.1."""
    file, expected = shredded_objects()
    empty = dictionary()
    typed = column(
        [{"metadata": empty, "typed_value": 7}],
        pa.struct([*list(shredded())[:1], ("typed_value", pa.int32())]),
    )
    optional = column([{"metadata": empty, "value": encode(8)}], shredded())
    lists = pa.list_(pa.field("element", part(pa.string())))
    listed = column(
        [{"metadata": empty, "value": None, "typed_value": [{"value": None, "typed_value": "x"}]}],
        shredded(pa.field("typed_value", lists)),
    )
    table = table_of(
        tmp_path, V, file, column([variant({"k": 1})]), typed, optional, listed, features=SHREDDED
    )
    assert sorted(map(str, texts(table))) == sorted(map(str, [*expected, '{"k":1}', "7", "8", '["x"]']))


def test_shredded_variants_lie_in_structs_and_lists(tmp_path: Path) -> None:
    """protocol: beyond:variant-shredding.1."""
    kind = shredded(pa.field("typed_value", pa.int64()))
    row = {"metadata": dictionary(), "value": None, "typed_value": 5}
    inner = {"type": "struct", "fields": [field("v", "variant")]}
    text = schema(
        field("s", inner), field("l", {"type": "array", "elementType": inner, "containsNull": True})
    )
    rows = pa.table(
        {
            "s": pa.array([{"v": row}, None], pa.struct([("v", kind)])),
            "l": pa.array([[{"v": row}, None, {"v": None}], None], pa.list_(pa.struct([("v", kind)]))),
        }
    )
    scan = table_of(tmp_path, text, rows, features=SHREDDED).snapshot().scan(variant="json")
    assert scan.to_arrow().to_pylist() == [
        {"s": {"v": "5"}, "l": [{"v": "5"}, None, {"v": None}]},
        {"s": None, "l": None},
    ]


def with_ids(rows: pa.Table, path: Path) -> None:
    fields = [one.with_metadata({"PARQUET:field_id": str(7 + at)}) for at, one in enumerate(rows.schema)]
    pq.write_table(rows.cast(pa.schema(fields)), path)


@pytest.mark.parametrize("mode", ["name", "id"])
def test_in_a_mapped_table_the_parts_keep_their_names(tmp_path: Path, mode: str) -> None:
    mapped = {"delta.columnMapping.id": 7, "delta.columnMapping.physicalName": "col-1"}
    table = table_of(
        tmp_path,
        schema({**field("v", "variant"), "metadata": mapped}),
        column([variant({"value": 1})]).rename_columns(["col-1"]),
        features=["variantType", "columnMapping"],
        configuration={"delta.columnMapping.mode": mode},
        write=with_ids,
    )
    assert texts(table) == ['{"value":1}']


def objects(depth: int) -> dict[str, bytes]:
    value = encode(None)
    for _ in range(depth):
        value = bytes([3, 1, 0, len(value)]) + value if len(value) < 256 else wide(value)
    return {"metadata": dictionary(), "value": value}


def wide(value: bytes) -> bytes:
    return bytes([3 | 3 << 2, 1]) + struct.pack("<II", 0, len(value)) + value


NAMES = dictionary(["a", "b"])
GOOD = encode({"a": 1, "b": [2]}, ["a", "b"])
BAD: dict[str, tuple[bytes, bytes]] = {
    "no metadata": (b"", GOOD),
    "another version": (b"\x02" + NAMES[1:], GOOD),
    "names cut off": (NAMES[:-1], GOOD),
    "more names than bytes": (NAMES[:1] + b"\xff\xff\xff\x7f" + NAMES[5:], GOOD),
    "names in no order": (b"\x01\x02\x00\x02\x01ab", GOOD),
    "names that are no text": (b"\x01\x01\x00\x01\xff", encode(1)),
    "no value": (NAMES, b""),
    "a value cut off": (NAMES, GOOD[:-1]),
    "an unknown primitive": (NAMES, bytes([33 << 2])),
    "a name that is not there": (dictionary(["a"]), GOOD),
    "a length without bytes": (NAMES, bytes([16 << 2]) + b"\xff\xff\xff\xffx"),
    "text that is no text": (NAMES, bytes([1 << 2 | 1, 0xFF])),
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
        assert error.context["field"] == "v"  # noqa: PT017 - which of them fail is another question
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
    "a rest that is no object": (
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
    "a field that is no group": (
        [{"metadata": NAMES, "value": None, "typed_value": {"a": 1}}],
        shredded(pa.field("typed_value", pa.struct([("a", pa.int64())]))),
        "not a group",
    ),
    "elements that are no groups": (
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
    "no group at all": ([1], pa.int64(), "Int64"),
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


@pytest.mark.parametrize(
    ("predicate", "kept"), [("v IS NULL", [1]), ("v IS NOT NULL", [0, 2]), ("s.v IS NOT NULL", [0])]
)
@pytest.mark.parametrize("form", ["arrow", "json"])
def test_a_predicate_asks_whether_a_variant_is_null(
    tmp_path: Path, predicate: str, kept: list[int], form: Any
) -> None:
    inner = pa.array([{"v": variant(1)}, {"v": None}, None], pa.struct([("v", IN_A_FILE)]))
    rows = pa.table({"id": [0, 1, 2], "v": column([variant(1), None, variant(None)])["v"], "s": inner})
    struct_of = {"type": "struct", "fields": [field("v", "variant")]}
    table = table_of(tmp_path, schema(field("id"), field("v", "variant"), field("s", struct_of)), rows)
    scan = table.snapshot().scan(predicate=predicate, variant=form)
    assert scan.to_arrow()["id"].to_pylist() == kept
    assert scan.count() == len(kept)


@pytest.mark.parametrize(
    "predicate",
    [
        "v = 1",
        "1 < v",
        "v = v",
        "v IN (1, 2)",
        "v",
        "startswith(v, 'a')",
        "v.a = 1",
        "id = 1 OR NOT (v <> 'x')",
    ],
)
def test_any_other_predicate_on_a_variant_is_refused(tmp_path: Path, predicate: str) -> None:
    rows = pa.table({"id": [0], "v": column([variant(1)])["v"]})
    table = table_of(tmp_path, schema(field("id"), field("v", "variant")), rows)
    with pytest.raises(deltaic.InvalidPredicate, match="IS NULL") as raised:
        table.snapshot().scan(predicate=predicate)
    assert str(raised.value.context["field"]).startswith("v")


def test_rows_that_were_rewritten_in_other_bytes_are_no_change(tmp_path: Path) -> None:
    """Shredded or not, with names in another order or numbers of another width, a variant is what it was."""
    names = ["z", "a", "b"]
    words = dictionary(names)
    before = [{"a": 1, "b": "x"}, [int8(1), Decimal("1.50")], "2020-02-02", 0.1, None]
    part_a = {"value": None, "typed_value": 1}
    after = [
        {"metadata": words, "value": encode({"b": "x"}, names), "typed_value": {"a": part_a}},
        {"metadata": words, "value": encode([1, decimal4(15, 1)]), "typed_value": None},
        {"metadata": words, "value": encode(date(2020, 2, 2)), "typed_value": None},
        {"metadata": words, "value": encode(float32(0.1)), "typed_value": None},
        {"metadata": words, "value": None, "typed_value": None},
    ]
    kind = shredded(pa.field("typed_value", pa.struct([("a", part(pa.int64()))])))
    inner = pa.struct([("v", IN_A_FILE)])
    lists = {"type": "array", "elementType": {"type": "struct", "fields": [field("v", "variant")]}}
    table = HandmadeTable(tmp_path / "t")
    ids = list(range(len(before)))
    old = [variant(value) for value in before]
    nested_old = pa.array([[{"v": row}] for row in old], pa.list_(inner))
    nested_new = pa.array([[{"v": row}] for row in after], pa.list_(pa.struct([("v", kind)])))
    first = pa.table({"id": ids, "v": column(old)["v"], "l": nested_old})
    second = pa.table({"id": ids, "v": column(after, kind)["v"], "l": nested_new})
    table.commit(
        protocol(3, 7, SHREDDED, SHREDDED),
        metadata(schema(field("id"), field("v", "variant"), field("l", {**lists, "containsNull": True}))),
        table.data("a.parquet", first),
    )
    table.commit(remove("a.parquet"), table.data("b.parquet", second))
    found = deltaic.Table(table.root).changes(1, infer=True).to_arrow().to_pylist()
    # A text is no date, and a float no double.
    assert sorted((row["id"], row["_change_type"]) for row in found) == [
        (2, "delete"),
        (2, "insert"),
        (3, "delete"),
        (3, "insert"),
    ]


def test_the_form_is_named_rightly(tmp_path: Path) -> None:
    snapshot = table_of(tmp_path, V, column([variant(1)])).snapshot()
    with pytest.raises(ValueError, match="did you mean json"):
        snapshot.scan(variant="jsn")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match='variant="arrow" or variant="json"'):
        snapshot.scan(variant="parquet")  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="variant"):
        snapshot.scan(variant=None)  # pyright: ignore[reportArgumentType]


def test_a_task_keeps_the_form(tmp_path: Path) -> None:
    snapshot = table_of(tmp_path, V, column([variant([1])])).snapshot()
    for form, found in (("json", "[1]"), ("arrow", variant([1]))):
        [task] = snapshot.scan(variant=form).tasks()
        sent = pickle.loads(pickle.dumps(task))
        assert sent.read().read_all()["v"].to_pylist() == [found]
        assert sent.schema.to_arrow() == snapshot.scan(variant=form).schema.to_arrow()


def test_other_libraries_take_variants(tmp_path: Path) -> None:
    polars, duckdb = pytest.importorskip("polars"), pytest.importorskip("duckdb")
    snapshot = table_of(tmp_path, V, column([variant({"a": 1}), None])).snapshot()
    as_text = snapshot.scan(variant="json")
    assert as_text.to_pandas()["v"].dropna().to_list() == ['{"a":1}']
    assert as_text.to_polars()["v"].to_list() == polars.DataFrame(as_text)["v"].to_list() == ['{"a":1}', None]
    assert duckdb.from_arrow(as_text).fetchall() == [('{"a":1}',), (None,)]
    assert snapshot.scan().to_pandas()["v"].to_list() == [variant({"a": 1}), None]


def test_the_command_line_shows_variants_as_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = table_of(tmp_path, V, column([variant({"a": 1}), None]))
    assert main(["head", table.uri, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"v": '{"a":1}'}, {"v": None}]


def test_statistics_give_no_bounds_for_a_variant(tmp_path: Path) -> None:
    """What they hold is not interpreted, and so it is left alone.

    protocol: beyond:variant-shredding.3
    """
    stats = {
        "numRecords": 2,
        "minValues": {"id": 1, "v": "0rr91vqZQ{"},
        "maxValues": {"id": 2, "v": "no Z85 at all"},
        "nullCount": {"id": 0, "v": 1},
    }
    table = HandmadeTable(tmp_path / "t")
    rows = pa.table({"id": [1, 2], "v": column([variant(1), None])["v"]})
    table.commit(
        protocol(3, 7, SHREDDED, SHREDDED),
        metadata(schema(field("id"), field("v", "variant"))),
        table.data("a.parquet", rows, stats=json.dumps(stats)),
    )
    snapshot = deltaic.Table(table.root).snapshot()
    [file] = snapshot.files(stats=True).to_arrow().to_pylist()
    assert (file["min"], file["max"]) == ({"id": 1}, {"id": 2})
    assert file["null_count"] == {"id": 0, "v": 1}
    assert snapshot.scan(predicate="v IS NULL").to_arrow()["id"].to_pylist() == [2]


@pytest.mark.parametrize("features", [PLAIN, SHREDDED, []], ids=str)
def test_variants_are_not_written(tmp_path: Path, features: list[str]) -> None:
    """So none is written shredded without leave, or as a partition's value.

    protocol: beyond:variant.3, beyond:variant.4, beyond:variant-shredding.2
    """
    rows = column([variant(1)])
    table = table_of(tmp_path, V, rows, features=features)
    for data in (rows, table.snapshot().scan().to_arrow(), pa.table({"v": pa.nulls(1)})):
        with pytest.raises(deltaic.UnsupportedFeature, match="variant"):
            table.append(data)
    assert table.snapshot().version == 0
    with pytest.raises(deltaic.UnsupportedFeature, match="the column v is a variant"):
        deltaic.Table.create(tmp_path / "new", table.snapshot().schema.to_arrow(), partition_by=["v"])
    assert not (tmp_path / "new").exists()


def test_a_variant_cannot_be_a_partitions_value(tmp_path: Path) -> None:
    """protocol: beyond:variant.3."""
    table = HandmadeTable(tmp_path / "t")
    table.commit(
        protocol(3, 7, PLAIN, PLAIN),
        metadata(schema(field("id"), field("v", "variant")), ["v"]),
        table.data("a.parquet", pa.table({"id": [1]}), values={"v": "1"}),
    )
    with pytest.raises(deltaic.CorruptLog):
        deltaic.Table(table.root).snapshot().scan().to_arrow()


def test_the_oracle_reads_what_it_writes() -> None:
    for name, (value, text) in {**PRIMITIVES, **NESTED}.items():
        row = variant(value)
        assert to_json(row["metadata"], row["value"]) == text, name
    assert Written(0, b"") != Written(1, b"")
