"""Every reference table that deltaic reads has the same rows through the data source, in every version."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import deltaic
import deltaic.spark as ds
from tests.golden.feeds import FEEDS, Feed, content
from tests.golden.reference import GOLDEN, reference
from tests.golden.rows import difference

from .reference_rows import READ, arrow_of, older_versions, prove

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

needs_golden = pytest.mark.skipif(not GOLDEN.is_dir(), reason="missing: ../shared/golden beside the project")
OLDER = older_versions()


@pytest.fixture(scope="module", autouse=True)
def _registered(small_queries: SparkSession) -> None:
    ds.register(small_queries)


def rows(spark: SparkSession, folder: Path, **options: object) -> pa.Table:
    reader = spark.read.format("deltaic")
    for name, value in options.items():
        reader = reader.option(name, str(value))
    return arrow_of(reader.load(str(folder)))


@pytest.mark.filterwarnings("ignore::deltaic.DeltaicWarning")
@needs_golden
@pytest.mark.parametrize("name", READ)
def test_table(spark: SparkSession, name: str) -> None:
    known = reference(name)
    schema = deltaic.Table(known.folder).snapshot().schema.to_json()
    prove(known, known.latest, rows(spark, known.folder), schema)


@pytest.mark.filterwarnings("ignore::deltaic.DeltaicWarning")
@needs_golden
@pytest.mark.parametrize(("name", "version"), OLDER)
def test_older_version(spark: SparkSession, name: str, version: int) -> None:
    known = reference(name)
    schema = deltaic.Table(known.folder).snapshot(version=version).schema.to_json()
    prove(known, known.older[version], rows(spark, known.folder, versionAsOf=version), schema)


@needs_golden
def test_older_versions_are_there() -> None:
    assert len(OLDER) >= 50


@needs_golden
@pytest.mark.parametrize("feed", FEEDS, ids=lambda feed: f"{feed.name}:{feed.first}-{feed.last}")
def test_a_change_feed(spark: SparkSession, feed: Feed) -> None:
    """protocol: reader-requirements-for-addcdcfile.1."""
    folder = reference(feed.name).folder
    actual = rows(spark, folder, readChangeFeed=True, startingVersion=feed.first, endingVersion=feed.last)
    expected = content(feed.rows)
    assert actual.column_names[-3:] == ["_change_type", "_commit_version", "_commit_timestamp"]
    if not feed.has_times:
        actual, expected = (one.drop_columns(["_commit_timestamp"]) for one in (actual, expected))
    assert difference(actual, expected) is None
