"""Heading *Partition Value Serialization*: the strings in the log, read and written."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic

from .handmade_log import HandmadeTable, add, field, metadata, protocol, read_commit, schema
from .partitioned_table import table_with

UTC = timezone.utc


READ: list[tuple[str, str, Any]] = [
    ("string", "plain", "plain"),
    ("string", " a/b=c%20d\n", " a/b=c%20d\n"),
    ("string", "null", "null"),
    ("string", "ünï 😀", "ünï 😀"),
    ("long", "-9223372036854775808", -(2**63)),
    ("integer", "2147483647", 2**31 - 1),
    ("short", "-7", -7),
    ("byte", "127", 127),
    ("float", "1.5", 1.5),
    ("float", "-Infinity", float("-inf")),
    ("double", "1.0E-5", 1e-5),
    ("double", "0.1", 0.1),
    ("decimal(10,2)", "12.30", Decimal("12.30")),
    ("decimal(10,2)", "12.3", Decimal("12.30")),
    ("decimal(38,18)", "1E-18", Decimal("1E-18")),
    ("boolean", "true", True),
    ("boolean", "false", False),
    ("date", "1970-01-01", date(1970, 1, 1)),
    ("date", "0001-01-01", date(1, 1, 1)),
    ("date", "9999-12-31", date(9999, 12, 31)),
    ("timestamp", "1970-01-01 00:00:00", datetime(1970, 1, 1, tzinfo=UTC)),
    ("timestamp", "1970-01-01 00:00:00.123456", datetime(1970, 1, 1, 0, 0, 0, 123456, UTC)),
    ("timestamp", "1970-01-01 00:00:00.5", datetime(1970, 1, 1, 0, 0, 0, 500000, UTC)),
    ("timestamp", "1970-01-01T00:00:00.123456Z", datetime(1970, 1, 1, 0, 0, 0, 123456, UTC)),
    ("timestamp", "2021-03-04T05:06:07Z", datetime(2021, 3, 4, 5, 6, 7, 0, UTC)),
    ("timestamp", "1969-12-31T23:59:59.999999Z", datetime(1969, 12, 31, 23, 59, 59, 999999, UTC)),
    ("timestamp_ntz", "1970-01-01 00:00:00", datetime(1970, 1, 1)),  # noqa: DTZ001
    ("timestamp_ntz", "2021-03-04 05:06:07.123456", datetime(2021, 3, 4, 5, 6, 7, 123456)),  # noqa: DTZ001
    ("binary", "\u0001\u0002\u0003", b"\x01\x02\x03"),
    ("binary", "é", "é".encode()),
]


@pytest.mark.parametrize(("kind", "text", "value"), READ)
def test_a_text_is_read_as_its_value(tmp_path: Path, kind: str, text: str, value: Any) -> None:
    """protocol: partition-value-serialization.1, partition-value-serialization.2."""
    snapshot = deltaic.Table(table_with(tmp_path / "t", kind, {"a": text}).root).snapshot()
    assert snapshot.scan().to_arrow().select(["name", "p"]).to_pylist() == [{"name": "a", "p": value}]
    assert snapshot.files().to_arrow()["partition_values"].to_pylist() == [{"p": value}]


@pytest.mark.parametrize("kind", sorted({kind for kind, *_ in READ}))
@pytest.mark.parametrize("text", ["", None], ids=["empty", "null"])
def test_an_empty_text_is_null_for_every_type(tmp_path: Path, kind: str, text: str | None) -> None:
    snapshot = deltaic.Table(table_with(tmp_path / "t", kind, {"a": text}).root).snapshot()
    assert snapshot.scan().to_arrow()["p"].to_pylist() == [None]
    assert snapshot.files(predicate="p IS NULL").num_rows == 1
    assert snapshot.files(predicate="p IS NOT NULL").num_rows == 0


def test_the_name_that_hive_gives_to_null_is_null(tmp_path: Path) -> None:
    table = table_with(tmp_path / "t", "string", {"a": "__HIVE_DEFAULT_PARTITION__"})
    assert deltaic.Table(table.root).snapshot().scan().to_arrow()["p"].to_pylist() == [None]


NOT_VALUES = [
    ("long", "1.5"),
    ("long", "9223372036854775808"),
    ("byte", "128"),
    ("integer", "one"),
    ("decimal(5,2)", "1.005"),
    ("decimal(5,2)", "1000.00"),
    ("boolean", "yes"),
    ("date", "2021-02-30"),
    ("date", "21/02/2021"),
    ("timestamp", "noon"),
]


@pytest.mark.parametrize(("kind", "text"), NOT_VALUES)
def test_a_text_that_is_not_a_value_stops_the_scans_that_touch_its_file(
    tmp_path: Path, kind: str, text: str
) -> None:
    table = table_with(tmp_path / "t", kind, {"good": None, "bad": text})
    snapshot = deltaic.Table(table.root).snapshot()
    files = {row["path"]: row["partition_values"] for row in snapshot.files().to_arrow().to_pylist()}
    assert files == {"good.parquet": {"p": None}, "bad.parquet": {"p": None}}
    with pytest.raises(deltaic.DeltaicError) as caught:
        snapshot.scan().to_arrow()
    assert isinstance(caught.value, deltaic.CorruptLog)
    assert "bad.parquet" in str(caught.value.context.get("path"))
    assert "p" in (caught.value.context.get("field"), caught.value.context.get("column"))


def test_a_file_without_its_partition_value_is_damage(tmp_path: Path) -> None:
    """protocol: consistency-between-table-metadata-and-data-files.2."""
    table = table_with(tmp_path / "t", "long", {"a": "1"}, spelled="q")
    with pytest.raises(deltaic.CorruptLog, match="p"):
        deltaic.Table(table.root).snapshot().scan().to_arrow()


def test_pruning_goes_by_the_value_and_not_by_the_text(tmp_path: Path) -> None:
    table = table_with(tmp_path / "t", "long", {"a": "9", "b": "10", "c": "-1", "d": None})
    snapshot = deltaic.Table(table.root).snapshot()

    def names(predicate: str) -> list[str]:
        live = snapshot.files(predicate=predicate).to_arrow()["path"].to_pylist()
        rows = snapshot.scan(predicate=predicate).to_arrow()["name"].to_pylist()
        assert sorted(live) == sorted(f"{name}.parquet" for name in rows)
        return sorted(rows)

    assert names("p > 9") == ["b"]
    assert names("p < 10") == ["a", "c"]
    assert names("p IS NULL") == ["d"]
    assert names("NOT (p = 9)") == ["b", "c"]


WRITTEN: list[tuple[pa.DataType, Any, str | None]] = [
    (pa.string(), "a/b=c d%é", "a/b=c d%é"),
    (pa.int64(), -(2**63), "-9223372036854775808"),
    (pa.int8(), -1, "-1"),
    (pa.bool_(), True, "true"),
    (pa.bool_(), False, "false"),
    (pa.date32(), date(1, 1, 1), "0001-01-01"),
    (pa.date32(), date(2024, 2, 29), "2024-02-29"),
    (pa.decimal128(10, 2), Decimal("-12.30"), "-12.30"),
    # All digits of the scale and a zero before the point: deltalake refuses `-0.5` and `-5E-1`.
    (pa.decimal128(10, 2), Decimal("-0.01"), "-0.01"),
    (pa.decimal128(10, 2), Decimal("-0.5"), "-0.50"),
    (pa.decimal128(10, 2), Decimal("0.5"), "0.50"),
    (pa.decimal128(10, 2), Decimal("-1"), "-1.00"),
    (pa.decimal128(10, 2), Decimal("0"), "0.00"),
    (pa.decimal128(10, 0), Decimal("-1"), "-1"),
    (pa.decimal128(38, 18), Decimal("-1E-18"), "-0.000000000000000001"),
    (pa.decimal128(38, 38), Decimal("-0." + "9" * 38), "-0." + "9" * 38),
    (pa.timestamp("us", "UTC"), datetime(2021, 3, 4, 5, 6, 7, 123456, UTC), "2021-03-04T05:06:07.123456Z"),
    (pa.timestamp("us"), datetime(2021, 3, 4, 5, 6, 7, 123456), "2021-03-04 05:06:07.123456"),  # noqa: DTZ001
    (pa.string(), None, None),
    (pa.int64(), None, None),
    (pa.timestamp("us", "UTC"), None, None),
]


@pytest.mark.parametrize(("kind", "value", "text"), WRITTEN)
def test_a_value_is_written_as_its_text(
    tmp_path: Path, kind: pa.DataType, value: Any, text: str | None
) -> None:
    # protocol: partition-value-serialization.1, partition-value-serialization.2,
    # partition-value-serialization.4
    root = tmp_path / "t"
    rows = pa.table({"id": pa.array([1]), "p": pa.array([value], kind)})
    deltaic.Table.create(root, rows.schema, partition_by=["p"]).append(rows)
    (written,) = [action["add"] for action in read_commit(root, 1) if "add" in action]
    assert written["partitionValues"] == {"p": text}
    assert deltaic.Table(root).snapshot().scan().to_arrow().to_pylist() == [{"id": 1, "p": value}]


def test_an_add_of_nothing_is_still_pruned_exactly(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.commit(
        protocol(),
        metadata(schema(field("id"), field("p", "date")), ["p"]),
        *[add(f"{day}.parquet", values={"p": f"2026-11-{day:02}"}) for day in range(1, 31)],
    )
    snapshot = deltaic.Table(table.root).snapshot()
    kept = snapshot.files(predicate="p >= DATE '2026-11-10' AND p < DATE '2026-11-12'").to_arrow()["path"]
    assert sorted(kept.to_pylist()) == ["10.parquet", "11.parquet"]


IN_ANOTHER_ZONE = """
import sys, time, deltaic
time.tzset()
print(time.localtime(0).tm_gmtoff)
scan = deltaic.Table(sys.argv[1]).snapshot().scan(predicate=sys.argv[2])
print(*sorted(scan.to_arrow()["p"].cast("int64").to_pylist()))
"""


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Kolkata", "XYZ-13:45"])
def test_a_time_without_a_zone_has_that_of_its_writer_and_not_of_its_reader(
    tmp_path: Path, zone: str
) -> None:
    """The log does not record the writer's zone: UTC, which deltaic uses, is assumed.

    protocol: partition-value-serialization.3
    """
    table = table_with(
        tmp_path / "t", "timestamp", {"a": "1970-01-01 00:00:01", "b": "1970-07-01T00:00:01.000000Z"}
    )
    rows = pa.table({"name": ["c"], "p": pa.array([3_000_000], pa.timestamp("us", "UTC"))})
    deltaic.Table(table.root).append(rows)

    def read(predicate: str) -> list[int]:
        command = [sys.executable, "-c", IN_ANOTHER_ZONE, str(table.root), predicate]
        run = subprocess.run(
            command, env={**os.environ, "TZ": zone}, capture_output=True, text=True, check=True
        )
        offset, *values = map(int, run.stdout.split())
        assert (offset != 0) == (zone != "UTC"), "the process is in its zone"
        return values

    summer = int(datetime(1970, 7, 1, 0, 0, 1, tzinfo=UTC).timestamp())
    assert read("p IS NOT NULL") == [1_000_000, 3_000_000, summer * 1_000_000]
    assert read("p = TIMESTAMP '1970-01-01 00:00:01Z'") == [1_000_000]
