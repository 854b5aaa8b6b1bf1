"""Tables with a deletion vector."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pyarrow.parquet as pq

from tests.protocol.handmade_log import ONE_LONG, HandmadeTable, add, ids, metadata
from tests.protocol.handmade_vectors import FEATURE, without


def with_vector(root: Path, rows: int, deleted: Iterable[int]) -> HandmadeTable:
    """Returns a table of one file with several row groups and a deletion vector."""
    made = HandmadeTable(root)
    made.commit(FEATURE, metadata(ONE_LONG))
    pq.write_table(ids(*range(rows)), made.root / "a.parquet", row_group_size=3_000)
    size = (made.root / "a.parquet").stat().st_size
    made.commit(add("a.parquet", size=size, **without(*deleted)))
    return made
