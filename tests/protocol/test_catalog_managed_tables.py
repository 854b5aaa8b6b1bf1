"""Catalog-managed tables by path: only the catalog knows the newest commits, so they are refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import deltaic

from .handmade_log import HandmadeTable, add, commit_path, ids, metadata, protocol

UUID = "5e8f9d5c-8f0e-4b58-9d7e-0d4a5b1c2e3f"
NEEDED = ["inCommitTimestamp", "vacuumProtocolCheck"]
INFO = {"commitInfo": {"inCommitTimestamp": 1_700_000_000_000, "txnId": "a", "operation": "CREATE TABLE"}}


def managed(root: Path, feature: str) -> HandmadeTable:
    table = HandmadeTable(root)
    needs = protocol(3, 7, [feature, "vacuumProtocolCheck"], [feature, *NEEDED])
    properties = {"delta.enableInCommitTimestamps": "true"}
    table.commit(INFO, needs, metadata(configuration=properties), table.data("a.parquet", ids(1)))
    return table


REQUESTS: dict[str, Callable[[deltaic.Table], object]] = {
    "snapshot": lambda table: table.snapshot(),
    "an older version": lambda table: table.snapshot(version=0),
    "a time": lambda table: table.snapshot(timestamp="2040-01-01T00:00:00Z"),
    "append": lambda table: table.append(ids(2)),
}


@pytest.mark.parametrize("feature", ["catalogManaged", "catalogOwned-preview"])
@pytest.mark.parametrize("ask", REQUESTS)
def test_refused_by_its_path(tmp_path: Path, feature: str, ask: str) -> None:
    """Neither read nor written, and the hint refers to the catalog.

    protocol: catalog:reading-catalog-managed-tables.1,
    catalog:reader-requirements-for-catalog-managed-tables.2
    protocol (refused): catalog:change-to-existing-section.3,
    catalog:reader-requirements-for-catalog-managed-tables.1,
    catalog:writer-requirements-for-catalog-managed-tables.1,
    catalog:writer-requirements-for-catalog-managed-tables.4
    """
    table = managed(tmp_path / "t", feature)
    before = sorted(path.name for path in table.root.rglob("*"))
    with pytest.raises((deltaic.UnsupportedFeature, deltaic.VersionNotFound)) as caught:
        REQUESTS[ask](deltaic.Table(table.root))
    if ask != "a time":
        assert isinstance(caught.value, deltaic.UnsupportedFeature)
        assert feature in caught.value.message
        assert "catalog" in str(caught.value.hint)
    assert sorted(path.name for path in table.root.rglob("*")) == before


def test_a_table_that_becomes_one(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.create(table.data("a.parquet", ids(1)))
    handle = deltaic.Table(table.root)
    snapshot = handle.snapshot()
    table.commit(
        INFO,
        protocol(3, 7, ["catalogManaged", "vacuumProtocolCheck"], ["catalogManaged", *NEEDED]),
        metadata(configuration={"delta.enableInCommitTimestamps": "true"}),
    )
    for ask in (snapshot.refresh, handle.snapshot, lambda: handle.append(ids(2))):
        with pytest.raises(deltaic.UnsupportedFeature, match="catalogManaged"):
            ask()
    assert handle.snapshot(version=0).scan().count() == 1


def test_staged_commits_are_ignored_without_a_catalog(tmp_path: Path) -> None:
    """A staged commit in the log of an ordinary table is ignored, whatever its version.

    protocol: catalog:change-to-existing-section.6
    """
    table = HandmadeTable(tmp_path / "t")
    table.create(add("a.parquet"))
    staged = table.log / "_staged_commits"
    staged.mkdir()
    for version in (0, 1, 2):
        table.commit(add("staged.parquet"), version=9)
        commit_path(table.root, 9).rename(staged / f"{version:020}.{UUID}.json")
    snapshot = deltaic.Table(table.root).snapshot()
    assert (snapshot.version, snapshot.num_files) == (0, 1)
    assert [commit.version for commit in deltaic.Table(table.root).history()] == [0]
