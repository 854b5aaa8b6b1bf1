"""Reads and writes the log as plain JSON, without deltaic."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


def commit_file(table: Path, version: int) -> Path:
    return table / "_delta_log" / f"{version:020}.json"


def actions(table: Path, version: int) -> list[dict[str, Any]]:
    """Returns the actions of one commit, in order."""
    return [json.loads(line) for line in commit_file(table, version).read_bytes().splitlines()]


def of_kind(table: Path, version: int, kind: str) -> list[dict[str, Any]]:
    """Returns the actions of one kind in one commit: `of_kind(table, 0, "metaData")`."""
    return [action[kind] for action in actions(table, version) if kind in action]


def statistics(table: Path, version: int) -> dict[str, Any]:
    """Returns the statistics of the only file that a commit added."""
    [add] = of_kind(table, version, "add")
    return json.loads(add["stats"])


def write_commit(table: Path, version: int, *lines: dict[str, Any]) -> None:
    """Commits as another writer; fails if the version exists."""
    with commit_file(table, version).open("x") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


def set_commit_time(table: Path, version: int, millis: int) -> None:
    """Sets the modification time of a commit file (ms since the epoch)."""
    os.utime(commit_file(table, version), ns=(millis * 1_000_000, millis * 1_000_000))
