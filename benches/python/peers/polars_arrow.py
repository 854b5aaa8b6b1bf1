"""polars as `peers.polars_frame` has it, each of its frames made Arrow: what all the others give."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from peers import Call
from peers.polars_frame import IMPORTED, frames
from questions import SCANS, Question

if TYPE_CHECKING:
    import pyarrow as pa


def scanning(question: Question) -> Call:
    """Open the table and read rows."""

    def batches(uri: str) -> Iterator[pa.Table]:
        return (frame.to_arrow() for frame in frames(uri, question))

    return Call.of_rows(batches, IMPORTED)


CALLS = {name: scanning(question) for name, question in SCANS.items()}
