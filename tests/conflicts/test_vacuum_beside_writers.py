"""Vacuums beside processes that append, change rows and are killed: no needed file is deleted."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pyarrow as pa

import deltaic
from tests.api.aged_files import age, files_of

from .appender import SCHEMA
from .forks import Fork
from .row_changer import SCHEMA as CHANGED_SCHEMA
from .writers import Writer, asked_for

WRITERS = asked_for("RACE_WRITERS", 8) - 1
"""Beside them this process vacuums the table."""
COMMITS = 12
RETENTION = timedelta(days=1)
"""Shorter than the age of the files that are made older, and longer than any run of these tests."""
VECTORS = {"delta.enableDeletionVectors": "true", "delta.enableChangeDataFeed": "true"}


def vacuum_beside(table: deltaic.Table, forks: Sequence[Fork]) -> list[int]:
    """Starts the forks and vacuums the table until they have ended; returns the numbers of deleted files."""
    for fork in forks:
        fork.wait_until_ready()
    for fork in forks:
        fork.go()
    deleted: list[int] = []
    while not deleted or any(fork.poll() is None for fork in forks):
        deleted.append(table.vacuum(RETENTION, force=True).deleted_files)
    return deleted


def test_appends_are_not_lost(tmp_path: Path, preloaded: Path) -> None:
    """One of the writers is killed before it has committed its third data file."""
    root = tmp_path / "t"
    table = deltaic.Table.create(root, SCHEMA)
    for number in range(3):
        table.append(pa.table({"writer": [9], "number": [number]}, SCHEMA))
    table.overwrite(pa.table({"writer": [9], "number": [7]}, SCHEMA))
    age(root)
    step = {"KILL_AT": "data file named", "KILL_NUMBER": "3"}
    writers = [Writer(root, writer, COMMITS) for writer in range(2)]
    writers.append(Writer(root, 2, -1, environment=step, library=preloaded))
    deleted = vacuum_beside(table, writers)
    told = [row for writer in writers for row in writer.acknowledged().values()]
    assert [writer.returncode for writer in writers] == [0, 0, -signal.SIGKILL]
    assert sum(deleted) == 3
    expected = [(writer, number) for writer in range(2) for number in range(COMMITS)] + [(2, 0), (2, 1)]
    assert sorted(told) == expected
    found = table.snapshot().scan().to_arrow().to_pylist()
    assert sorted((row["writer"], row["number"]) for row in found) == [*expected, (9, 7)]
    age(root)
    table.vacuum()
    assert files_of(root) == set(table.snapshot().files().to_arrow()["path"].to_pylist())
    assert sorted(table.snapshot().scan().to_arrow().to_pylist(), key=str) == sorted(found, key=str)


def test_every_version_within_the_retention_remains(tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = deltaic.Table.create(root, CHANGED_SCHEMA, properties=VECTORS)
    changers = [Fork("row_changer", str(root), writer, COMMITS) for writer in range(WRITERS)]
    vacuum_beside(table, changers)
    for changer in changers:
        assert len(changer.end().splitlines()) == COMMITS
        assert changer.returncode == 0
    newest = table.snapshot().version
    for version in range(newest + 1):
        assert table.snapshot(version=version).scan().count() >= 0
        table.snapshot(version=version).scan().to_arrow()
    table.changes(0).to_arrow()
    rows = table.snapshot().scan().to_arrow().sort_by("id").to_pylist()
    age(root)
    table.vacuum()
    assert table.snapshot().scan().to_arrow().sort_by("id").to_pylist() == rows
    assert table.check(deep=True).is_healthy
