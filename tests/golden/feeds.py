"""The change feeds of reference tables that delta-spark has read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from .reference import GOLDEN, ORACLE

# Its newest version has a deletion vector with invalid Z85 text; the reference omits it and its feed.
ILLEGAL = "kernel-rs-data/cdf-table-with-dv"


class Feed(NamedTuple):
    """A feed that delta-spark has read."""

    name: str
    first: int
    last: int
    rows: Path
    has_times: bool


def feeds() -> Iterator[Feed]:
    for oracle in sorted(ORACLE.glob("*/*/oracle.json")):
        known = json.loads(oracle.read_text()).get("changes")
        name = "/".join(oracle.parts[-3:-1])
        if known and name != ILLEGAL:
            yield Feed(
                name,
                known["start"],
                known["end"],
                oracle.parent / "changes.parquet",
                known["in_commit_timestamps"],
            )
    for rows in sorted(GOLDEN.glob("delta-spark-fresh/*/expected/changes_*_*")):
        _, first, last = rows.name.split("_")
        yield Feed("/".join(rows.parts[-4:-2]), int(first), int(last), rows, has_times=False)


FEEDS = list(feeds()) if GOLDEN.is_dir() else []


def content(rows: Path) -> pa.Table:
    parts = sorted(rows.glob("*.parquet")) if rows.is_dir() else [rows]
    table = pa.concat_tables([pq.ParquetFile(part).read() for part in parts])
    return table.select([name for name in table.column_names if not name.startswith("schema_of_")])
