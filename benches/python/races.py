"""Benchmarks concurrent commits of many processes to one table, with deltaic and deltalake.

`races.py [--writers 8] [--commits 500] [--turns 5] [--s3 PYTHON] [--markdown PAGE]`.

Each peer has its own table. The peers alternate, and in each turn every writer makes its share of the
commits, of one row each; the clock runs from when all writers are ready until the last has ended. Before a
time is reported, the log is read without either peer: each commit must be a version, and each row must exist
once.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.parse
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from page_sections import with_section
from race_place import OnDisk, OnS3, Place, moto

PEERS = ("deltaic", "deltalake")
HEADING = "## Concurrent commits"
SCHEMA = pa.schema([pa.field("writer", pa.int32()), pa.field("number", pa.int32())])
TRIES = 1_000_000


@dataclass
class Table:
    """A peer's table, and the duration of its turns."""

    peer: str
    place: Place
    uri: str
    seconds: list[float] = field(default_factory=list)
    failed: str = ""


def appender(peer: str, uri: str, options: dict[str, str]) -> Callable[[pa.Table], None]:
    """Opens a table; returns a function that appends to it."""
    if peer == "deltaic":
        import deltaic

        handle = deltaic.Table(uri, storage_options=options)
        return lambda rows: void(handle.append(rows, max_attempts=TRIES))
    import deltalake

    table = deltalake.DeltaTable(uri, storage_options=options)
    properties = deltalake.CommitProperties(max_commit_retries=TRIES)
    return lambda rows: deltalake.write_deltalake(table, rows, mode="append", commit_properties=properties)


def void(_: object) -> None:
    """Discards a result."""


def write(peer: str, uri: str, writer: int, numbers: range, options: dict[str, str]) -> None:
    """Runs a writer: reports that it is ready, waits for a line, appends."""
    append = appender(peer, uri, options)
    print("ready", flush=True)
    sys.stdin.readline()
    for number in numbers:
        append(pa.table({"writer": [writer], "number": [number]}, SCHEMA))


def create(peer: str, uri: str, options: dict[str, str]) -> None:
    """Creates an empty table, with the peer itself."""
    if peer == "deltaic":
        import deltaic

        deltaic.Table.create(uri, SCHEMA, storage_options=options)
    else:
        import deltalake

        deltalake.DeltaTable.create(uri, SCHEMA, storage_options=options)


def turn(table: Table, writers: int, numbers: range) -> None:
    """Runs one turn: all writers commit concurrently."""
    span = f"{numbers.start}:{numbers.stop}"
    command = [sys.executable, __file__, "--write", table.peer, table.uri]
    options = json.dumps(table.place.options)
    with tempfile.TemporaryFile("w+") as said:
        running = [
            subprocess.Popen(
                [*command, str(writer), span, options],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                text=True,
            )
            for writer in range(writers)
        ]
        for process in running:
            assert process.stdout is not None
            process.stdout.readline()
        begin = time.perf_counter()
        for process in running:
            assert process.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write("go\n")
                process.stdin.flush()
        codes = [process.wait() for process in running]
        table.seconds.append(time.perf_counter() - begin)
        if any(codes):
            said.seek(0)
            last = said.read().strip().splitlines()[-1:]
            table.failed = last[0][:200] if last else "a writer ended without a word"


def wrong(table: Table, writers: int, commits: int) -> str:
    """Returns what is wrong with a table after the race; empty if every commit landed once."""
    if table.failed:
        return table.failed
    total = writers * commits
    rows: Counter[tuple[int, int]] = Counter()
    for number in range(1, total + 1):
        commit = table.place.read(table.uri, f"_delta_log/{number:020}.json")
        if commit is None:
            return f"version {number} of {total} is not there"
        for line in commit.splitlines():
            action = json.loads(line)
            if "add" in action:
                path = urllib.parse.unquote(action["add"]["path"])
                rows.update(rows_of(table.place.read(table.uri, path)))
    if table.place.read(table.uri, f"_delta_log/{total + 1:020}.json") is not None:
        return f"there are more than {total} versions"
    wanted = {(writer, number) for writer in range(writers) for number in range(commits)}
    lost, doubled = len(wanted - rows.keys()), sum(count - 1 for count in rows.values())
    if lost or doubled or rows.keys() != wanted:
        return f"{lost} commits are lost, {doubled} doubled"
    return ""


def rows_of(file: bytes | None) -> Iterator[tuple[int, int]]:
    """Yields the rows of a data file; none if the file does not exist."""
    if file is not None:
        for row in pq.ParquetFile(pa.BufferReader(file)).read(use_threads=False).to_pylist():
            yield row["writer"], row["number"]


def race(place: Place, writers: int, commits: int, turns: int) -> list[Table]:
    """Races the peers in turns, and verifies the tables."""
    tables = [Table(peer, place, place.fresh(peer)) for peer in PEERS]
    for table in tables:
        create(table.peer, table.uri, place.options)
    edges = [commits * number // turns for number in range(turns + 1)]
    for begin, end in itertools.pairwise(edges):
        for table in tables:
            if not table.failed:
                turn(table, writers, range(begin, end))
    for table in tables:
        table.failed = wrong(table, writers, commits)
        what = table.failed or f"{writers * commits} commits landed, none is lost and none doubled"
        print(f"{place.name}: {table.peer} {version(table.peer)}: {what}", flush=True)
    return tables


def line_of(tables: list[Table], writers: int, commits: int) -> str:
    """Returns a line of the page."""
    rates = [None if table.failed else writers * commits / sum(table.seconds) for table in tables]
    cells = [
        f"{rate:.0f}" if rate is not None else f"wrong: {table.failed}"
        for rate, table in zip(rates, tables, strict=True)
    ]
    ours, theirs = rates
    times = f"{ours / theirs:.1f}" if ours is not None and theirs is not None else ""
    return f"| {writers} × {commits} {tables[0].place.name} | {' | '.join(cells)} | {times} |"


def main() -> int:
    """Races, and writes the section of the page; returns 1 if a commit of deltaic is lost or duplicated."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--commits", type=int, default=500, help="of each writer, on the local disk")
    parser.add_argument("--s3-commits", type=int, default=100, help="of each writer, on S3")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument(
        "--s3", type=Path, metavar="PYTHON", help="race on S3 too, with the moto of this Python"
    )
    parser.add_argument("--markdown", type=Path)
    parser.add_argument(
        "--write", nargs=5, metavar=("PEER", "URI", "WRITER", "BEGIN:END", "OPTIONS"), help="be a writer"
    )
    asked = parser.parse_args()
    if asked.write:
        peer, uri, writer, span, options = asked.write
        begin, end = span.split(":")
        write(peer, uri, int(writer), range(int(begin), int(end)), json.loads(options))
        sys.stdout.flush()
        os._exit(0)  # a peer whose threads are still busy may crash while the interpreter ends
    lines: list[str] = []
    failed = False
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        places: list[tuple[Place, int]] = [(OnDisk(folder), asked.commits)]
        if asked.s3:
            port = stack.enter_context(moto(asked.s3, folder))
            places.append((OnS3(port), asked.s3_commits))
        for place, commits in places:
            tables = race(place, asked.writers, commits, asked.turns)
            failed = failed or bool(tables[0].failed)
            lines.append(line_of(tables, asked.writers, commits))
    releases = ", ".join(f"{peer} {version(peer)}" for peer in PEERS)
    turns = "one turn" if asked.turns == 1 else f"{asked.turns} turns"
    head = [
        HEADING,
        "",
        f"Concurrent processes that append one row in each commit to one table, in {turns}; {releases}. "
        "Commits per second of all writers; each commit was found in the log exactly once.",
        "",
        "| commits | deltaic | deltalake | times as many |",
        "|---|---|---|---|",
    ]
    section = "\n".join([*head, *lines]) + "\n"
    print("\n" + section)
    if asked.markdown and not failed:
        before = asked.markdown.read_text(encoding="utf-8")
        asked.markdown.write_text(with_section(before, HEADING, section), encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
