"""Heading *Last Checkpoint File*: a hint that saves requests and never leads to a wrong state."""

from __future__ import annotations

import hashlib
import json
import urllib.parse
from pathlib import Path
from typing import Any

import pytest

import deltaic

from .handmade_log import Action, HandmadeTable, add, commit_path, metadata, protocol
from .naive_replay import replay
from .snapshot_state import shown, wanted


def table_of(root: Path, checkpoints: tuple[int, ...] = (2, 4)) -> tuple[HandmadeTable, list[list[Action]]]:
    table = HandmadeTable(root)
    commits = [[protocol(), metadata()], *([add(f"{number}.parquet")] for number in range(1, 7))]
    for actions in commits:
        table.commit(*actions)
    for version in checkpoints:
        table.checkpoint(version, replay(commits[: version + 1]).actions())
    return table, commits


def checksum(body: dict[str, Any], *, by_path: bool = False) -> str:
    """The checksum of the protocol's appendix: MD5 of the canonical form without the key itself.

    Pairs of path and value are sorted as delta-spark does, or by path alone as the text says.
    """
    plain = {key: value for key, value in body.items() if key != "checksum"}
    pairs = sorted(_canonical(plain), key=lambda pair: pair.partition("=")[0] if by_path else pair)
    return hashlib.md5(",".join(pairs).encode(), usedforsecurity=False).hexdigest()


def _canonical(value: Any, prefix: str = "") -> list[str]:
    if isinstance(value, dict):
        return [
            line
            for key, child in value.items()
            for line in _canonical(child, (prefix + "+" if prefix else "") + _quoted(key))
        ]
    if isinstance(value, list):
        return [line for index, child in enumerate(value) for line in _canonical(child, f"{prefix}+{index}")]
    return [f"{prefix}={_quoted(value) if isinstance(value, str) else json.dumps(value)}"]


def _quoted(text: str) -> str:
    return '"' + urllib.parse.quote(text, safe="-._~") + '"'


def test_the_sample_of_the_appendix_has_its_checksum() -> None:
    # Tests the `checksum` above, not deltaic.
    sample = {
        "k0": "'v 0'",
        "checksum": "adsaskfljadfkjadfkj",
        "k1": {"k2": 2, "k3": ["v3", [1, 2], {"k4": "v4", "k5": ["v5", "v6", "v7"]}]},
    }
    assert checksum(sample) == "6a92d155a59bf2eecbd4b4ec7fd1f875"
    assert checksum(sample, by_path=True) == "6a92d155a59bf2eecbd4b4ec7fd1f875"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"version": 4, "size": 7}, id="right"),
        pytest.param({"version": 2, "size": 5}, id="older than the newest checkpoint"),
        pytest.param({"version": 3, "size": 6}, id="a version without a checkpoint"),
        pytest.param({"version": 0, "size": 2}, id="a version before every checkpoint"),
        pytest.param({"version": 6, "size": 2}, id="the newest commit, without a checkpoint"),
        pytest.param({"version": 40, "size": 2}, id="newer than the log"),
        pytest.param({"version": 2**63 - 1, "size": 2}, id="at the limit of 64 bits"),
        pytest.param({"version": 2**64, "size": 2}, id="beyond 64 bits"),
        pytest.param({"version": -1, "size": 2}, id="negative"),
        pytest.param({"version": "4", "size": 2}, id="a text"),
        pytest.param({"version": 4.5, "size": 2}, id="not whole"),
        pytest.param({"version": None, "size": 2}, id="null"),
        pytest.param({"size": 2}, id="without a version"),
        pytest.param([4], id="a list"),
        pytest.param({"version": 4, "size": 7, "parts": 3}, id="parts that are not there"),
        pytest.param(
            {"version": 4, "size": -7, "sizeInBytes": -1, "numOfAddFiles": 2**70}, id="absurd sizes"
        ),
        pytest.param({"version": 4, "size": 7, "unheardOf": {"a": [1]}}, id="unknown fields"),
        pytest.param({"version": 4, "size": 7, "checksum": "0" * 32}, id="a wrong checksum"),
    ],
)
def test_whatever_the_hint_states_the_answer_is_the_same(tmp_path: Path, body: Any) -> None:
    table, commits = table_of(tmp_path / "t")
    (table.log / "_last_checkpoint").write_text(json.dumps(body))
    handle = deltaic.Table(table.root)
    assert shown(handle.snapshot()) == wanted(replay(commits))
    assert shown(handle.snapshot(version=3)) == wanted(replay(commits[:4]))


@pytest.mark.parametrize(
    "body",
    [b"", b"\0" * 40, b'{"version":4,', b"\xff\xfe{}", b'"4"', b"{" * 10_000, b" " * 200_000],
    ids=["empty", "NUL", "torn", "not UTF-8", "a text", "deep", "blank"],
)
def test_a_hint_that_is_not_a_hint_is_passed_over(tmp_path: Path, body: bytes) -> None:
    table, commits = table_of(tmp_path / "t")
    (table.log / "_last_checkpoint").write_bytes(body)
    with pytest.warns(deltaic.DeltaicWarning, match="_last_checkpoint"):
        snapshot = deltaic.Table(table.root).snapshot()
    assert shown(snapshot) == wanted(replay(commits))
    assert any("_last_checkpoint" in str(warning) for warning in snapshot.warnings)


def test_duplicate_keys_make_a_hint_invalid(tmp_path: Path) -> None:
    """protocol: last-checkpoint-file-schema-json-checksum.1."""
    table, commits = table_of(tmp_path / "t")
    (table.log / "_last_checkpoint").write_text('{"version":2,"version":4,"size":7}')
    with pytest.warns(deltaic.DeltaicWarning, match="_last_checkpoint"):
        snapshot = deltaic.Table(table.root).snapshot()
    assert shown(snapshot) == wanted(replay(commits))


def test_a_hint_that_is_a_folder(tmp_path: Path) -> None:
    table, commits = table_of(tmp_path / "t")
    (table.log / "_last_checkpoint").mkdir()
    assert shown(deltaic.Table(table.root).snapshot()) == wanted(replay(commits))


def test_a_right_checksum_is_not_a_reason_to_warn(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    table, commits = table_of(tmp_path / "t")
    body: dict[str, Any] = {
        "version": 4,
        "size": 7,
        "sizeInBytes": 1000,
        "numOfAddFiles": 4,
        "tags": {"a b": "ü"},
    }
    (table.log / "_last_checkpoint").write_text(json.dumps({**body, "checksum": checksum(body)}))
    snapshot = deltaic.Table(table.root).snapshot()
    assert shown(snapshot) == wanted(replay(commits))
    assert list(snapshot.warnings) == []
    assert not [warning for warning in recwarn if issubclass(warning.category, deltaic.DeltaicWarning)]


@pytest.mark.parametrize("by_path", [False, True], ids=["sorted by pair", "sorted by path"])
def test_a_list_of_more_than_ten_values_is_not_a_reason_to_warn(
    tmp_path: Path, recwarn: pytest.WarningsRecorder, by_path: bool
) -> None:
    """delta-spark's order puts item 10 before item 1, the text's order puts it after."""
    table, commits = table_of(tmp_path / "t")
    features = {"protocol": {"minReaderVersion": 1, "writerFeatures": [f"f{n}" for n in range(12)]}}
    body: dict[str, Any] = {"version": 4, "size": 7, "v2Checkpoint": {"nonFileActions": [features]}}
    assert checksum(body) != checksum(body, by_path=True)
    signed = {**body, "checksum": checksum(body, by_path=by_path)}
    (table.log / "_last_checkpoint").write_text(json.dumps(signed))
    snapshot = deltaic.Table(table.root).snapshot()
    assert shown(snapshot) == wanted(replay(commits))
    assert not [warning for warning in recwarn if issubclass(warning.category, deltaic.DeltaicWarning)]


def test_no_hint_is_needed_for_a_log_that_was_cleaned_up(tmp_path: Path) -> None:
    table, commits = table_of(tmp_path / "t")
    for version in range(4):
        commit_path(table.root, version).unlink()
    assert shown(deltaic.Table(table.root).snapshot()) == wanted(replay(commits))


def test_a_hint_to_a_checkpoint_that_is_gone_does_not_hide_the_commits(tmp_path: Path) -> None:
    table, commits = table_of(tmp_path / "t", checkpoints=())
    table.hint(4)
    assert shown(deltaic.Table(table.root).snapshot()) == wanted(replay(commits))
