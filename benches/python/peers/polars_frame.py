"""polars: `scan_delta` with its streaming engine, batch by batch in its own frames.

This is its fastest way. Converting a frame to Arrow costs more, `collect()` returns one frame and holds the
whole table, and `scan_parquet` over the same files is as fast.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from peers import Call, importing, rows_answer
from questions import COUNT, SCANS, Question

if TYPE_CHECKING:
    import pyarrow as pa

IMPORTED = importing("deltalake", "pyarrow")


def frames(uri: str, question: Question) -> Iterable[Any]:
    """Returns the rows."""
    import polars as pl

    rows = pl.scan_delta(uri, version=question.version)
    condition = question.condition(pl.col)
    if condition is not None:
        rows = rows.filter(condition)
    if question.columns is not None:
        rows = rows.select(question.columns)
    return rows.collect_batches(maintain_order=False, engine="streaming")


def scanning(question: Question) -> Call:
    """Opens the table and reads rows."""

    def batches(uri: str) -> Iterator[pa.Table]:
        return (frame.to_arrow() for frame in frames(uri, question))

    return Call.of_rows(batches, IMPORTED, timed=lambda uri: frames(uri, question))


def count(uri: str) -> int:
    """Opens the table and counts its rows."""
    import polars as pl

    return pl.scan_delta(uri).select(pl.len()).collect(engine="streaming").item()


CALLS = {name: scanning(question) for name, question in SCANS.items()}
CALLS[COUNT] = Call(count, rows_answer, IMPORTED)
