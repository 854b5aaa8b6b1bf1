"""Every reference table opens as delta-spark opens it: metadata, files, tombstones, at every version.

Tables that deltaic refuses are refused by delta-spark, too; tables that only deltaic opens are listed in
`opening.OPENED_ALL_THE_SAME` with the reason. Rows are tested in `test_golden.py`.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

import deltaic
from tests.protocol import naive_log
from tests.protocol.snapshot_state import shown

from .opening import (
    NAMES,
    NOT_OPENED,
    OPENED,
    OPENED_ALL_THE_SAME,
    WITHOUT_PROTOCOL,
    naive,
    needs_golden,
    opened,
)
from .reference import FRESH, reference

VERSIONS = 12

WARNED = {
    WITHOUT_PROTOCOL: "skipped",
    "kernel-rs-golden/corrupted-last-checkpoint-kernel": "_last_checkpoint",
    "kernel-rs-data/crc-full": "version checksum",
}
"""Tables with intentional faults, and a word of the warning."""
MAY_WARN = {
    # When these were written, a checksum required neither metadata nor protocol.
    "delta-rs/table_with_edge_timestamps": "version checksum",
    "delta-spark/dbr_8_1_generated_columns": "version checksum",
    # Its compactions are not reconciled; whether they are read depends on the version.
    "kernel-rs-data/compacted-log-files-table": "compact",
}
"""Tables with harmless faults that may cause a warning."""


@needs_golden
@pytest.mark.parametrize("name", sorted(NOT_OPENED))
def test_a_table_that_cannot_be_opened(name: str) -> None:
    with pytest.raises(deltaic.DeltaicError) as caught:
        opened(reference(name).folder)
    assert type(caught.value) is NOT_OPENED[name]
    assert caught.value.hint


@needs_golden
def test_the_same_tables_open_as_in_delta_spark() -> None:
    theirs = {name for name in NAMES if reference(name).failed_at != "snapshot"}
    assert set(OPENED) - set(OPENED_ALL_THE_SAME) == theirs
    assert set(OPENED_ALL_THE_SAME) <= set(OPENED)


@needs_golden
@pytest.mark.parametrize("name", OPENED)
def test_table_metadata(name: str) -> None:
    """Checks the oracle's version, protocol, schema, partition columns and number of files."""
    known = reference(name)
    snapshot = opened(known.folder)
    if known.failed_at == "snapshot":
        assert snapshot.num_files == len(naive_log.replay_log(known.folder / "_delta_log").files)
        return
    assert snapshot.version == known.version
    assert snapshot.num_files == known.latest.num_files
    assert json.loads(snapshot.schema.to_json()) == known.schema
    assert tuple(snapshot.partition_columns) == known.partition_columns
    protocol = snapshot.protocol
    assert protocol.min_reader_version == known.protocol["minReaderVersion"]
    assert protocol.min_writer_version == known.protocol["minWriterVersion"]
    assert set(protocol.reader_features) == set(known.protocol.get("readerFeatures") or ())
    assert set(protocol.writer_features) == set(known.protocol.get("writerFeatures") or ())


@needs_golden
@pytest.mark.parametrize("name", [name for name in OPENED if name.startswith(FRESH)])
def test_further_table_metadata(name: str) -> None:
    """Checks what is known of the generated tables only: properties, domains, transactions, paths."""
    known = reference(name)
    assert known.meta is not None
    meta: dict[str, Any] = known.meta
    snapshot = opened(known.folder)
    assert snapshot.properties == meta["properties"]
    assert snapshot.app_transactions == {txn["appId"]: txn["version"] for txn in meta["set_transactions"]}
    domains = [item for item in meta["domain_metadata"] if not item.get("removed")]
    assert snapshot.domain_metadata == {item["domain"]: item["configuration"] for item in domains}
    files = snapshot.files().to_arrow()
    sizes = sorted(zip(files["path"].to_pylist(), files["size"].to_pylist(), strict=True))
    assert sizes == sorted((file["path"], file["size"]) for file in meta["files"])
    assert snapshot.size_in_bytes == sum(size for _, size in sizes)


@needs_golden
@pytest.mark.parametrize("name", OPENED)
def test_every_version_is_the_naive_replay(name: str) -> None:
    """Files and tombstones with their deletion vectors, transactions, domains, at all or many versions.

    protocol: action-reconciliation.1, checkpoints.2, delta-log-entries.1
    """
    known = reference(name)
    versions = naive_log.reachable(known.folder / "_delta_log")
    for version in {*versions[:: 1 + len(versions) // VERSIONS], versions[-1]}:
        snapshot = opened(known.folder, version)
        assert snapshot.version == version
        assert shown(snapshot) == naive(name, version)


@needs_golden
@pytest.mark.parametrize("name", OPENED)
def test_opening_a_table_warns_only_for_a_reason(name: str) -> None:
    warned = opened(reference(name).folder).warnings
    if name in WARNED:
        assert warned
        assert all(WARNED[name] in text for text in warned)
    elif name in MAY_WARN:
        assert all(MAY_WARN[name] in text for text in warned)
    else:
        assert warned == []
