"""Heading *Action Reconciliation*: the newest reference to each logical file wins."""

from __future__ import annotations

from pathlib import Path

import deltaic

from .handmade_log import HandmadeTable, add, metadata, protocol, remove, txn
from .naive_replay import replay
from .snapshot_state import shown, wanted


def test_a_file_is_live_or_a_tombstone_never_both(tmp_path: Path) -> None:
    """protocol: action-reconciliation.1."""
    table = HandmadeTable(tmp_path / "t")
    commits = [
        [protocol(), metadata(), add("a"), add("b"), add("c")],
        [remove("a", timestamp=1), remove("b", timestamp=1)],
        [add("a", size=7)],
        [remove("a", timestamp=3), add("b", size=8)],
        [add("a", size=9)],
        [remove("a", timestamp=5)],
    ]
    for actions in commits:
        table.commit(*actions)
    handle = deltaic.Table(table.root)
    for version in range(len(commits)):
        answer = shown(handle.snapshot(version=version))
        assert answer == wanted(replay(commits[: version + 1]))
        live = {path for path, *_ in answer["files"]}
        assert not live & {path for path, *_ in answer["tombstones"]}


def test_the_newest_protocol_and_metadata_win(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.create()
    table.commit(protocol(1, 4), metadata(configuration={"a": "1"}))
    table.commit(protocol(1, 7, None, ["appendOnly"]))
    snapshot = deltaic.Table(table.root).snapshot()
    assert (snapshot.protocol.min_writer_version, snapshot.properties) == (7, {"a": "1"})


def test_the_order_within_a_commit_means_nothing(tmp_path: Path) -> None:
    actions = [protocol(), metadata(), add("a"), remove("b", timestamp=1), txn("app", 1)]
    answers = []
    for name, ordered in (("forward", actions), ("backward", actions[::-1])):
        table = HandmadeTable(tmp_path / name)
        table.commit(*ordered)
        answers.append(shown(deltaic.Table(table.root).snapshot()))
    assert answers[0] == answers[1] == wanted(replay([actions]))


def test_paths_are_reported_apart_by_every_letter(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    paths = ["a.parquet", "A.parquet", "a.parquet ", "b/a.parquet", "aé.parquet", "ae\u0301.parquet"]
    table.create(*[add(path) for path in paths])
    table.commit(remove("a.parquet"))
    files = deltaic.Table(table.root).snapshot().files().to_arrow()["path"].to_pylist()
    assert sorted(files) == sorted(paths[1:])
