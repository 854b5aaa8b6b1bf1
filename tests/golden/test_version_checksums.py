"""Version checksums of reference tables agree with the log; a mismatch is a warning without effect."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import deltaic
from tests.protocol import naive_log
from tests.protocol.naive_replay import State

from .opening import OPENED, copy_of_the_log, dated, needs_golden, opened
from .reference import FRESH, reference

Checksum = dict[str, Any]

OF_ITS_OWN = "kernel-rs-data/crc-full"
"""Made by hand: its checksum describes another state than its log."""
BEFORE_THEY_WERE_REQUIRED = ("delta-rs/table_with_edge_timestamps", "delta-spark/dbr_8_1_generated_columns")
"""Their checksums have neither metadata nor protocol."""


def path_of(log: Path) -> Path:
    return log / f"{naive_log.newest(log):020}.crc"


def told(snapshot: deltaic.Snapshot) -> list[str]:
    return [text for text in snapshot.warnings if "version checksum" in text]


def with_checksum() -> list[str]:
    made_by_hand = (OF_ITS_OWN, *BEFORE_THEY_WERE_REQUIRED)
    return [
        n for n in OPENED if n not in made_by_hand and path_of(reference(n).folder / "_delta_log").exists()
    ]


def of_state(naive: State, txn_id: str | None) -> Checksum:
    """Returns the checksum of a state, with the required fields and few others."""
    found: Checksum = {
        "tableSizeBytes": sum(add["size"] for add in naive.files.values()),
        "numFiles": len(naive.files),
        "numMetadata": 1,
        "numProtocol": 1,
        "metadata": naive.metadata,
        "protocol": naive.protocol,
        "setTransactions": list(naive.transactions.values()),
        "domainMetadata": list(naive.domains.values()),
    }
    return {"txnId": txn_id, **found} if txn_id else found


def changed(right: Checksum) -> Iterator[tuple[str, Checksum]]:
    """Yields the checksum with one field wrong at a time."""
    for key, value in right.items():
        wrong = copy.deepcopy(right)
        if isinstance(value, int):
            wrong[key] = value + 1
        elif isinstance(value, str):
            wrong[key] = "00000000-0000-0000-0000-000000000000"
        elif key == "metadata":
            wrong[key]["id"] = "00000000-0000-0000-0000-000000000000"
        elif key == "protocol":
            wrong[key]["minWriterVersion"] += 1
        elif key == "setTransactions":
            # An additional application id may be one that has expired in the log.
            others = [{**txn, "version": txn["version"] + 1} for txn in value]
            wrong[key] = others or [{"appId": "nobody", "version": 1}]
        elif key == "domainMetadata":
            wrong[key] = [*value, {"domain": "nobody", "configuration": "{}", "removed": False}]
        elif key == "allFiles":
            wrong[key] = value[1:] if value else [stray_file()]
        elif key == "deletedRecordCountsHistogramOpt":
            wrong[key]["deletedRecordCounts"][3] += 1
        elif key in ("fileSizeHistogram", "histogramOpt"):
            wrong[key]["fileCounts"][-1] += 1
        else:
            raise AssertionError(f"a checksum has the field {key}, and nobody knows how to make it wrong")
        yield key, wrong


def stray_file() -> dict[str, Any]:
    return {"path": "a", "partitionValues": {}, "size": 1, "modificationTime": 1, "dataChange": False}


@needs_golden
@pytest.mark.parametrize("name", with_checksum())
def test_a_right_one_is_not_a_reason_to_warn(name: str, tmp_path: Path) -> None:
    """protocol: state-validation-reader-requirements.2, state-validation-reader-requirements.4."""
    root = copy_of_the_log(name, tmp_path / "t")
    log = root / "_delta_log"
    snapshot = opened(root)
    said = dated(snapshot)
    assert told(snapshot) == []
    assert dated(opened(root)) == said
    for path in log.glob("*.crc"):
        path.unlink()
    without = opened(root)
    assert told(without) == []
    assert dated(without) == said


@needs_golden
@pytest.mark.parametrize("name", with_checksum())
def test_a_wrong_one_is_reported_and_not_believed(name: str, tmp_path: Path) -> None:
    """protocol: state-validation.1, state-validation-reader-requirements.3."""
    root = copy_of_the_log(name, tmp_path / "t")
    log = root / "_delta_log"
    path = path_of(log)
    # A checkpoint of the newest version makes reading its commit unnecessary, so txnId is not compared.
    commit_is_read = naive_log.newest(log) not in naive_log.checkpoints(log)
    right = json.loads(path.read_bytes())
    said = dated(opened(root))
    for field, body in changed({key: value for key, value in right.items() if value is not None}):
        path.write_text(json.dumps(body))
        snapshot = opened(root)
        assert told(snapshot) or (field == "txnId" and not commit_is_read), f"{field} is wrong"
        assert dated(snapshot) == said, f"{field} is wrong"


@needs_golden
@pytest.mark.parametrize("name", OPENED)
def test_one_made_from_the_log_agrees_with_it(name: str, tmp_path: Path) -> None:
    """A field that is wrong, or required and missing, is reported.

    protocol: version-checksum-file-schema.3, version-checksum-file-schema.4, version-checksum-file-schema.5,
    version-checksum-file-schema.6
    """
    root = copy_of_the_log(name, tmp_path / "t")
    log = root / "_delta_log"
    last = naive_log.newest(log)
    for path in log.glob("*.crc"):
        path.unlink()
    said = dated(opened(root))
    in_commit = opened(root).properties.get("delta.enableInCommitTimestamps") == "true"
    right = of_state(naive_log.replay_log(log), txn_id(log, last))
    if in_commit:
        right["inCommitTimestampOpt"] = round(opened(root).timestamp.timestamp() * 1000)
    path = path_of(log)
    path.write_text(json.dumps(right))
    assert told(opened(root)) == []
    assert dated(opened(root)) == said
    for key, body in changed(right):
        path.write_text(json.dumps(body))
        snapshot = opened(root)
        # Without a txnId in the commit there is nothing to compare.
        assert told(snapshot) or key == "txnId", f"{key} is wrong"
        assert dated(snapshot) == said
    for key in ("tableSizeBytes", "numFiles", "metadata", "protocol"):
        path.write_text(json.dumps({other: value for other, value in right.items() if other != key}))
        assert dated(opened(root)) == said, f"without {key}"


def txn_id(log: Path, version: int) -> str | None:
    if version not in naive_log.commit_versions(log):
        return None
    infos = [action["commitInfo"] for action in naive_log.commit(log, version) if "commitInfo" in action]
    return infos[0].get("txnId") if infos else None


@needs_golden
@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b"null", b"\0" * 64, b"\xff\xfe", b"{}", b'{"numFiles":"3"}', b"{" * 10_000],
    ids=["empty", "torn", "a list", "null", "NUL", "not UTF-8", "of nothing", "of a text", "deep"],
)
def test_one_that_is_none(tmp_path: Path, body: bytes) -> None:
    root = copy_of_the_log(f"{FRESH}/version_checksum", tmp_path / "t")
    said = dated(opened(root))
    path_of(root / "_delta_log").write_bytes(body)
    assert dated(opened(root)) == said


@needs_golden
def test_one_of_another_version_is_not_the_version_s(tmp_path: Path) -> None:
    root = copy_of_the_log(f"{FRESH}/version_checksum", tmp_path / "t")
    log = root / "_delta_log"
    said = dated(opened(root))
    older = log / f"{naive_log.newest(log) - 1:020}.crc"
    path_of(log).write_bytes(older.read_bytes())
    snapshot = opened(root)
    assert told(snapshot)
    assert dated(snapshot) == said


@needs_golden
def test_a_commit_that_was_changed_afterwards_is_noticed(tmp_path: Path) -> None:
    """Commits must not be modified; the checksum detects it.

    protocol: version-checksum-file.1, state-validation.1
    """
    root = copy_of_the_log(f"{FRESH}/version_checksum", tmp_path / "t")
    log = root / "_delta_log"
    for path in (*log.glob("*.checkpoint*"), *log.glob("_last_checkpoint")):
        path.unlink()
    commit = log / f"{0:020}.json"
    added = {"add": {**stray_file(), "path": "added-behind-the-back.parquet", "dataChange": True}}
    commit.write_text(commit.read_text() + json.dumps(added) + "\n")
    snapshot = opened(root)
    assert "added-behind-the-back.parquet" in snapshot.files().to_arrow()["path"].to_pylist()
    assert "numFiles" in " ".join(told(snapshot))


@needs_golden
def test_the_one_that_reports_of_another_state() -> None:
    root = reference(OF_ITS_OWN).folder
    snapshot = opened(root)
    assert told(snapshot)
    assert snapshot.num_files == len(naive_log.replay_log(root / "_delta_log").files)
