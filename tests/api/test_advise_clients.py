"""Which clients can use a table, and that the steps of the downgrade path drop what they name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic
from deltaic.advice.clients import client_support
from deltaic.advice.known_clients import CLIENTS

IDS = pa.schema([("id", pa.int64())])


def support(*features: str) -> dict[str, tuple[str, str]]:
    readers = {"columnMapping", "deletionVectors", "typeWidening", "v2Checkpoint", "variantType", "new"}
    found = client_support(readers & set(features), features)
    return {client.name: (client.reads, client.writes) for client in found}


def test_versions() -> None:
    assert support()["delta-spark"] == ("3.0 or later", "3.0 or later")
    assert support("deletionVectors", "identityColumns")["delta-spark"] == ("3.0 or later", "3.3 or later")
    assert support("variantType")["delta-spark"] == ("4.0 or later", "4.0 or later")
    assert support("typeWidening")["Databricks Runtime"] == ("15.2 or later", "15.2 or later")
    assert support("columnMapping")["Databricks Runtime"] == ("10.4 or later", "10.4 or later")
    assert support("clustering")["Databricks Runtime"] == ("9.1 or later", "13.3 or later")


def test_what_is_not_known() -> None:
    assert support("inCommitTimestamp-preview")["delta-spark"] == ("3.0 or later", "unknown")
    assert support("new") == {
        "delta-spark": ("no", "no"),
        "Databricks Runtime": ("unknown", "unknown"),
        "deltalake 1.6.6": ("unknown", "unknown"),
        "Polars 2.1.0": ("unknown", "unknown"),
        "DuckDB 1.5.5": ("unknown", "unknown"),
        "Trino": ("no", "no"),
    }


def test_no_feature_is_both_supported_and_refused() -> None:
    for client in CLIENTS:
        assert not client.reads & client.refuses_reading
        assert not client.writes & client.refuses_writing
        assert bool(client.since) == bool(client.oldest)


def test_protocols_without_lists_imply_features(root: Path) -> None:
    table = deltaic.Table.create(root, IDS, constraints={"positive": "id > 0"})
    assert table.snapshot().protocol.min_writer_version == 3
    duck = {client.name: client for client in table.advise().clients}["DuckDB 1.5.5"]
    assert (duck.reads, duck.writes, duck.obstacles) == ("yes", "no", ("checkConstraints",))


CASES: list[tuple[str, dict[str, Any], list[str]]] = [
    ("row tracking", {"properties": {"delta.enableRowTracking": "true"}}, ["rowTracking", "domainMetadata"]),
    ("clustering", {"cluster_by": ["id"]}, ["clustering", "domainMetadata"]),
    (
        "both",
        {"cluster_by": ["id"], "properties": {"delta.enableRowTracking": "true"}},
        ["clustering", "rowTracking", "domainMetadata"],
    ),
    ("times", {"properties": {"delta.enableInCommitTimestamps": "true"}}, ["inCommitTimestamp"]),
    ("widening", {"properties": {"delta.enableTypeWidening": "true"}}, ["typeWidening"]),
    ("sidecars", {"properties": {"delta.checkpointPolicy": "v2"}}, ["v2Checkpoint"]),
    (
        "vacuum check",
        {"properties": {"delta.feature.vacuumProtocolCheck": "supported"}},
        ["vacuumProtocolCheck"],
    ),
    ("defaults", {"properties": {"delta.feature.allowColumnDefaults": "supported"}}, ["allowColumnDefaults"]),
    (
        "materialized",
        {"properties": {"delta.enableMaterializePartitionColumnsFeature": "true"}},
        ["materializePartitionColumns"],
    ),
]


@pytest.mark.parametrize(
    ("settings", "features"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_the_steps_drop_the_features(root: Path, settings: dict[str, Any], features: list[str]) -> None:
    table = deltaic.Table.create(root, IDS, **settings)
    table.append(pa.table({"id": [1, 2]}))
    table.checkpoint()
    advice = table.advise()
    assert set(features) <= {step.feature for step in advice.downgrade if step.action}
    for step in advice.downgrade:
        for line in step.action.splitlines():
            exec(line, {"deltaic": deltaic, "table": table})  # noqa: S102 - the text under test
    protocol = table.snapshot().protocol
    assert not set(features) & (protocol.writer_features | protocol.reader_features)
    assert sorted(table.snapshot().scan().to_arrow()["id"].to_pylist()) == [1, 2]


def test_deletion_vectors_are_removed_before_the_feature(root: Path) -> None:
    """Polars reads vectors, but no old client does; here another obstacle makes the step needed."""
    from deltaic.advice.downgrade import downgrade_path
    from deltaic.advice.examine import facts_of

    table = deltaic.Table.create(root, IDS, properties={"delta.enableDeletionVectors": "true"})
    table.append(pa.table({"id": range(100)}))
    table.delete("id = 3")
    facts = facts_of(table.snapshot(), [], [], None, 0)
    [step] = downgrade_path(facts, ["deletionVectors"])
    assert "checkpointProtection" in step.note
    for line in step.action.splitlines():
        exec(line, {"deltaic": deltaic, "table": table})  # noqa: S102 - the text under test
    assert "deletionVectors" not in table.snapshot().protocol.reader_features
    assert table.snapshot().num_rows == 99


@pytest.mark.parametrize(
    ("settings", "feature"),
    [
        ({"properties": {"delta.columnMapping.mode": "name"}}, "columnMapping"),
        ({"constraints": {"positive": "id > 0"}}, "checkConstraints"),
    ],
)
def test_what_is_used_remains(root: Path, settings: dict[str, Any], feature: str) -> None:
    table = deltaic.Table.create(root, IDS, **settings)
    [step] = [step for step in table.advise().downgrade if step.feature == feature]
    assert step.action == ""
    assert step.note


def test_the_finding_names_who_gains(root: Path) -> None:
    table = deltaic.Table.create(root, IDS, properties={"delta.enableInCommitTimestamps": "true"})
    [finding] = [finding for finding in table.advise() if finding.code == "CLIENTS_LOCKED_OUT"]
    assert finding.figures["cannot_write"] == ["deltalake 1.6.6", "Polars 2.1.0", "Trino"]
    assert finding.figures["features"] == ["inCommitTimestamp"]
    assert "Trino can write it" in finding.effect
