"""Tables that several modules read."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import deltaic


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Path of the test's table; the folder does not exist yet."""
    return tmp_path / "table"


@pytest.fixture
def numbers(root: Path) -> deltaic.Table:
    """Three versions: empty, ids 0 to 2, ids 3 to 5; unpartitioned, columns id and name."""
    schema = pa.schema([("id", pa.int64()), ("name", pa.string())])
    table = deltaic.Table.create(root, schema)
    table.append(pa.table({"id": [0, 1, 2], "name": ["zero", "one", None]}, schema=schema))
    table.append(pa.table({"id": [3, 4, 5], "name": ["three", "four", "five"]}, schema=schema))
    return table


@pytest.fixture
def regions(root: Path) -> deltaic.Table:
    """Partitioned by region (EU, US and NULL): one file each, ids 1 to 6."""
    schema = pa.schema([("region", pa.string()), ("id", pa.int64())])
    table = deltaic.Table.create(root, schema, partition_by=["region"])
    table.append(
        pa.table({"region": ["EU", "US", None, "EU", "US", "EU"], "id": [1, 2, 3, 4, 5, 6]}, schema=schema)
    )
    return table
