"""Which features known clients support: data, each with its source.

delta-spark: the features that the jars of 3.0.0, 3.1.0, 3.2.0, 3.3.0, 4.0.0, 4.1.0, 4.2.0, 4.3.0 and 4.4.0
register outside of tests. deltalake, Polars and DuckDB: one table per feature was read, and appended to, with
the stated version. Trino: the list of table features in its connector's documentation. Databricks Runtime:
the table of required versions in the documentation of Azure Databricks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["CLIENTS", "KnownClient"]


@dataclass(frozen=True)
class KnownClient:
    """A client, or a line of versions of one, and what it supports."""

    name: str
    source: str
    since: Mapping[str, str] = field(default_factory=dict[str, str])
    """For a line of versions: the first one that reads and writes a table with the feature."""
    oldest: str = ""
    """The oldest version that `since` covers."""
    reads: frozenset[str] = frozenset()
    """For one version: the reader features that it supports."""
    refuses_reading: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    """For one version: the features with which it appends."""
    refuses_writing: frozenset[str] = frozenset()
    varying: frozenset[str] = frozenset()
    """For a line of versions: features that only some of them support, so that the answer is unknown."""
    is_complete: bool = False
    """Whether a feature that is not listed is not supported, instead of unknown."""


_DELTA_SPARK = {
    "3.0": (
        "appendOnly changeDataFeed checkConstraints columnMapping deletionVectors domainMetadata "
        "generatedColumns icebergCompatV1 invariants timestampNtz v2Checkpoint"
    ),
    "3.1": "allowColumnDefaults clustering icebergCompatV2",
    "3.2": "rowTracking typeWidening-preview vacuumProtocolCheck",
    "3.3": "checkpointProtection coordinatedCommits-preview identityColumns inCommitTimestamp typeWidening",
    "4.0": "variantShredding-preview variantType variantType-preview",
    "4.1": "catalogManaged materializePartitionColumns variantShredding",
    "4.3": "geospatial geospatial-dev icebergCompatV3",
}
_DATABRICKS = {
    "9.1": "appendOnly invariants checkConstraints changeDataFeed generatedColumns",
    "10.4": "columnMapping identityColumns",
    "12.2": "deletionVectors",
    # Clustering requires domainMetadata.
    "13.3": "timestampNtz clustering domainMetadata",
    "15.2": "typeWidening",
    "15.3": "variantType",
}
_WRITER_TWO_TO_FOUR = frozenset(
    ("appendOnly", "invariants", "checkConstraints", "changeDataFeed", "generatedColumns")
)
_DELTALAKE_READS = frozenset(
    ("columnMapping", "deletionVectors", "timestampNtz", "v2Checkpoint", "variantType")
)
_DELTALAKE_REFUSES = frozenset(("vacuumProtocolCheck", "typeWidening", "variantShredding", "catalogManaged"))
_DELTALAKE_REFUSES_WRITING = _DELTALAKE_REFUSES | {
    "identityColumns",
    "allowColumnDefaults",
    "rowTracking",
    "domainMetadata",
    "icebergCompatV1",
    "icebergCompatV2",
    "icebergCompatV3",
    "clustering",
    "inCommitTimestamp",
    "checkpointProtection",
    "collations",
    "materializePartitionColumns",
}


def _since(lines: Mapping[str, str]) -> dict[str, str]:
    return {feature: version for version, names in lines.items() for feature in names.split()}


CLIENTS = (
    KnownClient(
        "delta-spark",
        "jars of 3.0.0 to 4.4.0",
        _since(_DELTA_SPARK),
        oldest="3.0",
        varying=frozenset(("inCommitTimestamp-preview", "catalogOwned-preview")),
        is_complete=True,
    ),
    KnownClient("Databricks Runtime", "its documentation", _since(_DATABRICKS), oldest="9.1"),
    KnownClient(
        "deltalake 1.6.6",
        "measured: QueryBuilder and write_deltalake",
        reads=_DELTALAKE_READS,
        refuses_reading=_DELTALAKE_REFUSES,
        writes=_DELTALAKE_READS | _WRITER_TWO_TO_FOUR,
        refuses_writing=_DELTALAKE_REFUSES_WRITING,
    ),
    KnownClient(
        "Polars 2.1.0",
        "measured: scan_delta and write_delta, with deltalake 1.6.6",
        reads=frozenset(("deletionVectors", "timestampNtz", "variantType")),
        refuses_reading=_DELTALAKE_REFUSES | {"columnMapping", "v2Checkpoint"},
        writes=_DELTALAKE_READS | _WRITER_TWO_TO_FOUR,
        refuses_writing=_DELTALAKE_REFUSES_WRITING,
    ),
    KnownClient(
        "DuckDB 1.5.5",
        "measured: delta_scan and INSERT, with its delta extension",
        reads=_DELTALAKE_READS | {"vacuumProtocolCheck", "typeWidening"},
        refuses_reading=frozenset(("variantShredding", "catalogManaged")),
        writes=_DELTALAKE_READS
        | {
            "vacuumProtocolCheck",
            "appendOnly",
            "invariants",
            "changeDataFeed",
            "rowTracking",
            "domainMetadata",
            "clustering",
            "inCommitTimestamp",
            "materializePartitionColumns",
        },
        refuses_writing=frozenset(
            (
                "variantShredding",
                "catalogManaged",
                "typeWidening",
                "checkConstraints",
                "generatedColumns",
                "identityColumns",
                "allowColumnDefaults",
                "icebergCompatV1",
                "icebergCompatV2",
                "icebergCompatV3",
                "checkpointProtection",
                "collations",
            )
        ),
    ),
    KnownClient(
        "Trino",
        "documentation of its connector",
        reads=frozenset(
            (
                "columnMapping",
                "deletionVectors",
                "timestampNtz",
                "typeWidening",
                "vacuumProtocolCheck",
                "v2Checkpoint",
            )
        ),
        writes=frozenset(
            (
                "appendOnly",
                "invariants",
                "checkConstraints",
                "changeDataFeed",
                "columnMapping",
                "deletionVectors",
                "timestampNtz",
                "vacuumProtocolCheck",
            )
        ),
        is_complete=True,
    ),
)
