"""One rule of assignment: a column takes numbers that its type holds, and dates as timestamps."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic

ARROW = {
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "decimal(10,2)": pa.decimal128(10, 2),
    "decimal(20,4)": pa.decimal128(20, 4),
    "decimal(20,0)": pa.decimal128(20, 0),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}
MIDNIGHT = datetime(2026, 11, 1)  # noqa: DTZ001
KEPT: list[tuple[str, pa.DataType, Any, Any]] = [
    ("int", pa.int64(), 5, 5),
    ("tinyint", pa.int64(), -128, -128),
    ("int", pa.float64(), 2.0, 2),
    ("bigint", pa.float32(), 16_777_216.0, 16_777_216),
    ("double", pa.int64(), 2**53, float(2**53)),
    ("float", pa.int32(), 2**24, float(2**24)),
    ("float", pa.float64(), 0.5, 0.5),
    ("float", pa.float64(), math.inf, math.inf),
    ("decimal(10,2)", pa.int64(), 5, Decimal("5.00")),
    ("decimal(10,2)", pa.float64(), 0.1, Decimal("0.10")),
    ("decimal(10,2)", pa.decimal128(20, 4), Decimal("1.2500"), Decimal("1.25")),
    ("double", pa.decimal128(20, 4), Decimal("0.1000"), 0.1),
    # Greater than 2^53, a double is an integer, and not its shortest text.
    ("decimal(20,0)", pa.float64(), 2.0**60, Decimal(2**60)),
    ("double", pa.decimal128(20, 0), Decimal(2**60), 2.0**60),
    ("double", pa.uint64(), 2**63, 2.0**63),
    ("int", pa.decimal128(20, 4), Decimal("2.0000"), 2),
    ("timestamp", pa.date32(), date(2026, 11, 1), MIDNIGHT.replace(tzinfo=timezone.utc)),
    ("timestamp_ntz", pa.date32(), date(2026, 11, 1), MIDNIGHT),
]
REFUSED: list[tuple[str, pa.DataType, Any, str]] = [
    ("int", pa.int64(), 2**31, "bigint 2147483648"),
    ("tinyint", pa.int32(), 128, "int 128"),
    ("int", pa.float64(), 1.5, "double 1.5"),
    ("bigint", pa.float64(), math.nan, "double NaN"),
    ("double", pa.int64(), 2**53 + 1, "bigint 9007199254740993"),
    ("float", pa.int32(), 2**24 + 1, "int 16777217"),
    ("float", pa.float64(), 0.1, "double 0.1"),
    ("decimal(10,2)", pa.int64(), 10**9, "bigint 1000000000"),
    ("decimal(10,2)", pa.float64(), 0.125, "double 0.125"),
    ("decimal(10,2)", pa.decimal128(20, 4), Decimal("1.2550"), "decimal(20,4) 1.2550"),
    ("double", pa.decimal128(20, 4), Decimal("1234567890123456.7891"), "decimal(20,4) 1234567890123456.7891"),
    ("int", pa.decimal128(20, 4), Decimal("2.5000"), "decimal(20,4) 2.5000"),
    ("double", pa.decimal128(20, 0), Decimal(2**60 + 1), "decimal(20,0) 1152921504606846977"),
]
UNSIGNED: list[tuple[str, pa.DataType, int]] = [
    ("tinyint", pa.uint8(), 127),
    ("int", pa.uint64(), 7),
    ("bigint", pa.uint64(), 2**63 - 1),
    ("decimal(20,0)", pa.uint64(), 2**64 - 1),
]


def new(values: pa.Array) -> pa.Table:
    """Rows with the keys 1 and 2, of which the second has the value."""
    return pa.table({"k": pa.array([1, 2], pa.int64()), "v": values})


def merged(table: deltaic.Table, rows: pa.Table) -> None:
    table.merge(rows, "target.k = source.k").when_matched_update_all().when_not_matched_insert_all().execute()


def merged_by_names(table: deltaic.Table, rows: pa.Table) -> None:
    merge = table.merge(rows, "target.k = source.k").when_matched_update({"v": "source.v"})
    merge.when_not_matched_insert({"k": "source.k", "v": "source.v"}).execute()


def in_transaction(table: deltaic.Table, rows: pa.Table) -> None:
    with table.transaction() as tx:
        tx.delete("true")
        tx.append(rows)


VERBS: dict[str, Callable[[deltaic.Table, pa.Table], object]] = {
    "append": lambda table, rows: table.append(rows),
    "overwrite": lambda table, rows: table.overwrite(rows),
    "write": lambda table, rows: deltaic.write(table.uri, rows, "overwrite"),
    "transaction": in_transaction,
    "merge": merged,
    "merge by names": merged_by_names,
}


def made(root: Path, kind: str, *, nested: bool = False) -> deltaic.Table:
    v = f"struct<x: array<{kind}>>" if nested else kind
    return deltaic.Table.create(root, [deltaic.Column("k", "bigint"), deltaic.Column("v", v)])


def values_of(table: deltaic.Table) -> list[Any]:
    return [row["v"] for row in table.to_arrow().sort_by("k").to_pylist()]


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("case", KEPT, ids=str)
def test_a_value_that_the_type_holds_is_kept(
    root: Path, verb: str, case: tuple[str, pa.DataType, Any, Any]
) -> None:
    kind, given, value, kept = case
    table = made(root, kind)
    VERBS[verb](table, new(pa.array([None, value], given)))
    assert values_of(table) == [None, kept]


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_any_other_value_is_refused_with_its_row(
    root: Path, verb: str, case: tuple[str, pa.DataType, Any, str]
) -> None:
    kind, given, value, shown = case
    table = made(root, kind)
    with pytest.raises(deltaic.SchemaMismatch) as caught:
        VERBS[verb](table, new(pa.array([None, value], given)))
    assert f"the column v is {kind}, which cannot hold the {shown}" in str(caught.value)
    assert caught.value.context["field"] == "v"
    assert "k = 2" in caught.value.context["row"] or "k: 2" in caught.value.context["row"]
    assert table.snapshot().version == 0


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(("kind", "given", "value"), UNSIGNED)
def test_unsigned_integers_are_numbers_like_others(
    root: Path, verb: str, kind: str, given: pa.DataType, value: int
) -> None:
    table = made(root, kind)
    VERBS[verb](table, new(pa.array([None, value], given)))
    assert values_of(table) == [None, value]


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb != "merge by names"])
def test_parts_of_columns_follow_the_rule(root: Path, verb: str) -> None:
    table = made(root, "int", nested=True)
    kind = pa.struct([("x", pa.list_(pa.int64()))])
    VERBS[verb](table, new(pa.array([None, {"x": [1, None, 2]}], kind)))
    assert values_of(table) == [None, {"x": [1, None, 2]}]
    with pytest.raises(deltaic.SchemaMismatch, match=r"v\.x\.element is int, which cannot hold the bigint"):
        VERBS[verb](table, new(pa.array([None, {"x": [1, 2**40]}], kind)))


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("int", "k + 100", 101),
        ("int", "k / 1", 1),
        ("int", "2.0", 2),
        ("double", "k * 3", 3.0),
        ("double", "0.1", 0.1),
        ("float", "0.1", pytest.approx(0.1)),
        ("decimal(10,2)", "1.5D", Decimal("1.50")),
        # No text is a floating-point number exactly: constants are the nearest one.
        ("float", "3.14159265358979", pytest.approx(3.1415927)),
        ("float", "0.1D", pytest.approx(0.1)),
        ("double", "0.12345678901234567890", pytest.approx(0.12345678901234568)),
    ],
)
def test_an_update_follows_the_rule(root: Path, kind: str, value: str, expected: Any) -> None:
    table = made(root, kind)
    table.append(pa.table({"k": [1]}))
    table.update({"v": value})
    assert values_of(table) == [expected]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("int", "k / 2"),
        ("int", "1.5"),
        ("float", "0.1D * k"),
        ("tinyint", "k + 127"),
        ("decimal(10,2)", "k / 3"),
    ],
)
def test_an_update_refuses_what_its_column_cannot_hold(root: Path, kind: str, value: str) -> None:
    table = made(root, kind)
    table.append(pa.table({"k": [1]}))
    for dry_run in (True, False):
        with pytest.raises(deltaic.SchemaMismatch, match="cannot hold the") as caught:
            table.update({"v": value}, dry_run=dry_run)
        assert caught.value.hint == f"write CAST({value} AS {kind}) to round or cut off values"
    table.update({"v": f"CAST({value} AS {kind})"} if "127" not in value else {"v": "127"})


def test_values_in_rows_that_are_not_there_do_not_count(root: Path) -> None:
    """A NULL struct, and what a slice leaves out, may have any bytes below it."""
    table = deltaic.Table.create(
        root, [deltaic.Column("s", "struct<a: int>"), deltaic.Column("l", "array<int>")]
    )
    inner = pa.array([1, 2**40, 3], pa.int64())
    structs = pa.StructArray.from_arrays([inner], ["a"], mask=pa.array([False, True, False]))
    lists = pa.ListArray.from_arrays([0, 1, 2, 3], inner, mask=pa.array([False, True, False]))
    table.append(pa.table({"s": structs, "l": lists}))
    assert table.to_arrow().to_pylist() == [
        {"s": {"a": 1}, "l": [1]},
        {"s": None, "l": None},
        {"s": {"a": 3}, "l": [3]},
    ]


FIELDS = "array<struct<a: bigint, b: string>>"


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    "column", [FIELDS, f"map<string, {FIELDS}>", "map<string, struct<a: bigint, b: string>>"]
)
def test_fields_in_lists_and_maps_go_by_their_names(root: Path, verb: str, column: str) -> None:
    table = made(root, column)
    swapped = pa.struct([("B", pa.string()), ("a", pa.int32())])
    lacking = pa.struct([("a", pa.int64())])
    for kind, fields, kept in (
        (swapped, {"B": "x", "a": 1}, {"a": 1, "b": "x"}),
        (lacking, {"a": 2}, {"a": 2, "b": None}),
    ):
        given: Any = kind
        value: Any = fields
        expected: Any = kept
        if "array" in column:
            given, value, expected = pa.list_(kind), [fields], [kept]
        if "map" in column:
            given, value, expected = pa.map_(pa.string(), given), [("m", value)], [("m", expected)]
        table.overwrite(pa.table({"k": pa.array([], pa.int64())}))
        VERBS[verb](table, new(pa.array([None, value], given)))
        assert values_of(table) == [None, expected]


@pytest.mark.parametrize("verb", VERBS)
def test_a_field_that_must_be_there_is_missed(root: Path, verb: str) -> None:
    table = made(root, "array<struct<a: bigint, b: string NOT NULL>>")
    given = pa.list_(pa.struct([("a", pa.int64())]))
    with pytest.raises(deltaic.SchemaMismatch):
        VERBS[verb](table, new(pa.array([None, [{"a": 1}]], given)))
    unknown = pa.list_(pa.struct([("b", pa.string()), ("c", pa.int64())]))
    with pytest.raises(deltaic.SchemaMismatch):
        VERBS[verb](table, new(pa.array([None, [{"b": "x", "c": 1}]], unknown)))
    assert table.snapshot().version == 0


def test_the_hint_for_a_field_is_about_the_field(root: Path) -> None:
    table = deltaic.Table.create(
        root, [deltaic.Column("k", "bigint"), deltaic.Column("s", "struct<a: int, b: int>")]
    )
    table.append(pa.table({"k": [1]}))
    with pytest.raises(deltaic.SchemaMismatch, match=r"s\.a is int, which cannot hold the double") as caught:
        table.update({"s.a": "k / 3"})
    assert caught.value.hint == "cast the field in the new value: CAST(... AS int)"
    assert caught.value.context["row"] == "k = 1, s = NULL"
    table.update({"s.a": "CAST(k / 3 AS int)"})


def test_the_row_of_a_merge_has_only_what_was_read(root: Path) -> None:
    table = made(root, "int")
    table.append(pa.table({"k": [2], "v": pa.array([1], pa.int32())}))
    with pytest.raises(deltaic.SchemaMismatch) as caught:
        merged(table, pa.table({"k": [2], "v": [2**40]}))
    assert str(caught.value.context["row"]).endswith(f"source = {{k: 2, v: {2**40}}}")
    assert "NULL" not in str(caught.value.context["row"])


@pytest.mark.parametrize(("kind", "most"), [("decimal(10,2)", 20_000), ("int", 200_000)])
def test_many_values_are_converted_at_once(root: Path, kind: str, most: int) -> None:
    """The row that is refused is found by halves."""
    table = made(root, kind)
    values = [*range(most), 0.125]
    with pytest.raises(deltaic.SchemaMismatch) as caught:
        table.append(pa.table({"k": range(most + 1), "v": pa.array(values, pa.float64())}))
    assert caught.value.context["row"] == f"k = {most}, v = 0.125"
