"""Headings *Metadata Cleanup* and *checkpoint-protection*: which old files of a log are deleted."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import deltaic

from .handmade_log import HandmadeTable, ids, metadata, protocol

DAY = 86_400


def expired(root: Path, needs: dict[str, object], configuration: dict[str, str], features: list[str]) -> Path:
    """A log whose versions 0 and 1 expired long ago, with a checkpoint of version 1."""
    table = HandmadeTable(root)
    first = [needs, metadata(configuration=configuration), table.data("a.parquet", ids(1))]
    table.commit(*first)
    table.commit(table.data("b.parquet", ids(2)))
    checkpoint = table.checkpoint(1, [*first, table.data("b.parquet", ids(2))])
    table.commit(protocol(1, 7, None, features), table.data("c.parquet", ids(3)))
    table.hint(1, 4)
    newest = table.log / f"{2:020}.json"
    os.utime(newest)
    now = newest.stat().st_mtime
    for path, days in (
        (table.log / f"{0:020}.json", 60),
        (table.log / f"{1:020}.json", 59),
        (checkpoint, 59),
    ):
        os.utime(path, (now - days * DAY, now - days * DAY))
    return table.log


def left(log: Path) -> set[str]:
    return {path.name for path in log.iterdir()} - {"_last_checkpoint"}


@pytest.mark.parametrize("retention", ["interval 30 days", "interval 100 days"])
def test_expired_commits_before_a_checkpoint_are_deleted(tmp_path: Path, retention: str) -> None:
    """protocol: metadata-cleanup.1."""
    configuration = {"delta.logRetentionDuration": retention}
    log = expired(tmp_path / "t", protocol(1, 7, None, []), configuration, [])
    before = left(log)
    deltaic.Table(tmp_path / "t").clean_up()
    gone = before - left(log)
    assert gone == ({f"{0:020}.json"} if "30" in retention else set())
    assert deltaic.Table(tmp_path / "t").snapshot().scan().count() == 3


@pytest.mark.parametrize("understood", [True, False])
def test_a_protected_checkpoint_stays_if_its_protocol_is_not_supported(
    tmp_path: Path, understood: bool
) -> None:
    """protocol: beyond:checkpoint-protection.1."""
    root = tmp_path / "t"
    table = HandmadeTable(root)
    protected = {"delta.requireCheckpointProtectionBeforeVersion": "3"}
    features = [] if understood else ["unknownFeature"]
    first = [protocol(1, 7, None, features), metadata(), table.data("a.parquet", ids(1))]
    table.commit(*first)
    table.commit(table.data("b.parquet", ids(2)))
    old = table.checkpoint(0, first)
    second = table.checkpoint(1, [*first, table.data("b.parquet", ids(2))])
    table.commit(protocol(1, 7, None, ["checkpointProtection"]), metadata(configuration=protected))
    newest = table.log / f"{2:020}.json"
    os.utime(newest)
    now = newest.stat().st_mtime
    for path in [*(table.log / f"{version:020}.json" for version in (0, 1)), old, second]:
        os.utime(path, (now - 60 * DAY, now - 60 * DAY))
    before = left(table.log)
    deltaic.Table(root).clean_up()
    assert (old.name in before - left(table.log)) == understood
    assert second.exists()
    assert deltaic.Table(root).snapshot().scan().count() == 2
