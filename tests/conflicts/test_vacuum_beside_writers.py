"""Vacuums beside processes that append, change rows and are killed: no needed file is deleted."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pyarrow as pa

import deltaic
from tests.api.aged_files import age, files_of

from .appender import SCHEMA
from .row_changer import SCHEMA as CHANGED_SCHEMA
from .writers import asked_for

WRITERS = asked_for("RACE_WRITERS", 8) - 1
"""Beside them this process vacuums the table."""
COMMITS = 12
MINUTE = timedelta(minutes=1)
VECTORS = {"delta.enableDeletionVectors": "true", "delta.enableChangeDataFeed": "true"}


def start(module: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", f"tests.conflicts.{module}", *map(str, arguments)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


def test_appends_are_not_lost(tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = deltaic.Table.create(root, SCHEMA)
    for number in range(3):
        table.append(pa.table({"writer": [9], "number": [number]}, SCHEMA))
    table.overwrite(pa.table({"writer": [9], "number": [7]}, SCHEMA))
    age(root)
    writers = [start("appender", root, writer, COMMITS) for writer in range(2)]
    killed = start("appender", root, 2, -1)
    for process in (*writers, killed):
        go(process)
    vacuumed = 0
    while any(process.poll() is None for process in writers):
        vacuumed += table.vacuum(MINUTE, force=True).deleted_files
        if vacuumed:
            killed.kill()
    for process in writers:
        process.communicate()
        assert process.returncode == 0
    killed.kill()
    killed.communicate()
    assert vacuumed == 3
    found = table.snapshot().scan().to_arrow().to_pylist()
    expected = {(writer, number) for writer in range(2) for number in range(COMMITS)} | {(9, 7)}
    pairs = [(row["writer"], row["number"]) for row in found]
    assert expected <= set(pairs)
    assert len(pairs) == len(set(pairs))
    age(root)
    table.vacuum()
    assert files_of(root) == set(table.snapshot().files().to_arrow()["path"].to_pylist())
    assert sorted(table.snapshot().scan().to_arrow().to_pylist(), key=str) == sorted(found, key=str)


def test_every_version_within_the_retention_remains(tmp_path: Path) -> None:
    root = tmp_path / "t"
    table = deltaic.Table.create(root, CHANGED_SCHEMA, properties=VECTORS)
    writers = [start("row_changer", root, writer, COMMITS) for writer in range(WRITERS)]
    for process in writers:
        go(process)
    while any(process.poll() is None for process in writers):
        table.vacuum(MINUTE, force=True)
    for process in writers:
        text, _ = process.communicate()
        assert process.returncode == 0
        assert len([json.loads(line) for line in text.splitlines()]) == COMMITS
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
