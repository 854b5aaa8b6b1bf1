"""The change feed of every reference table: recorded or inferred, it is what delta-spark reads.

Before comparing, each update counts as a delete and an insert, and rows that one version both deleted and
inserted cancel out: an inferred feed only knows the difference between versions.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Hashable
from functools import cache, lru_cache

import pyarrow as pa
import pytest

import deltaic

from .feeds import FEEDS, Feed, content
from .opening import needs_golden
from .reference import manifest, reference
from .rows import column_keys, difference

TELLING = ["_change_type", "_commit_version", "_commit_timestamp"]
# Its change data files were made by hand: no data file was added or removed with them.
MADE_UP = "kernel-rs-data/cdf-table-update-ops"
# Commits are read one by one, so more versions would only add time.
MOST_VERSIONS = 40


@needs_golden
def test_there_are_feeds() -> None:
    assert len(FEEDS) >= 20


@needs_golden
@pytest.mark.parametrize("feed", FEEDS, ids=lambda feed: f"{feed.name}:{feed.first}-{feed.last}")
def test_a_recorded_feed(feed: Feed) -> None:
    """protocol: reader-requirements-for-addcdcfile.1, change-data-files.2, add-cdc-file.1."""
    table = deltaic.Table(reference(feed.name).folder)
    actual, expected = table.changes(feed.first, feed.last).to_arrow(), content(feed.rows)
    assert actual.column_names[-3:] == TELLING
    if not feed.has_times:
        actual, expected = (one.drop_columns(["_commit_timestamp"]) for one in (actual, expected))
    assert difference(actual, expected) is None
    assert table.changes(feed.first, feed.last).count() == expected.num_rows


@needs_golden
@pytest.mark.parametrize(
    "feed",
    [feed for feed in FEEDS if feed.name != MADE_UP],
    ids=lambda feed: f"{feed.name}:{feed.first}-{feed.last}",
)
def test_an_inferred_feed_is_the_recorded_one(feed: Feed) -> None:
    inferred = deltaic.Table(reference(feed.name).folder).changes(feed.first, feed.last, infer=True)
    assert net(inferred.to_arrow()) == net(content(feed.rows))


def net(feed: pa.Table) -> Counter[tuple[Hashable, ...]]:
    """Returns, per version, how often each row was inserted minus how often it was deleted."""
    names = sorted(name for name in feed.column_names if name not in ("_change_type", "_commit_timestamp"))
    columns = [column_keys(feed.column(name)) for name in names]
    found: Counter[tuple[Hashable, ...]] = Counter()
    for change, *row in zip(feed["_change_type"].to_pylist(), *columns, strict=True):
        found[tuple(row)] += 1 if change in ("insert", "update_postimage") else -1
    return Counter({row: count for row, count in found.items() if count})


@cache
def steps() -> list[tuple[str, int]]:
    """Returns all pairs of adjacent versions that can both be read, by the later version."""
    found: list[tuple[str, int]] = []
    for name in manifest():
        folder = reference(name).folder
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                versions = [commit.version for commit in deltaic.Table(folder).history()]
            except deltaic.DeltaicError:
                continue
        there = set(versions)
        found += [(name, version) for version in versions[:MOST_VERSIONS] if version - 1 in there]
    return found


@needs_golden
def test_an_inferred_step_is_the_difference_of_two_reads() -> None:
    """For adjacent versions: inserted minus deleted rows equals the difference of the two reads."""
    compared = 0
    for name, version in steps():
        table = deltaic.Table(reference(name).folder)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                (old_schema, before), (schema, after) = counted(name, version - 1), counted(name, version)
            except deltaic.DeltaicError:
                continue
            if old_schema != schema:
                continue
            feed = table.changes(version, version, infer=True).to_arrow()
        assert set(feed["_commit_version"].to_pylist()) <= {version}
        expected = Counter(after)
        expected.subtract(before)
        names = sorted(name for name in feed.column_names if name not in TELLING)
        columns = [column_keys(feed.column(name)) for name in names]
        actual: Counter[tuple[Hashable, ...]] = Counter()
        for change, *row in zip(feed["_change_type"].to_pylist(), *columns, strict=True):
            assert change in ("insert", "delete")
            actual[tuple(row)] += 1 if change == "insert" else -1
        wanted = {row: count for row, count in expected.items() if count}
        assert {row: count for row, count in actual.items() if count} == wanted, (name, version)
        # Rows that are both deleted and inserted are not in the feed.
        assert feed.num_rows == sum(abs(count) for count in wanted.values()), (name, version)
        compared += 1
    assert compared > 200


@lru_cache(maxsize=3)
def counted(name: str, version: int) -> tuple[pa.Schema, Counter[tuple[Hashable, ...]]]:
    """Reads a version: its columns, and how often it has each row. The last ones serve the next step, too."""
    rows = deltaic.Table(reference(name).folder).snapshot(version).scan().to_arrow()
    columns = [column_keys(rows.column(name)) for name in sorted(rows.column_names)]
    counts = Counter(zip(*columns, strict=True)) if columns else Counter({(): rows.num_rows})
    return rows.schema, counts
