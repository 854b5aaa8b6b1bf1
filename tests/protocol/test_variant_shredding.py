"""Variants whose files contain parts of them as typed columns, `variantShredding`."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from .handmade_log import field, schema
from .handmade_variants import SHREDDED, V, column, part, shredded, table_of, texts
from .naive_variant import encode, variant
from .naive_variant import metadata as dictionary

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
    """The value keeps its type: it is encoded again with the type id of the column.

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
def test_in_a_mapped_table_the_parts_retain_their_names(tmp_path: Path, mode: str) -> None:
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
