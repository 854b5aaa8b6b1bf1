"""Heading *Partition Value Serialization*: representations of writers that differ from the protocol's."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import deltaic

from .partitioned_table import table_with

UTC = timezone.utc
NOON = datetime(2021, 3, 4, 12, 30, tzinfo=UTC)
HALF = NOON.replace(microsecond=500_000)
LOCAL = NOON.replace(tzinfo=None)

SPELLED: list[tuple[str, str, Any]] = [
    *(("boolean", text, text.lower() == "true") for text in ("True", "TRUE", "False", "FALSE")),
    *(("long", text, 5) for text in ("+5", "005", " 5 ")),
    ("byte", "-0", 0),
    *(("double", text, 1e10) for text in ("1e10", "1.0E10", "10000000000", "1E+10", "+1e10")),
    *(("double", text, 0.5) for text in (".5", "0.50", "5e-1")),
    ("double", "-0.0", -0.0),
    ("double", "4.9E-324", 5e-324),
    *(("float", text, math.inf) for text in ("Infinity", "+Infinity", "inf")),
    ("float", "0.1", 0.10000000149011612),
    *(("decimal(5,2)", text, Decimal("1.50")) for text in ("1.5", "1.500", "+1.50", "15E-1", "0.15e1")),
    ("decimal(5,2)", "1E+2", Decimal("100.00")),
    ("decimal(38,0)", "9" * 38, Decimal("9" * 38)),
    ("decimal(38,38)", "-0." + "9" * 38, Decimal("-0." + "9" * 38)),
    ("date", "2021-3-4", date(2021, 3, 4)),
    *(
        ("timestamp", text, NOON)
        for text in (
            "2021-03-04 12:30:00",
            "2021-03-04 12:30:00.0",
            "2021-03-04 12:30:00.000000",
            "2021-03-04 12:30",
            "2021-03-04T12:30:00",
            "2021-03-04T12:30:00Z",
            "2021-03-04T12:30:00.000000Z",
            "2021-03-04T12:30:00+00:00",
            "2021-03-04T14:30:00+02:00",
            "2021-03-04T04:30:00-0800",
            "2021-03-04 12:30:00Z",
            "2021-03-04 12:30:00 UTC",
            "2021-03-04T12:30:00.000000000Z",
        )
    ),
    *(("timestamp", f"2021-03-04 12:30:00.{text}", HALF) for text in ("5", "500", "5000000", "500000000")),
    ("timestamp", "2021-03-04", NOON.replace(hour=0, minute=0)),
    ("timestamp", "1969-12-31 23:59:59.999999999", datetime(1969, 12, 31, 23, 59, 59, 999_999, UTC)),
    ("timestamp", "0001-01-01T00:00:00.000000Z", datetime(1, 1, 1, tzinfo=UTC)),
    ("timestamp", "9999-12-31T23:59:59.999999Z", datetime(9999, 12, 31, 23, 59, 59, 999_999, UTC)),
    *(
        ("timestamp_ntz", text, LOCAL)
        for text in (
            "2021-03-04 12:30:00",
            "2021-03-04 12:30:00.000000",
            "2021-03-04T12:30:00",
            "2021-03-04 12:30",
        )
    ),
    ("timestamp_ntz", "2021-03-04", LOCAL.replace(hour=0, minute=0)),
    ("string", " ", " "),
    ("string", "NULL", "NULL"),
    ("string", "__HIVE_DEFAULT_PARTITION__x", "__HIVE_DEFAULT_PARTITION__x"),
    ("binary", "\u0000\u007f", b"\x00\x7f"),
]


@pytest.mark.parametrize(("kind", "text", "value"), SPELLED)
def test_a_value_is_read_however_it_was_spelled(tmp_path: Path, kind: str, text: str, value: Any) -> None:
    """protocol: partition-value-serialization.1, partition-value-serialization.2."""
    snapshot = deltaic.Table(table_with(tmp_path / "t", kind, {"a": text, "b": None}).root).snapshot()
    found = {row["name"]: row["p"] for row in snapshot.scan().to_arrow().to_pylist()}
    assert found == {"a": value, "b": None}
    assert snapshot.scan(predicate="p IS NOT NULL").to_arrow()["name"].to_pylist() == ["a"]


def test_nan_is_read(tmp_path: Path) -> None:
    for kind in ("float", "double"):
        snapshot = deltaic.Table(table_with(tmp_path / kind, kind, {"a": "NaN"}).root).snapshot()
        [value] = snapshot.scan().to_arrow()["p"].to_pylist()
        assert math.isnan(value)


@pytest.mark.parametrize(
    ("kind", "texts", "predicate"),
    [
        ("long", ("5", "+5", "005"), "p = 5"),
        ("double", ("1e10", "10000000000", "1.0E10"), "p = 1e10"),
        ("decimal(5,2)", ("1.5", "1.50", "15E-1"), "p = 1.5"),
        (
            "timestamp",
            ("2021-03-04 12:30:00", "2021-03-04T12:30:00Z"),
            "p = TIMESTAMP '2021-03-04 12:30:00Z'",
        ),
        ("boolean", ("true", "True"), "p"),
        ("date", ("2021-03-04", "2021-3-4"), "p = DATE '2021-03-04'"),
    ],
)
def test_spellings_of_a_value_are_one_value(
    tmp_path: Path, kind: str, texts: tuple[str, ...], predicate: str
) -> None:
    """For pruning too: partitions are found by their values."""
    files = {str(number): text for number, text in enumerate(texts)}
    snapshot = deltaic.Table(table_with(tmp_path / "t", kind, {**files, "other": None}).root).snapshot()
    assert sorted(snapshot.scan(predicate=predicate).to_arrow()["name"].to_pylist()) == sorted(files)
    assert snapshot.files(predicate=predicate).num_rows == len(texts)


@pytest.fixture(params=["America/St_Johns", "Pacific/Kiritimati"])
def elsewhere(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Sets a local time zone far from UTC."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("elsewhere")
def test_no_time_depends_on_where_it_is_read(tmp_path: Path) -> None:
    """Without a zone in the log it is UTC, independent of the reader.

    protocol: primitive-types.2
    """
    files = {"a": "2021-03-04 12:30:00", "b": "2021-03-04T12:30:00Z"}
    snapshot = deltaic.Table(table_with(tmp_path / "t", "timestamp", files).root).snapshot()
    assert snapshot.scan().to_arrow()["p"].to_pylist() == [NOON, NOON]
    assert snapshot.scan(predicate="p = TIMESTAMP '2021-03-04 12:30:00Z'").count() == 2
    local = deltaic.Table(table_with(tmp_path / "local", "timestamp_ntz", {"a": files["a"]}).root).snapshot()
    assert local.scan().to_arrow()["p"].to_pylist() == [LOCAL]
    assert local.scan(predicate="p = TIMESTAMP_NTZ '2021-03-04 12:30:00'").count() == 1
