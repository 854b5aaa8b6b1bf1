"""daft: `read_deltalake`, which returns rows as a stream of Arrow batches."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from peers import Call, importing, rows_answer
from predicates import COUNT, SCANS, Query

if TYPE_CHECKING:
    import pyarrow as pa

os.environ["DAFT_PROGRESS_BAR"] = "0"
IMPORTED = importing("deltalake", "pyarrow")


def scanning(query: Query) -> Call:
    """Opens the table and reads rows."""

    def batches(uri: str) -> Iterable[pa.RecordBatch]:
        import daft

        rows: Any = daft.read_deltalake(uri, version=query.version)
        condition = query.condition(daft.col)
        if condition is not None:
            rows = rows.where(condition)
        if query.columns is not None:
            rows = rows.select(*query.columns)
        return rows.to_arrow_iter()

    return Call.of_rows(batches, IMPORTED)


def count(uri: str) -> int:
    """Opens the table and counts its rows."""
    import daft

    return daft.read_deltalake(uri).count_rows()


CALLS = {name: scanning(query) for name, query in SCANS.items()}
CALLS[COUNT] = Call(count, rows_answer, IMPORTED)
