"""polars as in `peers.polars_frame`, with each frame converted to Arrow, the format of all others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from peers import Call
from peers.polars_frame import IMPORTED, frames
from questions import SCANS, Question

if TYPE_CHECKING:
    import pyarrow as pa


def scanning(question: Question) -> Call:
    """Opens the table and reads rows."""

    def batches(uri: str) -> Iterator[pa.Table]:
        return (frame.to_arrow() for frame in frames(uri, question))

    return Call.of_rows(batches, IMPORTED)


CALLS = {name: scanning(question) for name, question in SCANS.items()}
