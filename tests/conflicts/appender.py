"""A writer in a fork: appends one row per commit and reports each.

It prints ``ready``, waits for a line, then prints ``<version> <number> <winners> <seconds>`` after each
append: the number of versions that other writers committed during it, and its duration. With -1 commits it
continues until it is killed. The options are those of the table's store. With `has_next` it prints
``raised <class>`` after a conflict or a `CommitUnknown`, and continues.
"""

from __future__ import annotations

import itertools
import sys
import time

import pyarrow as pa

import deltaic

SCHEMA = pa.schema([pa.field("writer", pa.int32()), pa.field("number", pa.int32())])


def main(
    uri: str, writer: int, commits: int, options: dict[str, str] | None = None, has_next: bool = False
) -> None:
    table = deltaic.Table(uri, storage_options=options or {})
    print("ready", flush=True)
    sys.stdin.readline()
    numbers = itertools.count() if commits < 0 else range(commits)
    for number in numbers:
        rows = pa.table({"writer": [writer], "number": [number]}, SCHEMA)
        begun = time.perf_counter()
        try:
            commit = table.append(rows)
        except (deltaic.CommitConflict, deltaic.CommitUnknown) as error:
            if not has_next:
                raise
            print("raised", type(error).__name__, flush=True)
            continue
        seconds = time.perf_counter() - begun
        print(commit.version, number, len(commit.conflicts_resolved), seconds, flush=True)
