"""A fork that changes rows of one table, optimizes it, and prints each of its commits.

It prints ``ready``, waits for a line, then prints a line of JSON after each verb: ``{"verb", "version",
"conflicts"}``, or ``{"verb", "raised"}`` after a conflict. `version` is null if no row matched.
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
    kind = chance.choice(["append", "delete", "update", "update", "merge", "merge", "optimize"])
    # No id of a row occurs twice: the table begins with smaller ones.
    first = (writer + 1) * 1_000_000 + number * 100
    if kind == "merge":
        keys = chance.sample(range(KEYS), chance.randint(1, 3))
        rows = [[first + i, k, chance.choice([-1, 1, 2])] for i, k in enumerate(keys)]
        return {"kind": kind, "rows": rows}
    if kind == "append":
        rows = [[first + i, chance.randrange(KEYS), 0] for i in range(chance.randint(1, 4))]
        return {"kind": kind, "rows": rows}
    if kind == "optimize":
        return {"kind": kind}
    return {"kind": kind, "k": chance.randrange(KEYS), "least": chance.choice([0, 0, 1, 3])}


def run(table: deltaic.Table, verb: dict[str, Any]) -> deltaic.Commit:
    """Runs a verb."""
    if verb["kind"] == "optimize":
        return table.optimize()
    if "rows" in verb:
        rows = [dict(zip(SCHEMA.names, row, strict=True)) for row in verb["rows"]]
        source = pa.Table.from_pylist(rows, SCHEMA)
        return table.append(source) if verb["kind"] == "append" else merge(table, source)
    where = f"k = {verb['k']} AND n >= {verb['least']}"
    if verb["kind"] == "delete":
        return table.delete(where)
    return table.update({"n": "n + 1", "k": "k + 1"}, where)


def merge(table: deltaic.Table, source: pa.Table) -> deltaic.Commit:
    """Deletes the rows of a key with a negative `n`, adds `n` to other rows, and inserts missing keys."""
    ready = (
        table.merge(source, "target.k = source.k")
        .when_matched_delete("source.n < 0")
        .when_matched_update({"n": "target.n + source.n"})
        .when_not_matched_insert_all()
    )
    return ready.execute()


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
