"""Restores beside processes that append: a restore is committed as the next version, or conflicts."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

import deltaic
from tests.seed import generator

from .appender import SCHEMA
from .writers import Writer, asked_for

WRITERS = asked_for("RACE_WRITERS", 3)
COMMITS = asked_for("RACE_RESTORES", 15)


def test_each_version_follows_from_the_one_before(tmp_path: Path) -> None:
    """An append that is acknowledged is lost only by a later restore, and each version can be read."""
    root = tmp_path / "t"
    table = deltaic.Table.create(root, SCHEMA)
    table.append(pa.table({"writer": [99], "number": [0]}, SCHEMA))
    writers = [Writer(root, writer, COMMITS, has_next=True) for writer in range(WRITERS)]
    for writer in writers:
        writer.wait_until_ready()
    for writer in writers:
        writer.go()
    chance, restored, conflicts = generator("restore beside writers"), dict[int, int](), 0
    while any(writer.poll() is None for writer in writers):
        version = chance.randrange(1, table.snapshot().version + 1)
        try:
            commit = table.restore(version)
        except deltaic.CommitConflict:
            conflicts += 1
        else:
            if not commit.skipped:
                restored[commit.version] = version
    # Without luck every restore beside the writers conflicted.
    restored[table.restore(1).version] = 1
    told: dict[int, tuple[int, int]] = {}
    for writer in writers:
        told |= writer.acknowledged()
        assert writer.returncode == 0
        assert not writer.raised
    newest = table.snapshot().version
    assert newest == 1 + len(told) + len(restored)
    rows: dict[int, set[tuple[int, int]]] = {0: set(), 1: {(99, 0)}}
    for version in range(2, newest + 1):
        if version in restored:
            rows[version] = rows[restored[version]]
        else:
            rows[version] = rows[version - 1] | {told[version]}
        found = table.snapshot(version=version).scan().to_arrow().to_pylist()
        assert sorted((row["writer"], row["number"]) for row in found) == sorted(rows[version]), version
    assert table.check(deep=True).is_healthy
    print(f"{len(told)} appends, {len(restored)} restores, {conflicts} conflicts")
