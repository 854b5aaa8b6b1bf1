"""Eight processes append to one table at once: every commit lands, each once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import deltaic

from .appender import SCHEMA
from .writers import Writer, commits_on_disk, rows_of_commit

WRITERS = 8
COMMITS = 50


def test_every_commit_of_eight_writers_lands_once(tmp_path: Path) -> None:
    # protocol: creation-of-new-log-entries.1, creation-of-new-log-entries.2
    root = tmp_path / "t"
    deltaic.Table.create(root, SCHEMA)
    writers = [Writer(root, number, COMMITS) for number in range(WRITERS)]
    for writer in writers:
        writer.wait_until_ready()
    for writer in writers:
        writer.go()
    told = [writer.acknowledged() for writer in writers]
    assert [writer.process.returncode for writer in writers] == [0] * WRITERS

    total = WRITERS * COMMITS
    wanted = {(writer, number) for writer in range(WRITERS) for number in range(COMMITS)}
    versions = Counter(version for answers in told for version in answers)
    assert versions == Counter(range(1, total + 1))
    assert commits_on_disk(root) == list(range(total + 1))
    for answers in told:
        for version, row in answers.items():
            assert rows_of_commit(root, version) == [row]

    table = deltaic.Table(root)
    assert [commit.version for commit in table.history()] == list(range(total, -1, -1))
    rows = table.snapshot().scan().to_arrow().to_pylist()
    assert Counter((row["writer"], row["number"]) for row in rows) == Counter(wanted)
