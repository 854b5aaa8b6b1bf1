"""`deltaic.spark.read`: its options and errors."""

from __future__ import annotations

import subprocess
import sys
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import deltaic
import deltaic.spark as ds
from tests.protocol.handmade_log import HandmadeTable

from .timed_versions import NOON, timed_versions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from .conftest import Settings


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return timed_versions(tmp_path / "t")


def rows(spark: SparkSession, table: Path, **options: object) -> list[int]:
    frame = ds.read(spark).options(**options).load(table)
    return sorted(row.id for row in frame.collect())


def test_the_newest_version_by_default(spark: SparkSession, table: Path) -> None:
    assert rows(spark, table) == [1, 2]
    assert rows(spark, table, versionAsOf=None) == [1, 2]


@pytest.mark.parametrize("version", [1, "1"])
@pytest.mark.parametrize("name", ["versionAsOf", "versionasof", "VERSIONASOF"])
def test_version_as_of(spark: SparkSession, table: Path, name: str, version: object) -> None:
    assert rows(spark, table, **{name: version}) == [1]


@pytest.mark.parametrize("path_type", [str, Path, Path.as_uri])
def test_a_path_in_every_form(spark: SparkSession, table: Path, path_type: type) -> None:
    assert ds.read(spark).load(path_type(table)).count() == 2


@pytest.mark.parametrize("version", [-1, "-1", "1.0", " 1", "x", True, 1.0])
def test_a_version_that_is_none(spark: SparkSession, table: Path, version: object) -> None:
    with pytest.raises(ValueError, match="versionAsOf"):
        rows(spark, table, versionAsOf=version)


@pytest.mark.parametrize(
    ("moment", "zone", "expected"),
    [
        ("2026-11-01 12:00:00", "UTC", [1]),
        ("2026-11-01 12:59:59.999", "UTC", [1]),
        ("2026-11-01 13:00:00", "UTC", [1, 2]),
        ("2026-11-01T12:00:00Z", "Asia/Tokyo", [1]),
        ("2026-11-01 13:30:00+01:00", "Asia/Tokyo", [1]),
        ("2026-11-01 21:30:00", "Asia/Tokyo", [1]),
        ("2026-11-01 22:00:00", "Asia/Tokyo", [1, 2]),
        ("2026-11-01 05:30:00", "America/Denver", [1]),
        (NOON, "Asia/Tokyo", [1]),
        (NOON.astimezone(timezone(timedelta(hours=-7))), "UTC", [1]),
        (datetime(2026, 11, 1, 21, 30), "Asia/Tokyo", [1]),  # noqa: DTZ001 - naive times are the session's
    ],
)
def test_timestamp_as_of_in_the_sessions_time_zone(
    spark: SparkSession, table: Path, settings: Settings, moment: object, *, zone: str, expected: list[int]
) -> None:
    with settings({"spark.sql.session.timeZone": zone}):
        assert rows(spark, table, timestampAsOf=moment) == expected


@pytest.mark.parametrize("day", ["2026-11-02", date(2026, 11, 2)])
def test_a_day_begins_at_midnight_of_the_session(
    spark: SparkSession, table: Path, settings: Settings, day: object
) -> None:
    # In Apia (UTC+13) when version 0 is current, at 11:00 UTC of the day before; in Kiritimati (UTC+14) an
    # hour earlier.
    zone = "spark.sql.session.timeZone"
    with settings({zone: "Pacific/Kiritimati"}), pytest.raises(deltaic.VersionNotFound):
        rows(spark, table, timestampAsOf=day)
    with settings({zone: "Pacific/Apia"}):
        assert rows(spark, table, timestampAsOf=day) == []


def test_timestamp_as_of_under_a_default_without_zone(
    spark: SparkSession, table: Path, settings: Settings
) -> None:
    with settings({"spark.sql.timestampType": "TIMESTAMP_NTZ", "spark.sql.session.timeZone": "Asia/Tokyo"}):
        assert rows(spark, table, timestampAsOf="2026-11-01 21:30:00") == [1]


@pytest.mark.parametrize("moment", ["yesterday at noon", "", 1_793_491_200, "'; DROP TABLE t; --"])
def test_a_time_that_is_none(spark: SparkSession, table: Path, moment: object) -> None:
    with pytest.raises(ValueError, match="timestampAsOf"):
        rows(spark, table, timestampAsOf=moment)


def test_a_version_out_of_range(spark: SparkSession, table: Path) -> None:
    with pytest.raises(deltaic.VersionNotFound):
        rows(spark, table, versionAsOf=3)
    with pytest.raises(deltaic.VersionNotFound):
        rows(spark, table, timestampAsOf="2026-10-31")


def test_version_and_timestamp_together(spark: SparkSession, table: Path) -> None:
    with pytest.raises(ValueError, match="exclude each other"):
        rows(spark, table, versionAsOf=1, timestampAsOf="2026-11-02")


def test_an_unknown_option_states_the_nearest(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="unknown option 'versonAsOf': did you mean 'versionAsOf'"):
        ds.read(spark).option("versonAsOf", 1).load(tmp_path)
    with pytest.raises(ValueError, match="versionAsOf, timestampAsOf"):
        ds.read(spark).options(x=1).load(tmp_path)
    with pytest.raises(ValueError, match="fileModificationTime must be true or false"):
        ds.read(spark).option("fileModificationTime", 1).load(tmp_path)


def test_a_folder_that_is_not_a_table(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(deltaic.TableNotFound):
        ds.read(spark).load(tmp_path)


def test_a_corrupt_log_passes_through_as_it_is(spark: SparkSession, tmp_path: Path) -> None:
    made = HandmadeTable(tmp_path / "t")
    made.create()
    made.commit_bytes(b'{"add": ')
    with pytest.raises(deltaic.CorruptLog):
        ds.read(spark).load(made.root)


def test_invalid_sessions() -> None:
    with pytest.raises(TypeError, match="SparkSession"):
        ds.read("local")  # type: ignore[arg-type]


def test_pyspark_is_imported_only_when_requested() -> None:
    code = "import deltaic.spark, sys; sys.exit('pyspark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_pyspark_the_error_states_what_to_install() -> None:
    code = "import sys; sys.modules['pyspark'] = None; import deltaic.spark as ds; ds.read(None)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "ImportError: deltaic.spark needs PySpark" in ended.stderr
    assert "pip install 'deltaic[spark]'" in ended.stderr
