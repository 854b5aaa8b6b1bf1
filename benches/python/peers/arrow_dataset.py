"""pyarrow: `pyarrow.dataset` over the data files, whose names were read from the log before.

It does not support Delta, so it is not measured with deletion vectors or column mapping.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from peers import Call, rows_answer
from predicates import COUNT, SCANS, Query

if TYPE_CHECKING:
    import pyarrow as pa


def live_files(uri: str) -> list[str]:
    """Returns the files that version 0 adds."""
    import pyarrow.dataset  # noqa: F401 - outside of the measured time

    lines = (Path(uri) / "_delta_log" / f"{0:020}.json").read_text(encoding="utf-8").splitlines()
    actions = [json.loads(line) for line in lines]
    return [f"{uri}/{action['add']['path']}" for action in actions if "add" in action]


def dataset(files: list[str]) -> Any:
    """Returns the files as one dataset; partition values come from their paths."""
    import pyarrow.dataset as ds

    return ds.dataset(files, format="parquet", partitioning="hive")


def scanning(query: Query) -> Call:
    """Opens the files and reads rows."""

    def batches(files: list[str]) -> Iterable[pa.RecordBatch]:
        import pyarrow.dataset as ds

        rows = dataset(files)
        return rows.to_batches(columns=query.names(), filter=query.condition(ds.field))

    return Call.of_rows(batches, live_files)


CALLS = {name: scanning(query) for name, query in SCANS.items()}
CALLS[COUNT] = Call(lambda files: dataset(files).count_rows(), rows_answer, live_files)
