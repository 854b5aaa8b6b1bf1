"""A property that does not parse: the table is readable, and the property can be corrected."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import deltaic
from deltaic.alter import Change, SetProperties, UnsetProperties
from tests.protocol import handmade_log as log

FEATURES = [
    "appendOnly",
    "changeDataFeed",
    "deletionVectors",
    "domainMetadata",
    "inCommitTimestamp",
    "rowTracking",
]

VALID = {
    "delta.appendOnly": "false",
    "delta.checkpoint.writeStatsAsJson": "true",
    "delta.checkpointInterval": "5",
    "delta.checkpointPolicy": "classic",
    "delta.checkpointRetentionDuration": "interval 1 day",
    "delta.dataSkippingNumIndexedCols": "3",
    "delta.dataSkippingStringPrefixLength": "4",
    "delta.deletedFileRetentionDuration": "interval 1 day",
    "delta.enableChangeDataFeed": "false",
    "delta.enableDeletionVectors": "false",
    "delta.enableExpiredLogCleanup": "false",
    "delta.enableInCommitTimestamps": "false",
    "delta.enableRowTracking": "false",
    "delta.isolationLevel": "Serializable",
    "delta.logRetentionDuration": "interval 1 day",
    "delta.parquet.compression.codec": "zstd",
    "delta.randomizeFilePrefixes": "false",
    "delta.setTransactionRetentionDuration": "interval 1 day",
    "delta.targetFileSize": "1gb",
}


def table_with(root: Path, properties: dict[str, str]) -> deltaic.Table:
    table = log.HandmadeTable(root)
    table.commit(
        {"commitInfo": {"operation": "CREATE TABLE"}},
        log.protocol(3, 7, ["deletionVectors"], FEATURES),
        log.metadata(configuration=properties),
    )
    return deltaic.Table(root)


def assert_repaired(table: deltaic.Table, change: Change) -> None:
    assert table.snapshot().scan().to_arrow().num_rows == 0
    assert [finding.code for finding in table.check().findings if finding.code == "BAD_PROPERTY"]
    table.alter(change)
    table.append(pa.table({"id": pa.array([1], pa.int64())}))
    assert [commit.version for commit in table.history()] == [2, 1, 0]
    report = table.check(deep=True)
    assert report.is_healthy, str(report)


@pytest.mark.parametrize("how", ["set", "unset"])
@pytest.mark.parametrize("name", VALID)
def test_it_can_be_corrected(tmp_path: Path, name: str, how: str) -> None:
    change = SetProperties({name: VALID[name]}) if how == "set" else UnsetProperties([name])
    assert_repaired(table_with(tmp_path / "t", {name: "nonsense"}), change)


@pytest.mark.parametrize("value", ["true", "false"])
def test_in_commit_timestamps_can_be_corrected(tmp_path: Path, value: str) -> None:
    """They start with the commit that corrects the property: earlier commits need not have any."""
    table = table_with(tmp_path / "t", {"delta.enableInCommitTimestamps": "nonsense"})
    with pytest.raises(deltaic.CorruptLog) as caught:
        table.append(pa.table({"id": pa.array([1], pa.int64())}))
    assert caught.value.context["field"] == "delta.enableInCommitTimestamps"
    assert_repaired(table, SetProperties({"delta.enableInCommitTimestamps": value}))
    since = table.snapshot().properties.get("delta.inCommitTimestampEnablementVersion")
    assert since == ("1" if value == "true" else None)


def test_half_an_enablement_can_be_corrected(tmp_path: Path) -> None:
    half = {"delta.enableInCommitTimestamps": "true", "delta.inCommitTimestampEnablementVersion": "0"}
    change = SetProperties({"delta.enableInCommitTimestamps": "false"})
    assert_repaired(table_with(tmp_path / "t", half), change)
