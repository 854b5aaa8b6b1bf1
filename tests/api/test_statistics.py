"""The statistics that `Table.append` writes to the log, as the protocol defines them."""

from __future__ import annotations

import json
import math
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic
from tests.api.log_files import of_kind, statistics

UTC = timezone.utc


def written(root: Path, data: pa.Table, **options: Any) -> dict[str, Any]:
    """Appends the data and returns the statistics of its one file."""
    deltaic.Table.create(root, data.schema, **options).append(data)
    return statistics(root, 1)


def test_counts_and_bounds_of_numbers(root: Path) -> None:
    stats = written(root, pa.table({"i": [3, None, -2], "d": pa.array([20_000, 19_000, None], pa.date32())}))
    assert stats["numRecords"] == 3
    assert stats["minValues"] == {"i": -2, "d": "2022-01-08"}
    assert stats["maxValues"] == {"i": 3, "d": "2024-10-04"}
    assert stats["nullCount"] == {"i": 1, "d": 1}


def test_a_column_of_nulls_has_a_count_and_no_bounds(root: Path) -> None:
    stats = written(root, pa.table({"i": [1, 2], "n": pa.array([None, None], pa.int32())}))
    assert stats["nullCount"] == {"i": 0, "n": 2}
    assert stats["minValues"] == {"i": 1}
    assert stats["maxValues"] == {"i": 2}


def test_bytes_have_no_bounds(root: Path) -> None:
    stats = written(root, pa.table({"raw": [b"a", b"b"], "i": [1, 2]}))
    assert stats["nullCount"] == {"raw": 0, "i": 0}
    assert set(stats["minValues"]) == set(stats["maxValues"]) == {"i"}


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        ([True, None], True, True),
        ([False, False], False, False),
        ([None, True, False], False, True),
        ([None, None], None, None),
    ],
)
def test_booleans_have_exact_bounds(
    root: Path, values: list[bool | None], low: bool | None, high: bool | None
) -> None:
    """Readers take a missing bound for a file of NULLs."""
    flags = pa.array(values, pa.bool_())
    inner = pa.StructArray.from_arrays([flags], ["flag"])
    stats = written(root, pa.table({"flag": flags, "inner": inner, "id": range(len(values))}))
    for kind, expected in (("minValues", low), ("maxValues", high)):
        assert stats[kind].get("flag") is expected
        assert stats[kind].get("inner", {}).get("flag") is expected


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [
        (["b", "a", None], "a", "b"),
        ([""], "", ""),
        (["x" * 32], "x" * 32, "x" * 32),
        (["x" * 33], "x" * 32, "x" * 32 + "\x7f"),
        (["x" * 32 + "é"], "x" * 32, "x" * 32 + "\U0010ffff"),
        (["é" * 40], "é" * 32, "é" * 32 + "\U0010ffff"),
        (["🚋" * 40], "🚋" * 32, "🚋" * 32 + "\U0010ffff"),
        (["\U0010ffff" * 40], "\U0010ffff" * 32, None),
    ],
    ids=["short", "empty", "just fits", "cut", "cut before é", "cut in é", "cut in 🚋", "nothing above"],
)
def test_long_text_is_cut_to_bounds_that_hold(
    root: Path, values: list[str | None], low: str, high: str | None
) -> None:
    stats = written(root, pa.table({"s": values}))
    assert stats["minValues"] == {"s": low}
    assert stats["maxValues"].get("s") == high


@pytest.mark.parametrize(
    ("last", "shown"),
    [
        (datetime(2026, 11, 1, 12, 0, 0, 999_999, tzinfo=UTC), "2026-11-01T12:00:01.000Z"),
        (datetime(2026, 11, 1, 12, tzinfo=UTC), "2026-11-01T12:00:00.000Z"),
        (datetime(1969, 12, 31, 23, 59, 59, 999_500, tzinfo=UTC), "1970-01-01T00:00:00.000Z"),
        (datetime(9999, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC), "9999-12-31T23:59:59.999Z"),
        # Rounded up, it would be in the year 10000, which not every reader can represent.
        (datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), "9999-12-31T23:59:59.999999Z"),
    ],
)
def test_timestamps_are_cut_to_milliseconds(root: Path, last: datetime, shown: str) -> None:
    """The minimum is rounded down and the maximum up, so that both are valid bounds for every reader."""
    first = datetime(1950, 1, 2, 3, 4, 5, 678_901, tzinfo=UTC)
    stats = written(root, pa.table({"t": pa.array([last, first], pa.timestamp("us", "UTC"))}))
    assert stats["minValues"] == {"t": "1950-01-02T03:04:05.678Z"}
    assert stats["maxValues"] == {"t": shown}
    scan = deltaic.Table(root).snapshot().scan(predicate=deltaic.col("t") == last)
    assert scan.count() == scan.to_arrow().num_rows == 1


def test_naive_timestamps_have_no_zone(root: Path) -> None:
    moment = datetime(2026, 11, 1, 12, 0, 0, 123_456)  # noqa: DTZ001
    stats = written(root, pa.table({"t": pa.array([moment], pa.timestamp("us"))}))
    assert stats["minValues"]["t"].startswith("2026-11-01T12:00:00.123")
    assert not stats["minValues"]["t"].endswith("Z")
    assert deltaic.Table(root).snapshot().scan(predicate=deltaic.col("t") == moment).count() == 1


def test_decimals_are_exact(root: Path) -> None:
    values = [Decimal("-99999999999999999999999999999999999.99"), Decimal("0.10")]
    written(root, pa.table({"m": pa.array(values, pa.decimal128(37, 2))}))
    [add] = of_kind(root, 1, "add")
    assert "-99999999999999999999999999999999999.99" in add["stats"]
    stats = json.loads(add["stats"], parse_float=Decimal)
    assert Decimal(stats["minValues"]["m"]) == values[0]
    assert Decimal(stats["maxValues"]["m"]) == values[1]
    for value in values:
        assert deltaic.Table(root).snapshot().scan(predicate=deltaic.col("m") == value).count() == 1


def test_nan_and_infinities_never_hide_a_row(root: Path) -> None:
    """NaN is the greatest value: it must be the upper bound, or there must be no bound."""
    stats = written(root, pa.table({"x": [1.0, math.nan, -math.inf, None]}))
    assert stats["nullCount"] == {"x": 1}
    assert stats["minValues"].get("x") in ("-Infinity", None)
    assert stats["maxValues"].get("x") in ("NaN", None)
    for predicate in ("x > 5", "x = CAST('NaN' AS DOUBLE)", "x >= CAST('Infinity' AS DOUBLE)"):
        assert deltaic.Table(root).snapshot().scan(predicate=predicate).count() == 1
    assert deltaic.Table(root).snapshot().scan(predicate="x < 1.0").count() == 1


def test_negative_zero_is_not_above_zero(root: Path) -> None:
    written(root, pa.table({"x": [0.0, -0.0]}))
    snapshot = deltaic.Table(root).snapshot()
    assert snapshot.scan(predicate="x = 0.0").count() == 2
    assert snapshot.scan(predicate="x = -0.0").count() == 2
    assert snapshot.scan(predicate="x < 0.0").count() == 0


def test_structs_are_nested_and_lists_and_maps_are_counted_whole(root: Path) -> None:
    schema = pa.schema(
        [
            ("s", pa.struct([("a", pa.int32()), ("t", pa.struct([("b", pa.string())]))])),
            ("l", pa.list_(pa.int32())),
            ("m", pa.map_(pa.string(), pa.int32())),
        ]
    )
    rows = [
        {"s": {"a": 1, "t": {"b": "x"}}, "l": [1, None], "m": None},
        {"s": {"a": 5, "t": None}, "l": None, "m": [("k", None)]},
        {"s": None, "l": [], "m": []},
    ]
    stats = written(root, pa.Table.from_pylist(rows, schema=schema))
    assert stats["minValues"] == {"s": {"a": 1, "t": {"b": "x"}}}
    assert stats["maxValues"] == {"s": {"a": 5, "t": {"b": "x"}}}
    assert stats["nullCount"] == {"s": {"a": 1, "t": {"b": 2}}, "l": 1, "m": 1}


def test_the_first_32_leaf_columns_have_statistics(root: Path) -> None:
    schema = pa.schema([("p", pa.string()), ("s", pa.struct([(f"f{n}", pa.int32()) for n in range(10)]))])
    for number in range(40):
        schema = schema.append(pa.field(f"c{number}", pa.int32()))
    row = {"p": "x", "s": {f"f{n}": n for n in range(10)}, **{f"c{n}": n for n in range(40)}}
    stats = written(root, pa.Table.from_pylist([row], schema=schema), partition_by=["p"])
    for part in ("minValues", "maxValues", "nullCount"):
        assert list(stats[part]["s"]) == [f"f{n}" for n in range(10)]
        top = [name for name in stats[part] if name != "s"]
        assert top == [f"c{n}" for n in range(22)]


def test_partition_columns_have_no_statistics(root: Path) -> None:
    data = pa.table({"day": pa.array([date(2026, 11, 1)], pa.date32()), "id": [7]})
    stats = written(root, data, partition_by=["day"])
    assert stats["minValues"] == stats["maxValues"] == {"id": 7}
    assert stats["nullCount"] == {"id": 0}


def test_bounds_are_reported_to_be_tight(root: Path) -> None:
    assert written(root, pa.table({"id": [1]})).get("tightBounds", True) is True
