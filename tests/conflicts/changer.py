"""Runs a verb in a fork, which may be killed at a step."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

import deltaic

MEMORY = 1 << 20
SCHEMA = pa.schema([("id", pa.int64()), ("part", pa.string()), ("n", pa.int32())])
NEW = [{"id": 100 + i, "part": "ab"[i % 2], "n": i} for i in range(4)]
CHANGES = [
    {"id": 1, "part": "b", "n": -1},
    {"id": 3, "part": "c", "n": 30},
    {"id": 6, "part": "a", "n": 60},
    *NEW,
]
"""A source of a merge that deletes the row of a negative `n`, and updates or inserts the others."""


def new_rows() -> pa.Table:
    return pa.Table.from_pylist(NEW, SCHEMA)


def merge(table: deltaic.Table, *, spills: bool) -> deltaic.Commit:
    """Merges `CHANGES`; rows that exceed their share of the memory wait in temporary files."""
    source = pa.Table.from_pylist(CHANGES, SCHEMA)
    if spills:
        source = source.append_column("large", pa.array(["x" * (MEMORY // 8)] * len(CHANGES)))
    ready = (
        table.merge(source, "target.id = source.id")
        .when_matched_delete("source.n < 0")
        .when_matched_update_all()
        .when_not_matched_insert_all()
    )
    return ready.execute(memory=MEMORY if spills else None)


VERBS: dict[str, Callable[[deltaic.Table], object]] = {
    "append": lambda table: table.append(new_rows()),
    "overwrite": lambda table: table.overwrite(new_rows(), "id >= 6"),
    "delete": lambda table: table.delete("n = 1 OR id = 9"),
    "update": lambda table: table.update({"n": "n + 10", "part": "'c'"}, "n < 2 AND id > 0"),
    "optimize": lambda table: table.optimize(),
    "merge": lambda table: merge(table, spills=False),
    "merge of large rows": lambda table: merge(table, spills=True),
}
"""Each verb changes a part of the files of `rows_before`, some of them as a whole; `optimize` changes
no row."""


def main(root: str, verb: str) -> None:
    VERBS[verb](deltaic.Table(root))
