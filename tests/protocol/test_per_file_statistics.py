"""Heading *Per-file Statistics*: which files they can exclude, and that no row is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic

from .handmade_log import HandmadeTable, add, field, ids, metadata, protocol, schema

FAR = "x = 1000000"


def stats(**others: Any) -> str:
    return json.dumps({"numRecords": 3, **others})


def one_file(root: Path, statistics: str | None, kind: str = "long") -> deltaic.Snapshot:
    """A table of a column `x` with one add that has these statistics."""
    table = HandmadeTable(root)
    more = {} if statistics is None else {"stats": statistics}
    table.commit(protocol(), metadata(schema(field("x", kind))), add("a.parquet", **more))
    return deltaic.Table(table.root).snapshot()


def kept(snapshot: deltaic.Snapshot, predicate: str) -> bool:
    return snapshot.files(predicate=predicate).num_rows == 1


NARROW = {"minValues": {"x": 10}, "maxValues": {"x": 20}, "nullCount": {"x": 0}}


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        ("x = 10", True),
        ("x = 20", True),
        ("x = 9", False),
        ("x = 21", False),
        ("x < 10", False),
        ("x <= 10", True),
        ("x > 20", False),
        ("x >= 20", True),
        ("x IN (1, 15)", True),
        ("x IN (1, 30)", False),
        ("x BETWEEN 21 AND 30", False),
        ("x < 10 OR x > 20", False),
        ("x < 10 OR x > 15", True),
        ("x > 5 AND x > 20", False),
        ("NOT (x >= 10)", False),
        ("x IS NULL", False),
        ("x IS NOT NULL", True),
    ],
)
def test_bounds_leave_out_what_cannot_match(tmp_path: Path, predicate: str, expected: bool) -> None:
    assert kept(one_file(tmp_path / "t", stats(**NARROW)), predicate) is expected


@pytest.mark.parametrize("tight", [None, True, False])
@pytest.mark.parametrize(
    ("nulls", "is_null", "is_not_null"),
    [
        (0, False, True),
        (3, True, False),
        (1, True, True),
        (None, True, True),
    ],
)
def test_a_null_count_reports_only_all_or_nothing(
    tmp_path: Path, tight: bool | None, nulls: int | None, is_null: bool, is_not_null: bool
) -> None:
    """Tests per-file-statistics.3, .4 and .5 as far as NULL counts exclude files."""
    more: dict[str, Any] = {} if tight is None else {"tightBounds": tight}
    if nulls is not None:
        more["nullCount"] = {"x": nulls}
    snapshot = one_file(tmp_path / "t", stats(**more))
    assert kept(snapshot, "x IS NULL") is is_null
    assert kept(snapshot, "x IS NOT NULL") is is_not_null
    assert kept(snapshot, "x = 5") is is_not_null


USELESS = [
    pytest.param(None, id="none"),
    pytest.param("", id="empty text"),
    pytest.param("{", id="torn"),
    pytest.param("null", id="null"),
    pytest.param("[]", id="a list"),
    pytest.param("{}", id="nothing in it"),
    pytest.param('{"numRecords":3}', id="rows only"),
    pytest.param(stats(minValues={}, maxValues={}, nullCount={}), id="no column"),
    pytest.param(stats(minValues={"x": None}, maxValues={"x": None}), id="null bounds"),
    pytest.param(stats(minValues={"x": 20}, maxValues={"x": 10}), id="min above max"),
    pytest.param(stats(minValues={"x": "low"}, maxValues={"x": "high"}), id="of another type"),
    pytest.param(stats(minValues={"x": [1]}, maxValues={"x": {"y": 1}}), id="of no type"),
    pytest.param(stats(minValues={"x": 2**70}, maxValues={"x": 2**71}), id="beyond the type"),
    pytest.param(stats(minValues=[1], maxValues=7, nullCount="none"), id="not structs"),
    pytest.param(stats(nullCount={"x": -1}), id="a negative null count"),
    pytest.param(stats(nullCount={"x": 4}), id="more nulls than rows"),
    pytest.param('{"numRecords":3,"minValues":{"x":1},"minValues":{"x":2}}', id="a key twice"),
    pytest.param("{" * 100_000, id="deep"),
]


@pytest.mark.parametrize("statistics", USELESS)
@pytest.mark.parametrize("predicate", [FAR, "x IS NULL", "x IS NOT NULL", "x < -5"])
def test_statistics_that_cannot_be_used_leave_nothing_out(
    tmp_path: Path, statistics: str | None, predicate: str
) -> None:
    assert kept(one_file(tmp_path / "t", statistics), predicate)


@pytest.mark.parametrize("rows", [-1, "3", 1.5, None])
def test_an_unusable_number_of_rows_is_not_a_number(tmp_path: Path, rows: Any) -> None:
    snapshot = one_file(tmp_path / "t", json.dumps({"numRecords": rows}))
    assert snapshot.num_rows is None


BOUNDS: list[tuple[str, Any, Any, str, bool]] = [
    # A maximum truncated to milliseconds includes every microsecond of them.
    (
        "timestamp",
        "2024-01-01T00:00:00.000Z",
        "2024-01-01T00:00:00.999Z",
        "x = TIMESTAMP '2024-01-01 00:00:00.999999'",
        True,
    ),
    (
        "timestamp",
        "2024-01-01T00:00:00.000Z",
        "2024-01-01T00:00:00.999Z",
        "x > TIMESTAMP '2024-01-01 00:00:01'",
        False,
    ),
    (
        "timestamp",
        "2024-01-01T00:00:00.000+01:00",
        "2024-01-01T00:00:00.999+01:00",
        "x < TIMESTAMP '2023-12-31 23:30:00'",
        True,
    ),
    ("date", "2024-01-01", "2024-01-31", "x = DATE '2024-02-01'", False),
    ("date", "2024-01-01", "2024-01-31", "x = DATE '2024-01-31'", True),
    ("string", "apple", "banana", "x = 'cherry'", False),
    ("string", "apple", "banana", "x LIKE 'av%'", True),
    # Truncated strings: the minimum is a prefix, the maximum ends in a tie breaker.
    ("string", "a" * 32, "b" * 32 + "\u007f", f"x = '{'b' * 40}'", True),
    ("string", "a" * 32, "é" * 32 + "\U0010ffff", f"x = '{'é' * 40}'", True),
    ("double", -1.5, 2.5, "x > 2.5", True),  # NaN is greater than every number and is not part of a bound
    ("double", -1.5, 2.5, "x < -1.5", False),
    ("double", "NaN", "NaN", "x < 0.0", True),
    ("double", "-Infinity", "Infinity", "x = 7.0", True),
    ("double", -0.0, 0.0, "x = 0.0", True),
    ("float", 6.1, 6.1, "x = CAST(6.1 AS FLOAT)", True),
    ("decimal(10,2)", 1.25, 9.75, "x = 9.75", True),
    ("decimal(10,2)", 1.25, 9.75, "x > 9.75", False),
    ("boolean", None, None, "x = true", True),
    ("byte", -128, 127, "x = 127", True),
]


@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=f"{case[0]}: {case[3]}"[:60]) for case in BOUNDS],
)
def test_bounds_of_every_type(tmp_path: Path, case: tuple[str, Any, Any, str, bool]) -> None:
    kind, low, high, predicate, expected = case
    statistics = stats(minValues={"x": low}, maxValues={"x": high}, nullCount={"x": 1})
    try:
        assert kept(one_file(tmp_path / "t", statistics, kind), predicate) is expected
    except deltaic.UnsupportedExpression:
        assert "CAST" in predicate or "LIKE" in predicate


def test_bounds_of_a_nested_column(tmp_path: Path) -> None:
    struct = {"type": "struct", "fields": [field("b", {"type": "struct", "fields": [field("c")]})]}
    table = HandmadeTable(tmp_path / "t")
    statistics = stats(
        minValues={"a": {"b": {"c": 10}}}, maxValues={"a": {"b": {"c": 20}}}, nullCount={"a": {"b": {"c": 0}}}
    )
    table.commit(protocol(), metadata(schema(field("a", struct))), add("a.parquet", stats=statistics))
    snapshot = deltaic.Table(table.root).snapshot()
    assert [kept(snapshot, f"a.b.c = {value}") for value in (9, 10, 20, 21)] == [False, True, True, False]


def test_the_number_of_rows_comes_from_statistics_only_where_all_files_have_it(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.create(table.data("a.parquet", ids(1, 2), stats='{"numRecords":2}'))
    table.commit(table.data("b.parquet", ids(3)))
    handle = deltaic.Table(table.root)
    assert (handle.snapshot(version=0).num_rows, handle.snapshot().num_rows) == (2, None)
    assert handle.snapshot().scan().count() == 3


def test_a_predicate_gives_the_same_rows_with_and_without_statistics(tmp_path: Path) -> None:
    values: list[int | None] = [None, -5, 0, 3, 3, 8, 2**62]
    with_stats, without = HandmadeTable(tmp_path / "with"), HandmadeTable(tmp_path / "without")
    for table in (with_stats, without):
        table.create()
    for number, chunk in enumerate((values[:2], values[2:4], values[4:], [None])):
        rows = pa.table({"id": pa.array(chunk, pa.int64())})
        known = [value for value in chunk if value is not None]
        statistics: dict[str, Any] = {"numRecords": len(chunk), "nullCount": {"id": len(chunk) - len(known)}}
        if known:
            statistics |= {"minValues": {"id": min(known)}, "maxValues": {"id": max(known)}}
        with_stats.commit(with_stats.data(f"{number}.parquet", rows, stats=json.dumps(statistics)))
        without.commit(without.data(f"{number}.parquet", rows))
    snapshots = [deltaic.Table(table.root).snapshot() for table in (with_stats, without)]
    for predicate in (
        "id > 2",
        "id <= 0",
        "id IS NULL",
        "id = 3 OR id IS NULL",
        "NOT (id = 3)",
        "id <> 3",
        "id IN (8)",
    ):
        first, second = (
            sorted(map(str, snapshot.scan(predicate=predicate).to_arrow()["id"].to_pylist()))
            for snapshot in snapshots
        )
        assert first == second, predicate
