"""Row ids and row commit versions of every table with row tracking, as delta-spark reads them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic

from .opening import needs_golden
from .reference import GOLDEN, reference
from .rows import difference

EXPECTED = sorted(GOLDEN.glob("delta-spark-fresh/*/expected/row_ids*")) if GOLDEN.is_dir() else []


@needs_golden
def test_there_are_such_tables() -> None:
    assert len(EXPECTED) >= 4


@needs_golden
@pytest.mark.parametrize("rows", EXPECTED, ids=lambda rows: f"{rows.parts[-3]}:{rows.name}")
def test_row_ids(rows: Path) -> None:
    """Materialized ids if the file contains them, default ids otherwise.

    protocol: reader-requirements-for-row-tracking.2, reader-requirements-for-row-tracking.3,
    protocol: reader-requirements-for-row-tracking.4, reader-requirements-for-row-tracking.6,
    protocol: reader-requirements-for-row-tracking.7, reader-requirements-for-row-tracking.8
    """
    _, _, version = rows.name.partition("_v")
    table = deltaic.Table(reference("/".join(rows.parts[-4:-2])).folder)
    snapshot = table.snapshot(version=int(version)) if version else table.snapshot()
    expected = pa.concat_tables([pq.ParquetFile(part).read() for part in sorted(rows.glob("*.parquet"))])
    names = {"row_id": "_row_id", "row_commit_version": "_row_commit_version"}
    expected = expected.rename_columns([names.get(name, name) for name in expected.column_names])
    actual = snapshot.scan(row_ids=True).to_arrow()
    assert actual.column_names[-2:] == ["_row_id", "_row_commit_version"]
    assert difference(actual.select(expected.column_names), expected) is None
    ids = actual["_row_id"].to_pylist()
    assert len(set(ids)) == len(ids)
    # Each task is read separately, which also works in another process.
    tasks = snapshot.scan(expected.column_names[:1], row_ids=True).tasks()
    apart = [number for task in tasks for number in task.read().read_all()["_row_id"].to_pylist()]
    assert sorted(apart) == sorted(ids)
