"""Headings *Iceberg Compatibility V1* and *V2*: which protocol and which other features they need."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic
from deltaic.alter import AddFeature, SetProperties
from tests.api.log_files import of_kind, statistics

ROWS = pa.table({"id": [1, 2, 3]})
MAPPED = {"delta.columnMapping.mode": "name"}


def enabled(compat: int) -> dict[str, str]:
    return {f"delta.enableIcebergCompatV{compat}": "true"}


def ensure_supported(needs: dict[str, Any], compat: int) -> None:
    """Checks a protocol action."""
    is_mapped = needs["minReaderVersion"] == 2 or "columnMapping" in needs["readerFeatures"]
    assert is_mapped
    assert needs["minWriterVersion"] == 7
    assert {"columnMapping", f"icebergCompatV{compat}"} <= set(needs["writerFeatures"])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "t"


@pytest.mark.parametrize("compat", [1, 2])
@pytest.mark.parametrize("mode", ["name", "id"])
def test_a_new_table_has_the_features(root: Path, compat: int, mode: str) -> None:
    """With either mode of column mapping.

    protocol: iceberg-compatibility-v1.1, iceberg-compatibility-v1.2, iceberg-compatibility-v1.3,
    iceberg-compatibility-v2.1, iceberg-compatibility-v2.2, iceberg-compatibility-v2.3
    """
    properties = {"delta.columnMapping.mode": mode, **enabled(compat)}
    table = deltaic.Table.create(root, ROWS.schema, properties=properties)
    ensure_supported(of_kind(root, 0, "protocol")[0], compat)
    table.append(ROWS)
    assert statistics(root, 1)["numRecords"] == 3
    assert deltaic.Table(root).snapshot().scan().count() == 3


@pytest.mark.parametrize("compat", [1, 2])
def test_an_empty_table_gets_the_features_with_the_property(root: Path, compat: int) -> None:
    """The protocol is upgraded in the same commit.

    protocol: iceberg-compatibility-v1.1, iceberg-compatibility-v1.2, iceberg-compatibility-v1.3,
    iceberg-compatibility-v2.1, iceberg-compatibility-v2.2, iceberg-compatibility-v2.3
    """
    table = deltaic.Table.create(root, ROWS.schema, properties=MAPPED)
    table.alter(SetProperties(enabled(compat)))
    ensure_supported(of_kind(root, 1, "protocol")[0], compat)


@pytest.mark.parametrize("compat", [1, 2])
def test_a_table_with_files_does_not_get_them(root: Path, compat: int) -> None:
    """Its files need not have what Iceberg needs."""
    table = deltaic.Table.create(root, ROWS.schema, properties=MAPPED)
    table.append(ROWS)
    with pytest.raises(deltaic.UnsupportedFeature, match="existing files"):
        table.alter(SetProperties(enabled(compat)))
    assert table.snapshot().version == 1


@pytest.mark.parametrize("compat", [1, 2])
@pytest.mark.parametrize(
    "properties",
    [
        {"delta.columnMapping.mode": "none"},
        {**MAPPED, "delta.enableDeletionVectors": "true"},
    ],
    ids=["without column mapping", "with deletion vectors"],
)
def test_a_table_is_not_created_against_its_promise(
    root: Path, compat: int, properties: dict[str, str]
) -> None:
    with pytest.raises(deltaic.DeltaicError, match=r"(?i)iceberg"):
        deltaic.Table.create(root, ROWS.schema, properties={**properties, **enabled(compat)})
    assert not root.exists()


@pytest.mark.parametrize("compat", [1, 2])
def test_a_table_keeps_its_promise(root: Path, compat: int) -> None:
    """Column mapping stays, and deletion vectors are not enabled."""
    table = deltaic.Table.create(root, ROWS.schema, properties={**MAPPED, **enabled(compat)})
    for change in (
        SetProperties({"delta.columnMapping.mode": "none"}),
        SetProperties({"delta.enableDeletionVectors": "true"}),
    ):
        with pytest.raises(deltaic.DeltaicError):
            table.alter(change)
    assert table.snapshot().version == 0


def test_only_one_version_is_active(root: Path) -> None:
    """Version 1 also excludes the support of deletion vectors, version 2 only their use."""
    with pytest.raises(deltaic.DeltaicError, match="cebergCompatV"):
        deltaic.Table.create(root, ROWS.schema, properties={**MAPPED, **enabled(1), **enabled(2)})
    second = deltaic.Table.create(root, ROWS.schema, properties={**MAPPED, **enabled(2)})
    assert second.alter(AddFeature("deletionVectors")).version == 1
    first = deltaic.Table.create(root.with_name("first"), ROWS.schema, properties={**MAPPED, **enabled(1)})
    with pytest.raises(deltaic.DeltaicError):
        first.alter(AddFeature("deletionVectors"))
