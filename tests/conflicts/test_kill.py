"""A writer is killed at random moments of an append: the table opens, and what was acknowledged is there."""

from __future__ import annotations

import random
import time
from collections import Counter
from pathlib import Path

import pyarrow as pa

import deltaic

from .appender import SCHEMA
from .writers import Writer, asked_for, commits_on_disk, on_disk, rows_of_commit

KILLS = asked_for("RACE_KILLS", 50)
WARM_UP = 5


def seconds_of_an_append(root: Path) -> float:
    table = deltaic.Table(root)
    start = time.perf_counter()
    for number in range(WARM_UP):
        table.append(pa.table({"writer": [-1], "number": [number]}, SCHEMA))
    return (time.perf_counter() - start) / WARM_UP


def test_a_killed_writer_loses_nothing_that_it_acknowledged(tmp_path: Path) -> None:
    root = tmp_path / "t"
    deltaic.Table.create(root, SCHEMA)
    append = seconds_of_an_append(root)
    acknowledged: dict[int, tuple[int, int]] = {}
    unacknowledged = 0
    moments = random.Random(20261121)
    for number in range(KILLS):
        writer = Writer(root, number, -1)
        writer.wait_until_ready()
        writer.go()
        # The first append of a process is slower: every second writer is killed around that one.
        behind = 0 if number % 2 else moments.randrange(1, 4)
        told = writer.killed_behind(behind, moments.uniform(0, (2 if behind else 6) * append))
        assert len(told) >= behind
        assert not set(told) & set(acknowledged)
        acknowledged |= told

        versions = commits_on_disk(root)
        snapshot = deltaic.Table(root).snapshot()
        assert snapshot.version == versions[-1]
        assert versions == list(range(versions[-1] + 1))
        rows = Counter(
            (row["writer"], row["number"])
            for row in snapshot.scan().to_arrow().to_pylist()
            if row["writer"] >= 0
        )
        assert set(rows.values()) <= {1}
        assert set(acknowledged.values()) <= set(rows)
        # A commit may have landed before its writer could say so: at most one a killed writer.
        extra = set(rows) - set(acknowledged.values())
        assert len(extra) <= number + 1
        assert len({one for one, _ in extra}) == len(extra)
        unacknowledged = len(extra)

    for version, row in acknowledged.items():
        assert rows_of_commit(on_disk(root), version) == [row]
    before = deltaic.Table(root).snapshot()
    commit = deltaic.Table(root).append(pa.table({"writer": [-2], "number": [0]}, SCHEMA))
    assert commit.version == before.version + 1
    assert deltaic.Table(root).snapshot().scan().count() == before.scan().count() + 1
    leftovers = [
        path.name for path in (root / "_delta_log").iterdir() if path.suffix == ".tmp" or "#" in path.name
    ]
    print(f"{len(acknowledged)} acknowledged, {unacknowledged} landed without a word, left over: {leftovers}")
