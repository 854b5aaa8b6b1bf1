"""Heading *Delta Log Entries*: which files are commits, and the format of their lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import deltaic

from .handmade_log import HandmadeTable, add, domain, metadata, protocol, remove, txn

NOT_COMMITS = [
    "0.json",
    "1.json",
    "0000000000000000001.json",
    "000000000000000000001.json",
    "00000000000000000001.json.tmp",
    ".00000000000000000001.json",
    "00000000000000000001.JSON",
    "00000000000000000001.jsonl",
    "0000000000000000000a.json",
    "-0000000000000000001.json",
    "+0000000000000000001.json",
    "_00000000000000000001.json",
    "00000000000000000001.crc",
    "00000000000000000001.00000000000000000002.json",
    "00000000000000000001.5e8f9d5c-8f0e-4b58-9d7e-0d4a5b1c2e3f.json.tmp",
    "00000000000000000001.json#1",
]


@pytest.mark.parametrize("name", NOT_COMMITS)
def test_a_name_that_is_nearly_right_is_not_a_commit(tmp_path: Path, name: str) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.create(add("a.parquet"))
    (table.log / name).write_text(json.dumps(add("b.parquet")) + "\n")
    snapshot = deltaic.Table(table.root).snapshot()
    assert (snapshot.version, snapshot.num_files) == (0, 1)


def test_a_commit_is_applied_to_the_state_before_it(tmp_path: Path) -> None:
    """protocol: delta-log-entries.1."""
    table = HandmadeTable(tmp_path / "t")
    table.create(add("a.parquet"), add("b.parquet"))
    table.commit(remove("a.parquet"), add("c.parquet"))
    table.commit(remove("c.parquet"), add("a.parquet"))
    live = [
        sorted(deltaic.Table(table.root).snapshot(version=version).files().to_arrow()["path"].to_pylist())
        for version in range(3)
    ]
    assert live == [["a.parquet", "b.parquet"], ["b.parquet", "c.parquet"], ["a.parquet", "b.parquet"]]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(lambda lines: "\r\n".join(lines) + "\r\n", id="CRLF"),
        pytest.param("\n".join, id="no final newline"),
        pytest.param(
            lambda lines: "\n".join(f"  {line}\t" for line in lines) + "\n", id="white space around"
        ),
        pytest.param(
            lambda lines: "\n".join(json.dumps(json.loads(line)) for line in reversed(lines)) + "\n",
            id="metaData before protocol",
        ),
    ],
)
def test_lines_are_read_however_they_end(tmp_path: Path, body: object) -> None:
    table = HandmadeTable(tmp_path / "t")
    lines = [json.dumps(action) for action in (protocol(), metadata(), add("a.parquet"))]
    assert callable(body)
    table.commit_bytes(body(lines).encode())
    snapshot = deltaic.Table(table.root).snapshot()
    assert (snapshot.version, snapshot.num_files) == (0, 1)


@pytest.mark.parametrize(
    "twice",
    [
        pytest.param([add("a.parquet"), add("a.parquet")], id="two adds of a file"),
        pytest.param([remove("a.parquet"), remove("a.parquet")], id="two removes of a file"),
        pytest.param([add("a.parquet"), remove("a.parquet")], id="add and remove of a logical file"),
        pytest.param([metadata(), metadata()], id="two metaData"),
        pytest.param([protocol(), protocol()], id="two protocol"),
        pytest.param([txn("app", 1), txn("app", 2)], id="two txn of an application"),
        pytest.param([domain("app.x", "1"), domain("app.x", "2")], id="two of a domain"),
    ],
)
def test_actions_that_reconcile_with_each_other_are_not_commit(tmp_path: Path, twice: list[dict]) -> None:
    """protocol: delta-log-entries.2, add-file-and-remove-file.3."""
    table = HandmadeTable(tmp_path / "t")
    table.create()
    table.commit(*twice)
    with pytest.raises(deltaic.CorruptLog) as caught:
        deltaic.Table(table.root).snapshot()
    assert caught.value.context["version"] == 1
    assert deltaic.Table(table.root).snapshot(version=0).version == 0


def test_long_histories_need_no_checkpoint(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.create()
    for number in range(120):
        table.commit(add(f"{number}.parquet"))
    snapshot = deltaic.Table(table.root).snapshot()
    assert (snapshot.version, snapshot.num_files) == (120, 120)
