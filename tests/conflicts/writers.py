"""Starts the forks of `appender.py`, and reads a log without the reader under test."""

from __future__ import annotations

import io
import json
import os
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq

from .forks import Fork

Told = dict[int, tuple[int, int]]
"""The acknowledged commits of a writer: version and row of each."""

Reader = Callable[[str], "bytes | None"]
"""Returns the bytes of a table's file by relative path; None if it does not exist."""


def asked_for(name: str, usual: int) -> int:
    """Returns a test size: `make races` sets a larger one than `make test`, by the environment."""
    return int(os.environ.get(name) or usual)


class Append(NamedTuple):
    """An acknowledged append."""

    version: int
    number: int
    winners: int
    """Number of versions that other writers committed during the append."""
    seconds: float


class Writer(Fork):
    """A fork that appends; `go` starts it."""

    appends: Sequence[Append] = ()
    """Its acknowledged appends, in order; set after it has ended."""

    raised: Sequence[str] = ()
    """The exception classes of its appends; set after it has ended."""

    def __init__(
        self,
        root: Path | str,
        writer: int,
        commits: int,
        options: dict[str, str] | None = None,
        environment: dict[str, str] | None = None,
        *,
        library: Path | None = None,
        has_next: bool = False,
    ) -> None:
        self.writer = writer
        super().__init__(
            "appender",
            str(root),
            writer,
            commits,
            options,
            has_next,
            environment=environment,
            library=library,
        )

    def acknowledged(self) -> Told:
        """Waits for the end; returns the output: version -> (writer, number)."""
        return self._told(self.end())

    def _told(self, text: str) -> Told:
        # A killed process may have printed an incomplete line.
        lines = [line.split() for line in text.splitlines(keepends=True) if line.endswith("\n")]
        self.raised = [line[1] for line in lines if line[0] == "raised"]
        lines = [line for line in lines if line[0] != "raised"]
        self.appends = [
            Append(int(version), int(number), int(winners), float(seconds))
            for version, number, winners, seconds in lines
        ]
        return {append.version: (self.writer, append.number) for append in self.appends}


def race(
    root: Path | str,
    writers: int,
    commits: int,
    options: dict[str, str] | None = None,
    environment: dict[str, str] | None = None,
    *,
    library: Path | None = None,
) -> list[Told]:
    """Runs writers concurrently, each with a number of appends; returns their commits. None may fail."""
    racing = start_race(root, writers, commits, options, environment, library=library)
    told = [writer.acknowledged() for writer in racing]
    assert [writer.returncode for writer in racing] == [0] * writers
    return told


def start_race(
    root: Path | str,
    writers: int,
    commits: int,
    options: dict[str, str] | None = None,
    environment: dict[str, str] | None = None,
    *,
    library: Path | None = None,
) -> list[Writer]:
    """Starts writers concurrently, each with a number of appends."""
    racing = [
        Writer(root, number, commits, options, environment, library=library) for number in range(writers)
    ]
    for writer in racing:
        writer.wait_until_ready()
    for writer in racing:
        writer.go()
    return racing


def landed_once(told: list[Told], commits: int, read: Reader) -> None:
    """Asserts that each commit of a race is a version, and the only one with its row."""
    total = len(told) * commits
    versions = Counter(version for answers in told for version in answers)
    assert versions == Counter(range(1, total + 1))
    assert read(commit_path(total + 1)) is None
    for answers in told:
        for version, row in answers.items():
            assert rows_of_commit(read, version) == [row]
    rows = Counter(row for answers in told for row in answers.values())
    assert rows == Counter((writer, number) for writer in range(len(told)) for number in range(commits))


def commit_path(version: int) -> str:
    """Returns the path of a version's commit, relative to the table's root."""
    return f"_delta_log/{version:020}.json"


def on_disk(root: Path) -> Reader:
    """Returns a reader for a table in a folder."""
    return lambda path: (root / path).read_bytes() if (root / path).exists() else None


def commits_on_disk(root: Path) -> list[int]:
    """Returns the versions of the commits in the log, in order."""
    names = [path.name for path in (root / "_delta_log").glob("*.json")]
    return sorted(
        int(name.removesuffix(".json")) for name in names if len(name) == 25 and name[:20].isdigit()
    )


def rows_of_commit(read: Reader, version: int) -> list[tuple[int, int]]:
    """Returns the rows of the files that a commit added."""
    commit = read(commit_path(version))
    assert commit is not None, version
    actions: list[dict[str, Any]] = [json.loads(line) for line in commit.splitlines()]
    rows: list[tuple[int, int]] = []
    for action in actions:
        if "add" in action:
            file = read(action["add"]["path"])
            assert file is not None, action
            table = pq.read_table(io.BytesIO(file))
            rows += [(row["writer"], row["number"]) for row in table.to_pylist()]
    return rows
