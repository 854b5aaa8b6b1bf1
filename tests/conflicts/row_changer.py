"""A process that appends, deletes and updates rows of one table, and prints each of its commits.

`row_changer TABLE WRITER COMMITS` prints ``ready``, waits for a line, then prints a line of JSON after each
verb: ``{"verb", "version", "conflicts"}``, or ``{"verb", "raised"}`` after a conflict. `version` is null if
no row matched.
"""

from __future__ import annotations

import json
import random
import sys
from typing import Any

import pyarrow as pa

import deltaic
from tests.seed import generator

SCHEMA = pa.schema([("id", pa.int64()), ("k", pa.int32()), ("n", pa.int64())])
KEYS = 12


def random_verb(chance: random.Random, writer: int, number: int) -> dict[str, Any]:
    """Returns a verb as JSON."""
    kind = chance.choice(["append", "delete", "update", "update"])
    if kind == "append":
        first = writer * 1_000_000 + number * 100
        rows = [[first + i, chance.randrange(KEYS), 0] for i in range(chance.randint(1, 4))]
        return {"kind": kind, "rows": rows}
    return {"kind": kind, "k": chance.randrange(KEYS), "least": chance.choice([0, 0, 1, 3])}


def run(table: deltaic.Table, verb: dict[str, Any]) -> deltaic.Commit:
    """Runs a verb."""
    if verb["kind"] == "append":
        rows = [dict(zip(SCHEMA.names, row, strict=True)) for row in verb["rows"]]
        return table.append(pa.Table.from_pylist(rows, SCHEMA))
    where = f"k = {verb['k']} AND n >= {verb['least']}"
    if verb["kind"] == "delete":
        return table.delete(where)
    return table.update({"n": "n + 1", "k": "k + 1"}, where)


def main(uri: str, writer: int, commits: int) -> None:
    table = deltaic.Table(uri)
    chance = generator("row changes", writer)
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(commits):
        verb = random_verb(chance, writer, number)
        report: dict[str, Any] = {"verb": verb}
        try:
            commit = run(table, verb)
        except deltaic.CommitConflict as error:
            report["raised"] = type(error).__name__
        else:
            report["version"] = None if commit.skipped else commit.version
            report["conflicts"] = len(commit.conflicts_resolved)
        print(json.dumps(report), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
