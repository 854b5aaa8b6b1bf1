"""Heading *Domain Metadata*: whose domains users may change, and what their actions contain."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import deltaic
from deltaic.alter import RemoveDomain, SetDomain
from tests.api.log_files import of_kind

SCHEMA = pa.schema([("id", pa.int64())])


def test_a_domain_needs_the_feature_and_its_removal_has_the_configuration(tmp_path: Path) -> None:
    """protocol: domain-metadata.3, domain-metadata.4, domain-metadata.5."""
    root = tmp_path / "t"
    table = deltaic.Table.create(root, SCHEMA)
    table.alter(SetDomain("app.settings", '{"a": 1}'))
    [needs] = of_kind(root, 1, "protocol")
    assert needs["minWriterVersion"] == 7
    assert "domainMetadata" in needs["writerFeatures"]
    expected = {"domain": "app.settings", "configuration": '{"a": 1}', "removed": False}
    assert of_kind(root, 1, "domainMetadata") == [expected]
    table.alter(RemoveDomain("app.settings"))
    assert of_kind(root, 2, "domainMetadata") == [expected | {"removed": True}]


@pytest.mark.parametrize("name", ["delta.clustering", "delta.rowTracking", "delta.unknown"])
def test_system_controlled_domains_are_refused(tmp_path: Path, name: str) -> None:
    """protocol: domain-metadata.1, domain-metadata.2."""
    root = tmp_path / "t"
    table = deltaic.Table.create(root, SCHEMA, cluster_by=["id"])
    for change in (SetDomain(name, "{}"), RemoveDomain(name)):
        with pytest.raises((deltaic.DeltaicError, ValueError), match=name):
            table.alter(change)
    assert table.snapshot().version == 0
