"""Generates tables of some megabytes quickly, healthy and damaged, in any size."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

from tests.protocol import handmade_log as log

from . import broken

Maker = Callable[[Path, int], None]
"""Writes a table with the given number of files, commits or lines into a folder."""

STATS = json.dumps({"numRecords": 10, "minValues": {"id": 1}, "maxValues": {"id": 9}, "nullCount": {"id": 0}})
START = [log.protocol(), log.metadata(broken.SCHEMA_STRING, ["day"])]


def added(number: int, day: str = "2026-11-05") -> log.Action:
    """Returns an add with a unique path, so that it does not compress."""
    name = hashlib.sha256(str(number).encode()).hexdigest()
    return log.add(f"day={day}/part-{name}.parquet", values={"day": day}, stats=STATS)


def started(root: Path) -> log.HandmadeTable:
    table = log.HandmadeTable(root)
    table.commit(*START)
    return table


def one_commit(root: Path, number: int) -> None:
    started(root).commit(*map(added, range(number)))


def many_commits(root: Path, number: int) -> None:
    table = started(root)
    for version in range(1, number):
        table.commit({"commitInfo": {"operation": "WRITE"}}, added(version), added(number + version))


def checkpoint(root: Path, number: int) -> None:
    """A checkpoint that replaces all commits, and one more commit."""
    table = started(root)
    table.checkpoint(0, [*START, *map(added, range(number))])
    table.commit({"commitInfo": {}})
    log.commit_path(root, 0).unlink()


def long_partition_values(root: Path, number: int) -> None:
    """Each file has a partition value of two kilobytes."""
    table = log.HandmadeTable(root)
    text = log.schema(
        log.field("id"), log.field("name", "string", nullable=False), log.field("day", "string")
    )
    table.commit(log.protocol(), log.metadata(text, ["day"]))
    table.commit(*(added(file, f"{file:02000}") for file in range(number)))


def tombstones(root: Path, number: int) -> None:
    """Files that are added and removed again."""
    table = started(root)
    table.commit(*map(added, range(number)))
    table.commit(*(log.remove(added(file)["add"]["path"]) for file in range(number)))


def broken_lines(root: Path, number: int) -> None:
    """Every second line has the same damage."""
    lines = (
        json.dumps(added(line)) + "\n" + '{"add":{"path":"' + "x" * 100 + '"}}\n' for line in range(number)
    )
    started(root).commit_bytes("".join(lines).encode())


def file_twice_at_the_end(root: Path, number: int) -> None:
    started(root).commit(*map(added, range(number)), added(0))


def nearly_named(root: Path, number: int) -> None:
    """Log files with names similar to those of commits."""
    table = started(root)
    table.commit(*map(added, range(number)))
    for file in range(number):
        (table.log / f"{file}.json").write_text("{}\n")


def broken_checkpoints(root: Path, number: int) -> None:
    """An unreadable checkpoint for each commit."""
    many_commits(root, number)
    for version in range(1, number):
        (root / "_delta_log" / f"{version:020}.checkpoint.parquet").write_bytes(
            b"PAR1" + b"\xee" * 500 + b"PAR1"
        )
