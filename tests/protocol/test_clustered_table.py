"""Heading *Clustered Table*: the features of clustered tables."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import deltaic
from deltaic.alter import ClusterBy
from tests.api.log_files import of_kind

SCHEMA = pa.schema([("id", pa.int64())])


@pytest.mark.parametrize("when", [0, 1], ids=["at creation", "later"])
def test_clustering_needs_two_features(tmp_path: Path, when: int) -> None:
    """protocol: clustered-table.1, clustered-table.2, clustered-table.3."""
    root = tmp_path / "t"
    table = deltaic.Table.create(root, SCHEMA, cluster_by=[] if when else ["id"])
    if when:
        table.alter(ClusterBy("id"))
    [needs] = of_kind(root, when, "protocol")
    assert needs["minWriterVersion"] == 7
    assert {"clustering", "domainMetadata"} <= set(needs["writerFeatures"])


def test_a_partitioned_table_is_not_clustered(tmp_path: Path) -> None:
    """protocol: clustered-table.3."""
    root = tmp_path / "t"
    table = deltaic.Table.create(root, SCHEMA.append(pa.field("p", pa.string())), partition_by=["p"])
    with pytest.raises(deltaic.SchemaMismatch, match="clustered and partitioned at once"):
        table.alter(ClusterBy("id"))
    assert table.snapshot().version == 0
