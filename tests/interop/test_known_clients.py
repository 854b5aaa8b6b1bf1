"""What `deltaic.advice.known_clients` states of deltalake and Polars is what they do."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltaic.advice.clients import client_support
from deltaic.advice.known_clients import CLIENTS

deltalake = pytest.importorskip("deltalake", reason="missing: deltalake")
polars = pytest.importorskip("polars", reason="missing: polars")

ROWS = pa.table({"id": pa.array([1, 2], pa.int64())})
OF_READERS = [
    "columnMapping",
    "deletionVectors",
    "timestampNtz",
    "v2Checkpoint",
    "vacuumProtocolCheck",
    "typeWidening",
    "variantType",
    "variantShredding",
]
OF_WRITERS = [
    "appendOnly",
    "invariants",
    "checkConstraints",
    "changeDataFeed",
    "generatedColumns",
    "identityColumns",
    "allowColumnDefaults",
    "domainMetadata",
    "rowTracking",
    "icebergCompatV1",
    "icebergCompatV2",
    "icebergCompatV3",
    "clustering",
    "inCommitTimestamp",
    "checkpointProtection",
    "collations",
    "materializePartitionColumns",
]
FEATURES = [*OF_READERS, *OF_WRITERS]
NAMES = {"deltalake": f"deltalake {deltalake.__version__}", "polars": f"Polars {polars.__version__}"}

with_measured_polars = pytest.mark.skipif(
    sys.version_info < (3, 11), reason="Polars 2.1, which was measured, needs Python 3.11"
)


def made(root: Path, feature: str) -> Path:
    """Writes a table of which only the protocol has the feature."""
    (root / "_delta_log").mkdir(parents=True)
    pq.write_table(ROWS, root / "a.parquet")
    readers = [feature] if feature in OF_READERS else []
    reader = {"minReaderVersion": 3, "readerFeatures": readers} if readers else {"minReaderVersion": 1}
    schema = {"type": "struct", "fields": [{"name": "id", "type": "long", "nullable": True, "metadata": {}}]}
    lines = [
        {"commitInfo": {"inCommitTimestamp": 1_700_000_000_000, "operation": "WRITE"}},
        {"protocol": {**reader, "minWriterVersion": 7, "writerFeatures": [feature]}},
        {
            "metaData": {
                "id": "5fba94ed-9794-4965-ba6e-6ee3c0d22af9",
                "format": {"provider": "parquet", "options": {}},
                "schemaString": json.dumps(schema),
                "partitionColumns": [],
                "configuration": {},
            }
        },
        {
            "add": {
                "path": "a.parquet",
                "partitionValues": {},
                "size": (root / "a.parquet").stat().st_size,
                "modificationTime": 1_700_000_000_000,
                "dataChange": True,
                "stats": '{"numRecords":2}',
            }
        },
    ]
    commit = root / "_delta_log" / f"{0:020}.json"
    commit.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return root


def works(call: Callable[[], object]) -> str:
    try:
        call()
    except Exception:  # noqa: BLE001 - each client has exceptions of its own
        return "no"
    return "yes"


def stated(name: str, feature: str) -> tuple[str, str]:
    readers = [feature] if feature in OF_READERS else []
    [client] = [client for client in client_support(readers, [feature]) if client.name == name]
    return client.reads, client.writes


@with_measured_polars
def test_the_installed_versions_are_those_that_were_measured() -> None:
    assert set(NAMES.values()) <= {client.name for client in CLIENTS}


@pytest.mark.parametrize("feature", FEATURES)
def test_deltalake(tmp_path: Path, feature: str) -> None:
    root = str(made(tmp_path / "t", feature))

    def read() -> object:
        table = deltalake.DeltaTable(root)
        return deltalake.QueryBuilder().register("t", table).execute("SELECT * FROM t").read_all()

    reads = works(read)
    writes = works(lambda: deltalake.write_deltalake(root, ROWS, mode="append"))
    assert (reads, writes) == stated(NAMES["deltalake"], feature)


@with_measured_polars
@pytest.mark.parametrize("feature", FEATURES)
def test_polars(tmp_path: Path, feature: str) -> None:
    root = str(made(tmp_path / "t", feature))
    reads = works(lambda: polars.scan_delta(root).collect())
    writes = works(lambda: polars.DataFrame({"id": [3]}).write_delta(root, mode="append"))
    assert (reads, writes) == stated(NAMES["polars"], feature)
