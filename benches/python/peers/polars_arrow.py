"""polars as in `peers.polars_frame`, with each frame converted to Arrow, the format of all others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from peers import Call
from peers.polars_frame import IMPORTED, frames
from predicates import SCANS, Query

if TYPE_CHECKING:
    import pyarrow as pa


def scanning(query: Query) -> Call:
    """Opens the table and reads rows."""

    def batches(uri: str) -> Iterator[pa.Table]:
        return (frame.to_arrow() for frame in frames(uri, query))

    return Call.of_rows(batches, IMPORTED)


CALLS = {name: scanning(query) for name, query in SCANS.items()}
