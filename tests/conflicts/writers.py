"""Starts and stops the processes of `appender.py`, and reads a log without the reader under test."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

APPENDER = Path(__file__).with_name("appender.py")


class Writer:
    """A child process that appends; `go` lets it begin."""

    def __init__(self, root: Path, writer: int, commits: int) -> None:
        self.writer = writer
        self.process = subprocess.Popen(
            [sys.executable, str(APPENDER), str(root), str(writer), str(commits)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def wait_until_ready(self) -> None:
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"

    def go(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def acknowledged(self) -> dict[int, tuple[int, int]]:
        """Waits for the end; what was printed: version -> (writer, number)."""
        text, _ = self.process.communicate(timeout=300)
        lines = [line.split() for line in text.splitlines() if line.endswith(tuple("0123456789"))]
        return {int(version): (self.writer, int(number)) for version, number in lines}


def commits_on_disk(root: Path) -> list[int]:
    """The versions whose commits lie in the log, in order."""
    names = [path.name for path in (root / "_delta_log").glob("*.json")]
    return sorted(
        int(name.removesuffix(".json")) for name in names if len(name) == 25 and name[:20].isdigit()
    )


def rows_of_commit(root: Path, version: int) -> list[tuple[int, int]]:
    """The rows of the files that a commit added."""
    lines = (root / "_delta_log" / f"{version:020}.json").read_bytes().splitlines()
    actions: list[dict[str, Any]] = [json.loads(line) for line in lines]
    rows: list[tuple[int, int]] = []
    for action in actions:
        if "add" in action:
            table = pq.read_table(root / action["add"]["path"])
            rows += [(row["writer"], row["number"]) for row in table.to_pylist()]
    return rows
