"""Heading *VACUUM Protocol Check*: a feature of both lists, which changes nothing but VACUUM."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import deltaic
from deltaic.alter import AddFeature
from tests.api.aged_files import age
from tests.api.log_files import of_kind

from .handmade_log import HandmadeTable, ids, metadata, protocol

NAME = "vacuumProtocolCheck"


@pytest.mark.parametrize("when", ["at creation", "later"])
def test_the_feature_is_in_both_lists_of_versions_3_and_7(tmp_path: Path, when: str) -> None:
    """protocol: vacuum-protocol-check.1, vacuum-protocol-check.2."""
    root = tmp_path / "t"
    schema = pa.schema([("id", pa.int64())])
    if when == "at creation":
        deltaic.Table.create(root, schema, properties={f"delta.feature.{NAME}": "supported"})
        [needs] = of_kind(root, 0, "protocol")
    else:
        deltaic.Table.create(root, schema).alter(AddFeature(NAME))
        [needs] = of_kind(root, 1, "protocol")
    assert (needs["minReaderVersion"], needs["minWriterVersion"]) == (3, 7)
    assert NAME in needs["readerFeatures"]
    assert NAME in needs["writerFeatures"]


def test_a_table_with_the_feature_is_read_and_changed_as_others(tmp_path: Path) -> None:
    """Standard commits remain unaffected."""
    table = HandmadeTable(tmp_path / "t")
    table.commit(protocol(3, 7, [NAME], [NAME]), metadata(), table.data("a.parquet", ids(1, 2)))
    handle = deltaic.Table(table.root)
    handle.append(ids(3))
    handle.delete("id = 1")
    assert sorted(handle.snapshot().scan().to_arrow()["id"].to_pylist()) == [2, 3]
    assert handle.checkpoint().is_new
    assert deltaic.Table(table.root).check().is_healthy


@pytest.mark.parametrize(
    "feature",
    ["fromTheFuture", "icebergWriterCompatV1", "geospatial", "coordinatedCommits", "catalogManaged"],
)
@pytest.mark.parametrize("kind", ["full", "dry run"])
@pytest.mark.parametrize("is_listed", [False, True])
def test_the_protocol_is_checked_before_anything_is_deleted(
    tmp_path: Path, feature: str, kind: str, *, is_listed: bool
) -> None:
    """protocol: writer-requirements-for-vacuum-protocol-check.1."""
    table = HandmadeTable(tmp_path / "t")
    listed = [NAME] if is_listed else []
    for_readers = [feature] if feature in ("geospatial", "catalogManaged") else []
    features = protocol(3, 7, [*listed, *for_readers], [*listed, feature])
    table.commit(features, metadata(), table.data("a.parquet", ids(1, 2)))
    table.data("orphan.parquet", ids(3))
    age(table.root)
    with pytest.raises(deltaic.UnsupportedFeature, match=feature):
        deltaic.Table(table.root).vacuum(dry_run=kind == "dry run")
    assert (table.root / "orphan.parquet").exists()


def test_a_table_with_the_feature_is_vacuumed(tmp_path: Path) -> None:
    """protocol: writer-requirements-for-vacuum-protocol-check.1."""
    table = HandmadeTable(tmp_path / "t")
    properties = {"delta.appendOnly": "true"}
    table.commit(
        protocol(3, 7, [NAME], [NAME, "appendOnly"]),
        metadata(configuration=properties),
        table.data("a.parquet", ids(1, 2)),
    )
    table.data("orphan.parquet", ids(3))
    age(table.root)
    assert deltaic.Table(table.root).vacuum().paths == ["orphan.parquet"]
