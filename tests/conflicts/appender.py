"""A writer of its own process: appends one row a commit and says so after each.

`python appender.py TABLE WRITER COMMITS [OPTIONS]` prints ``ready``, waits for a line, then prints
``<version> <number> <winners> <seconds>`` after each append has returned: how many versions others won
meanwhile, and how long it took. With -1 commits it goes on until it is killed. The options are those of the
table's store, as JSON.
"""

from __future__ import annotations

import itertools
import json
import sys
import time

import pyarrow as pa

import deltaic

SCHEMA = pa.schema([pa.field("writer", pa.int32()), pa.field("number", pa.int32())])


def main(uri: str, writer: int, commits: int, options: dict[str, str]) -> None:
    table = deltaic.Table(uri, storage_options=options)
    print("ready", flush=True)
    sys.stdin.readline()
    numbers = itertools.count() if commits < 0 else range(commits)
    for number in numbers:
        rows = pa.table({"writer": [writer], "number": [number]}, SCHEMA)
        begun = time.perf_counter()
        commit = table.append(rows)
        seconds = time.perf_counter() - begun
        print(commit.version, number, len(commit.conflicts_resolved), seconds, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), json.loads((sys.argv[4:] or ["{}"])[0]))
