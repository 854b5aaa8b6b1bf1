"""Files that are rewritten beside files that are removed whole: of which some rows were deleted before."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import deltaic
from deltaic import alter

VECTORS = {"delta.enableDeletionVectors": "true"}


def two_files(root: Path, properties: dict[str, str]) -> deltaic.Table:
    schema = pa.schema([("id", pa.int64()), ("v", pa.int64())])
    table = deltaic.Table.create(root, schema, properties={**VECTORS, **properties})
    for start in (0, 10):
        ids = list(range(start, start + 10))
        table.append(pa.table({"id": ids, "v": ids}, schema))
    table.delete("id = 0 OR id = 19")
    return table


def ids(table: deltaic.Table) -> list[int]:
    return sorted(table.to_arrow()["id"].to_pylist())


@pytest.mark.parametrize("feed", ["true", "false"])
@pytest.mark.parametrize("vectors", ["true", "false"])
def test_deleted_rows_stay_deleted(root: Path, vectors: str, feed: str) -> None:
    """All rows that are left of the first file match, and two of the second."""
    for verb in ("delete", "update", "merge"):
        table = two_files(root / verb, {"delta.enableChangeDataFeed": feed})
        table.alter(alter.SetProperties({"delta.enableDeletionVectors": vectors}))
        if verb == "delete":
            commit = table.delete("id < 12")
            assert ids(table) == list(range(12, 19))
        elif verb == "update":
            commit = table.update({"v": "v + 100"}, "id < 12")
            assert ids(table) == list(range(1, 19))
        else:
            source = pa.table({"key": range(12)})
            merge = table.merge(source, "target.id = source.key")
            commit = merge.when_matched_update({"v": "target.v + 100"}).execute()
            assert ids(table) == list(range(1, 19))
        if verb != "delete":
            assert sorted(table.to_arrow()["v"].to_pylist()) == [*range(12, 19), *range(101, 112)]
        if feed == "true":
            changed = table.changes(commit.version, commit.version).to_arrow()
            assert set(changed["id"].to_pylist()) == set(range(1, 12))
            assert changed.num_rows == (11 if verb == "delete" else 22)


def test_rows_that_do_not_compress_are_written_in_little_memory(root: Path) -> None:
    """A row group that ended is being sent: its memory is free when that is done."""
    rows = pa.table(
        {
            "id": range(4_000),
            "bytes": [bytes((n * n + k * n) % 251 for k in range(600)) for n in range(4_000)],
        }
    )
    table = deltaic.Table.create(
        root, rows.schema, properties={"delta.parquet.compression.codec": "uncompressed"}
    )
    table.append(rows, memory=1 << 20)
    assert table.to_arrow().num_rows == 4_000
