"""Values and statistics of converted files: rows are those of pyarrow, and no predicate loses one."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic
from tests.api.log_files import of_kind


def at(year: int, micros: int = 0) -> datetime:
    return datetime(year, 1, 1, 0, 0, 0, micros, timezone.utc)


def local(year: int) -> datetime:
    return at(year).replace(tzinfo=None)


INNER = pa.struct([("x", pa.int64()), ("y", pa.struct([("z", pa.string())]))])
EVERY = pa.table(
    {
        "id": pa.array([1, 2, 3, 4], pa.int64()),
        "byte": pa.array([-3, None, 5, 0], pa.int8()),
        "short": pa.array([-300, 4, None, 0], pa.int16()),
        "int": pa.array([-70000, 4, 5, 5], pa.int32()),
        "flag": [True, None, False, True],
        "text": ["a" * 100, "b", None, "\U0010ffff" * 40],
        "raw": [b"\x00\xff", None, b"x", b""],
        "day": [date(1960, 1, 1), None, date(2026, 11, 1), date(1970, 1, 1)],
        "at": pa.array([at(1960), None, at(2026, 7), at(1970)], pa.timestamp("us", "UTC")),
        "local": pa.array([local(1960), None, local(2026), local(1970)], pa.timestamp("us")),
        "ms": pa.array([at(1960), None, at(2026), at(1970)], pa.timestamp("ms", "UTC")),
        "small": pa.array([Decimal("-1.50"), None, Decimal("2.25"), Decimal("0.00")], pa.decimal128(5, 2)),
        "large": pa.array([Decimal("-1e20"), None, Decimal("1e20"), Decimal(0)], pa.decimal128(30, 2)),
        "real": pa.array([1.5, float("nan"), None, -0.0], pa.float32()),
        "double": [1.5, float("nan"), -2.5, 0.0],
        "list": [[1, None], None, [], [7]],
        "struct": pa.array(
            [{"x": 1, "y": {"z": "q"}}, {"x": None, "y": None}, None, {"x": 9, "y": {}}], INNER
        ),
    }
)
SCALARS = [name for name in EVERY.column_names if name not in ("list", "struct")]


def write(root: Path, data: pa.Table, **options: Any) -> None:
    root.mkdir(exist_ok=True)
    pq.write_table(data, root / "a.parquet", **options)


def stats(root: Path) -> dict[str, Any]:
    [add] = of_kind(root, 0, "add")
    return dict(json.loads(add["stats"]))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"version": "1.0", "use_dictionary": False},
        {"row_group_size": 1},
        {"write_statistics": False},
        {"use_deprecated_int96_timestamps": True},
        {"store_decimal_as_integer": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("statistics", [True, False])
def test_every_type(root: Path, options: dict[str, Any], *, statistics: bool) -> None:
    write(root, EVERY, **options)
    deltaic.Table.convert(root, statistics=statistics)
    read = deltaic.Table(root).snapshot().scan().to_arrow()
    expected = pq.read_table(root / "a.parquet")
    for name in EVERY.column_names:
        values = read[name].to_pylist()
        if name in ("real", "double"):
            assert str(values) == str(expected[name].to_pylist())
        elif name in ("at", "local", "ms"):
            # pyarrow reads INT96 without a zone.
            both = [values, EVERY[name].to_pylist()]
            bare = [[value and value.replace(tzinfo=None) for value in one] for one in both]
            assert bare[0] == bare[1], name
        else:
            assert values == expected[name].to_pylist(), name
    is_int96 = "use_deprecated_int96_timestamps" in options
    types = {field.name: str(field.type) for field in read.schema}
    utc, without = "timestamp[us, tz=UTC]", "timestamp[us]"
    # INT96 is an instant for every reader of Delta tables.
    assert (types["at"], types["ms"], types["local"]) == (utc, utc, utc if is_int96 else without)
    found = stats(root)
    assert found["numRecords"] == 4
    if not statistics:
        assert found == {"numRecords": 4}
        return
    if options == {"write_statistics": False}:
        assert found["minValues"] == found["maxValues"] == {}
        return
    minimum, maximum, nulls = found["minValues"], found["maxValues"], found["nullCount"]
    assert not {"real", "double", "raw", "list"} & (set(minimum) | set(maximum))
    assert (minimum["flag"], maximum["flag"], nulls["flag"]) == (False, True, 1)
    assert (minimum["byte"], maximum["byte"], nulls["byte"]) == (-3, 5, 1)
    assert (minimum["int"], maximum["int"], nulls["int"]) == (-70000, 5, 0)
    assert (minimum["small"], maximum["small"]) == (-1.50, 2.25)
    assert minimum["text"] == "a" * 32
    assert "text" not in maximum
    assert (minimum["day"], maximum["day"]) == ("1960-01-01", "2026-11-01")
    assert nulls["struct"] == {"x": 2, "y": {"z": 3}}
    assert minimum["struct"] == {"x": 1, "y": {"z": "q"}}
    assert ("at" in minimum) == (not is_int96)


LITERALS: dict[str, list[str]] = {
    "byte": ["-3", "0", "5", "100"],
    "short": ["-300", "0", "4"],
    "int": ["-70000", "4", "5"],
    "text": ["''", "'a'", f"'{'a' * 32}'", f"'{'a' * 100}'", f"'{'a' * 33}b'", "'b'", "'\U0010ffff'"],
    "day": ["DATE '1960-01-01'", "DATE '1970-01-01'", "DATE '2026-11-01'"],
    "at": ["TIMESTAMP '1960-01-01T00:00:00Z'", "TIMESTAMP '2026-01-01T00:00:00.000007Z'"],
    "local": ["TIMESTAMP_NTZ '1970-01-01 00:00:00'", "TIMESTAMP_NTZ '2026-01-01 00:00:00'"],
    "ms": ["TIMESTAMP '2026-01-01T00:00:00Z'", "TIMESTAMP '1970-01-01T00:00:00Z'"],
    "small": ["-1.50", "0", "2.25", "100"],
    "large": ["-100000000000000000000.00", "0", "100000000000000000000.00"],
    "real": ["1.5", "0", "-0.0", "100"],
    "double": ["1.5", "0", "-2.5", "100"],
    "struct.x": ["1", "5", "9"],
    "struct.y.z": ["'q'", "'r'"],
}


def test_no_predicate_loses_a_row(root: Path, tmp_path: Path) -> None:
    """Compares files with statistics, one for each row and one for all, to the same without."""
    bare = tmp_path / "bare"
    for folder in (root, bare):
        folder.mkdir()
        for row in range(4):
            pq.write_table(EVERY.slice(row, 1), folder / f"{row}.parquet")
        pq.write_table(EVERY, folder / "all.parquet", row_group_size=2)
    deltaic.Table.convert(root)
    deltaic.Table.convert(bare, statistics=False)
    given, reference = deltaic.Table(root).snapshot(), deltaic.Table(bare).snapshot()
    skipping = 0
    for name, literals in LITERALS.items():
        conditions = [f"{name} IS NULL", f"{name} IS NOT NULL", f"NOT ({name} = {literals[0]})"]
        for sign in ("=", "<", "<=", ">=", "<=>"):
            conditions += [f"{name} {sign} {literal}" for literal in literals]
        for condition in conditions:
            rows = [
                sorted(snapshot.scan(["id"], predicate=condition).to_arrow()["id"].to_pylist())
                for snapshot in (given, reference)
            ]
            assert rows[0] == rows[1], condition
            skipping += given.files(condition).to_arrow().num_rows < 5
    assert skipping > 60


def test_rows_of_predicates_are_those_of_python(root: Path) -> None:
    write(root, EVERY, row_group_size=1)
    deltaic.Table.convert(root)
    snapshot = deltaic.Table(root).snapshot()
    huge = Decimal("1e20")
    cases: list[tuple[str, Callable[[dict[str, Any]], bool]]] = [
        ("double > 100", lambda row: math.isnan(row["double"])),
        ("real >= 0", lambda row: row["real"] is not None and (math.isnan(row["real"]) or row["real"] >= 0)),
        ("real = 0", lambda row: row["real"] == 0),
        ("double IS NOT NULL", lambda row: row["double"] is not None),
        ("text >= 'aa'", lambda row: row["text"] is not None and row["text"] >= "aa"),
        (
            "at > TIMESTAMP '2026-01-01T00:00:00Z'",
            lambda row: row["at"] is not None and row["at"] > at(2026),
        ),
        ("small < 0", lambda row: row["small"] is not None and row["small"] < 0),
        (f"large >= {huge:f}", lambda row: row["large"] is not None and row["large"] >= huge),
        ("struct IS NULL", lambda row: row["struct"] is None),
        ("struct.x IS NULL", lambda row: row["struct"] is None or row["struct"]["x"] is None),
    ]
    for condition, holds in cases:
        found = snapshot.scan(["id"], predicate=condition).to_arrow()["id"].to_pylist()
        expected = [row["id"] for row in EVERY.to_pylist() if holds(row)]
        assert sorted(found) == expected, condition
        assert expected, condition


@pytest.mark.parametrize("name", SCALARS)
def test_columns_of_only_nulls(root: Path, name: str) -> None:
    of = EVERY.schema.field(name).type
    data = pa.table({"key": [1, 2], name: pa.array([None, None], of)})
    write(root, data, row_group_size=1)
    deltaic.Table.convert(root)
    assert stats(root)["nullCount"] == {"key": 0, name: 2}
    assert stats(root)["minValues"] == {"key": 1}
    snapshot = deltaic.Table(root).snapshot()
    assert snapshot.scan(predicate=f"{name} IS NULL").to_arrow().num_rows == 2
    assert snapshot.files(f"{name} IS NOT NULL").to_arrow().num_rows == 0


def test_bounds_that_a_row_group_lacks(root: Path) -> None:
    """One row group without bounds, as pyarrow writes for a long text, makes those of the file uncertain."""
    write(root, pa.table({"id": [1, 2, 3], "text": ["a", "z" * 5000, "m"]}), row_group_size=1)
    deltaic.Table.convert(root)
    assert "text" not in stats(root)["minValues"]
    found = deltaic.Table(root).snapshot().scan(predicate="text > 'y'").to_arrow()
    assert found["id"].to_pylist() == [2]
