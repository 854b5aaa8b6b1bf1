"""Headings *Checkpoint Schema* and *Multi-part checkpoint*: the Parquet files that deltaic writes."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic

SCHEMA = pa.schema([("id", pa.int64())])


@pytest.mark.parametrize("vectors", [True, False])
def test_features_are_listed_only_at_versions_3_and_7(tmp_path: Path, vectors: bool) -> None:
    """protocol: checkpoint-schema.2, checkpoint-schema.3, checkpoint-schema.4."""
    root = tmp_path / "t"
    properties = {"delta.enableDeletionVectors": "true"} if vectors else {}
    table = deltaic.Table.create(root, SCHEMA, properties=properties)
    path = root / table.checkpoint().path
    rows = pq.read_table(path, columns=["protocol"])["protocol"].to_pylist()
    [needs] = [row for row in rows if row is not None and row["minReaderVersion"] is not None]
    if vectors:
        assert (needs["minReaderVersion"], needs["minWriterVersion"]) == (3, 7)
        assert needs["readerFeatures"] == ["deletionVectors"]
        assert "deletionVectors" in needs["writerFeatures"]
    else:
        assert needs["minReaderVersion"] < 3
        assert needs["minWriterVersion"] < 7
        assert needs.get("readerFeatures") is None
        assert needs.get("writerFeatures") is None


def test_a_classic_checkpoint_is_one_file(tmp_path: Path) -> None:
    """protocol: multi-part-checkpoint.1."""
    root = tmp_path / "t"
    table = deltaic.Table.create(root, SCHEMA)
    for number in range(3):
        table.append(pa.table({"id": [number]}))
    table.checkpoint()
    found = [path.name for path in (root / "_delta_log").glob("*.checkpoint*")]
    assert found == [f"{3:020}.checkpoint.parquet"]
