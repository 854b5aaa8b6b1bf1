"""Eight processes append to one table concurrently: every commit lands exactly once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import deltaic

from .appender import SCHEMA
from .writers import asked_for, commits_on_disk, landed_once, on_disk, race

WRITERS = asked_for("RACE_WRITERS", 8)
COMMITS = asked_for("RACE_COMMITS", 50)


def test_every_commit_of_many_writers_lands_once(tmp_path: Path) -> None:
    # protocol: creation-of-new-log-entries.1, creation-of-new-log-entries.2
    root = tmp_path / "t"
    deltaic.Table.create(root, SCHEMA)
    told = race(root, WRITERS, COMMITS)
    landed_once(told, COMMITS, on_disk(root))

    total = WRITERS * COMMITS
    assert commits_on_disk(root) == list(range(total + 1))
    table = deltaic.Table(root)
    assert [commit.version for commit in table.history()] == list(range(total, -1, -1))
    rows = table.snapshot().scan().to_arrow().to_pylist()
    wanted = ((writer, number) for writer in range(WRITERS) for number in range(COMMITS))
    assert Counter((row["writer"], row["number"]) for row in rows) == Counter(wanted)
