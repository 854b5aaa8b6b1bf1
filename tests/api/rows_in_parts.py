"""A table of ten rows in two files and two parts, with the properties that change how rows are replaced."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

import deltaic

SCHEMA = pa.schema([("id", pa.int64()), ("part", pa.string()), ("n", pa.int32())])
VECTORS = {"delta.enableDeletionVectors": "true"}
FEED = {"delta.enableChangeDataFeed": "true"}
TRACKING = {"delta.enableRowTracking": "true"}


def rows(*ids: int, part: str | None = None, n: int | None = None) -> pa.Table:
    parts = [part if part is not None else "ab"[i % 2] for i in ids]
    return pa.table({"id": ids, "part": parts, "n": [n] * len(ids)}, schema=SCHEMA)


def made(root: Path, *, by: list[str] | None = None, **properties: str) -> deltaic.Table:
    """Returns a table of ten rows in two files; even ids are in part a, odd ones in part b."""
    table = deltaic.Table.create(root, SCHEMA, partition_by=by or [], properties=properties)
    table.append(rows(*range(5)))
    table.append(rows(*range(5, 10)))
    return table


def ids(table: deltaic.Table) -> list[int]:
    return sorted(table.snapshot().scan(["id"]).to_arrow()["id"].to_pylist())
