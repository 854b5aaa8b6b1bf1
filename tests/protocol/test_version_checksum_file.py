"""Headings *Version Checksum File* to *State Validation*: checksums compared with the commits.

Headings: *Version Checksum File Schema*, *Deleted Record Counts Histogram Schema*, *State Validation*, and
its requirements for writers and for readers.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic
from tests.api.log_files import commit_file, of_kind, write_commit

VERSIONS = 5


def changed(root: Path) -> deltaic.Table:
    """A table with every kind of change: files are added, replaced and marked with deletion vectors."""
    properties = {"delta.enableDeletionVectors": "true"}
    table = deltaic.Table.create(root, pa.schema([("id", pa.int64())]), properties=properties)
    table.append(pa.table({"id": [1, 2, 3]}))
    table.append(pa.table({"id": [4, 5]}))
    table.delete("id = 2")
    table.overwrite(pa.table({"id": [6]}), "id >= 4")
    return table


def checksum_file(root: Path, version: int) -> Path:
    return root / "_delta_log" / f"{version:020}.crc"


def checksum(root: Path, version: int) -> dict[str, Any]:
    return json.loads(checksum_file(root, version).read_bytes())


def live_files(root: Path, version: int) -> list[dict[str, Any]]:
    """Reconciles the commits by path and deletion vector."""
    live: dict[tuple[str, str], dict[str, Any]] = {}
    for number in range(version + 1):
        for kind in ("remove", "add"):
            for file in of_kind(root, number, kind):
                key = (file["path"], json.dumps(file.get("deletionVector"), sort_keys=True))
                if kind == "add":
                    live[key] = file
                else:
                    live.pop(key, None)
    return list(live.values())


def newest(root: Path, kind: str, version: int) -> dict[str, Any]:
    return [action for number in range(version + 1) for action in of_kind(root, number, kind)][-1]


def test_each_version_has_a_checksum_of_its_state(tmp_path: Path) -> None:
    # protocol: version-checksum-file-schema.1, version-checksum-file-schema.3,
    # version-checksum-file-schema.4, version-checksum-file-schema.5, version-checksum-file-schema.6,
    # state-validation-writer-requirements.1, state-validation-writer-requirements.2
    root = tmp_path / "t"
    changed(root)
    for version in range(VERSIONS):
        found, files = checksum(root, version), live_files(root, version)
        assert found["tableSizeBytes"] == sum(file["size"] for file in files), version
        assert found["numFiles"] == len(files), version
        assert (found["numMetadata"], found["numProtocol"]) == (1, 1)
        assert found["metadata"] == newest(root, "metaData", version)
        assert found["protocol"] == newest(root, "protocol", version)


def test_the_histograms_have_the_lengths_of_the_schema(tmp_path: Path) -> None:
    # protocol: version-checksum-file-schema.8, version-checksum-file-schema.9,
    # version-checksum-file-schema.10, deleted-record-counts-histogram-schema.2
    root = tmp_path / "t"
    changed(root)
    for version in range(VERSIONS):
        found, files = checksum(root, version), live_files(root, version)
        sizes = found["fileSizeHistogram"]
        bounds = sizes["sortedBinBoundaries"]
        assert bounds[0] == 0
        assert bounds == sorted(set(bounds))
        assert len(sizes["fileCounts"]) == len(sizes["totalBytes"]) == len(bounds)
        assert (sum(sizes["fileCounts"]), sum(sizes["totalBytes"])) == (len(files), found["tableSizeBytes"])
        # The first two of the ten bins have files without and with one to nine deleted rows.
        vectors = sum("deletionVector" in file for file in files)
        expected = [len(files) - vectors, vectors, *[0] * 8]
        assert found["deletedRecordCountsHistogramOpt"]["deletedRecordCounts"] == expected, version


def test_an_existing_checksum_is_not_overwritten(tmp_path: Path) -> None:
    """protocol: version-checksum-file.1, state-validation-writer-requirements.4."""
    root, copy = tmp_path / "t", tmp_path / "copy"
    table = changed(root)
    rows = pa.table({"id": [7]})
    # Another client is the first to write the checksums of the next two versions, in its own spelling.
    shutil.copytree(root, copy)
    for version in (VERSIONS, VERSIONS + 1):
        deltaic.Table(copy).append(rows)
        body = checksum(copy, version)
        del body["txnId"]
        checksum_file(root, version).write_text(json.dumps(body, indent=1))
    log = root / "_delta_log"
    before = {path.name: path.read_bytes() for path in log.iterdir() if path.is_file()}
    table.append(rows)
    deltaic.Table(root).append(rows)
    table.checkpoint()
    assert table.append(rows).version == VERSIONS + 2
    assert {name: (log / name).read_bytes() for name in before} == before
    assert checksum(root, VERSIONS + 2)["numFiles"] == len(live_files(root, VERSIONS + 2))


def test_a_checksum_is_written_after_its_commit(tmp_path: Path) -> None:
    """protocol: state-validation-writer-requirements.3."""
    root = tmp_path / "t"
    table = changed(root)
    rows = pa.table({"id": [7]})
    # The first attempt fails: another writer commits this version, without a checksum.
    with table.transaction() as transaction:
        transaction.append(rows)
        write_commit(root, VERSIONS, {"commitInfo": {"operation": "WRITE", "isBlindAppend": True}})
    assert of_kind(root, VERSIONS + 1, "add")
    assert not checksum_file(root, VERSIONS).exists()
    assert checksum_file(root, VERSIONS + 1).exists()
    # No attempt succeeds.
    version = VERSIONS + 2
    commit_file(root, version).mkdir()
    with pytest.raises(deltaic.DeltaicError):
        table.append(rows)
    assert not checksum_file(root, version).exists()
    commit_file(root, version).rmdir()
    assert table.append(rows).version == version
    assert checksum(root, version)["numFiles"] == len(live_files(root, version))


@pytest.mark.parametrize("field", ["tableSizeBytes", "numFiles", "metadata", "protocol"])
def test_a_wrong_required_field_is_reported(tmp_path: Path, field: str) -> None:
    # protocol: state-validation.1, state-validation-reader-requirements.1,
    # state-validation-reader-requirements.2, state-validation-reader-requirements.3
    root = tmp_path / "t"
    table = changed(root)
    assert table.check().is_healthy
    path, body = checksum_file(root, VERSIONS - 1), checksum(root, VERSIONS - 1)
    for optional in ("fileSizeHistogram", "deletedRecordCountsHistogramOpt"):
        del body[optional]
    wrong = {
        "tableSizeBytes": body["tableSizeBytes"] + 1,
        "numFiles": body["numFiles"] + 1,
        "metadata": body["metadata"] | {"name": "another"},
        "protocol": body["protocol"] | {"writerFeatures": ["deletionVectors"]},
    }
    path.write_text(json.dumps(body | {field: wrong[field]}))
    report = deltaic.Table(root).check()
    assert not report.is_healthy
    assert field in str(report)


def test_missing_checksums_are_not_needed(tmp_path: Path) -> None:
    """protocol: state-validation-reader-requirements.4."""
    root = tmp_path / "t"
    changed(root)
    for path in (root / "_delta_log").glob("*.crc"):
        path.unlink()
    table = deltaic.Table(root)
    assert sorted(table.snapshot().scan().to_arrow()["id"].to_pylist()) == [1, 3, 6]
    table.append(pa.table({"id": [7]}))
    assert table.snapshot().scan().count() == 4
