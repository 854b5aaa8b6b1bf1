"""polars: `scan_delta` with its streaming engine, batch by batch in its own frames.

This is its fastest way. Converting a frame to Arrow costs more, `collect()` returns one frame and holds the
whole table, and `scan_parquet` over the same files is as fast.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from peers import Call, importing, rows_answer
from predicates import COUNT, SCANS, Query

if TYPE_CHECKING:
    import pyarrow as pa

IMPORTED = importing("deltalake", "pyarrow")


def frames(uri: str, query: Query) -> Iterable[Any]:
    """Returns the rows."""
    import polars as pl

    rows = pl.scan_delta(uri, version=query.version)
    condition = query.condition(pl.col)
    if condition is not None:
        rows = rows.filter(condition)
    if query.columns is not None:
        rows = rows.select(query.columns)
    return rows.collect_batches(maintain_order=False, engine="streaming")


def scanning(query: Query) -> Call:
    """Opens the table and reads rows."""

    def batches(uri: str) -> Iterator[pa.Table]:
        return (frame.to_arrow() for frame in frames(uri, query))

    return Call.of_rows(batches, IMPORTED, timed=lambda uri: frames(uri, query))


def count(uri: str) -> int:
    """Opens the table and counts its rows."""
    import polars as pl

    return pl.scan_delta(uri).select(pl.len()).collect(engine="streaming").item()


CALLS = {name: scanning(query) for name, query in SCANS.items()}
CALLS[COUNT] = Call(count, rows_answer, IMPORTED)
