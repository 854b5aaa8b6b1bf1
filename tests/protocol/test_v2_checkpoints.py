"""Headings *V2 Spec*, *UUID-named checkpoint*, *Sidecar Files*: every form, and every fault in one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import deltaic

from .handmade_log import Action, HandmadeTable, add, ids, metadata, protocol, remove, txn
from .naive_replay import replay
from .snapshot_state import shown, wanted

UUID = "80a083e8-7026-4e79-81be-64bd76c43a11"
JSON = f"{3:020}.checkpoint.{UUID}.json"
PARQUET = f"{3:020}.checkpoint.{UUID}.parquet"
CLASSIC = f"{3:020}.checkpoint.parquet"
MARK = "read from a checkpoint"
PROTOCOL = protocol(3, 7, ["v2Checkpoint"], ["v2Checkpoint"])
COMMITS: list[list[Action]] = [
    [PROTOCOL, metadata(), add("0.parquet"), add("1.parquet")],
    [add("2.parquet"), remove("0.parquet")],
    [txn("loader", 5), add("3.parquet", size=7)],
    [remove("1.parquet"), add("4.parquet")],
    [add("5.parquet")],
]
STATE = replay(COMMITS[:4]).actions()
FILES = [action for action in STATE if "add" in action or "remove" in action]
OTHERS = [action for action in STATE if action not in FILES]


def checkpoint_metadata(version: int = 3) -> Action:
    return {"checkpointMetadata": {"version": version}}


def table_of(root: Path) -> HandmadeTable:
    table = HandmadeTable(root)
    for commit in COMMITS:
        table.commit(*commit)
    return table


def in_sidecars(table: HandmadeTable) -> list[Action]:
    """Returns the top level of a checkpoint whose file actions are in two sidecars."""
    half = len(FILES) // 2
    sidecars = [table.sidecar("a b.parquet", FILES[:half]), table.sidecar("c.parquet", FILES[half:])]
    sidecars[0]["sidecar"]["path"] = "a%20b.parquet"
    return [checkpoint_metadata(), *OTHERS, txn(MARK, 3), *sidecars]


def marked(snapshot: deltaic.Snapshot) -> bool:
    return MARK in snapshot.app_transactions


@pytest.mark.parametrize("name", [JSON, PARQUET, CLASSIC])
@pytest.mark.parametrize("sidecars", [True, False])
@pytest.mark.parametrize("commits_gone", [True, False])
def test_every_form_is_read(tmp_path: Path, name: str, *, sidecars: bool, commits_gone: bool) -> None:
    # protocol: v2-spec.2, uuid-named-checkpoint.1, classic-checkpoint.2, sidecar-file-information.2,
    # sidecar-files.1, v2-checkpoint-table-feature.2
    table = table_of(tmp_path / "t")
    embedded = [checkpoint_metadata(), *OTHERS, txn(MARK, 3), *FILES]
    table.top_level(name, in_sidecars(table) if sidecars else embedded)
    if commits_gone:
        for version in range(4):
            (table.log / f"{version:020}.json").unlink()
    snapshot = deltaic.Table(table.root).snapshot()
    assert marked(snapshot)
    assert snapshot.warnings == []
    right = wanted(replay(COMMITS))
    assert {**shown(snapshot), "transactions": {"loader": 5}} == right


def test_a_sidecar_may_be_named_with_its_folder(tmp_path: Path) -> None:
    table = table_of(tmp_path / "t")
    actions = in_sidecars(table)
    actions[-1]["sidecar"]["path"] = f"file:{table.root}/_delta_log/_sidecars/c.parquet"
    table.top_level(JSON, actions)
    assert marked(deltaic.Table(table.root).snapshot())


def without(kind: str) -> Callable[[list[Action]], list[Action]]:
    return lambda actions: [action for action in actions if kind not in action]


FAULTS: dict[str, Callable[[list[Action]], list[Action]]] = {
    "no checkpointMetadata": without("checkpointMetadata"),
    "two checkpointMetadata": lambda actions: [checkpoint_metadata(), *actions],
    "another version": lambda actions: [checkpoint_metadata(2), *without("checkpointMetadata")(actions)],
    "no protocol": without("protocol"),
    "no metaData": without("metaData"),
    "file actions in both places": lambda actions: [*actions, add("9.parquet")],
    "a sidecar that is not there": lambda actions: [
        *actions,
        {"sidecar": {"path": "gone.parquet", "sizeInBytes": 1, "modificationTime": 0}},
    ],
    "a sidecar elsewhere": lambda actions: [
        *actions,
        {"sidecar": {"path": "../../c.parquet", "sizeInBytes": 1, "modificationTime": 0}},
    ],
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", [JSON, PARQUET])
def test_a_faulty_one_is_passed_over(tmp_path: Path, name: str, fault: str) -> None:
    """protocol: v2-spec.1, v2-spec.3, uuid-named-checkpoint.1, checkpoint-metadata.2."""
    table = table_of(tmp_path / "t")
    table.top_level(name, FAULTS[fault](in_sidecars(table)))
    with pytest.warns(deltaic.DeltaicWarning, match="skipped"):
        snapshot = deltaic.Table(table.root).snapshot()
    assert shown(snapshot) == wanted(replay(COMMITS))
    (table.log / f"{0:020}.json").unlink()
    with pytest.raises(deltaic.CorruptLog) as caught:
        deltaic.Table(table.root).snapshot()
    assert caught.value.context["version"] == 3
    assert caught.value.hint


def test_a_sidecar_that_is_damaged(tmp_path: Path) -> None:
    table = table_of(tmp_path / "t")
    table.top_level(PARQUET, in_sidecars(table))
    (table.log / "_sidecars" / "c.parquet").write_bytes(b"PAR1 no more")
    with pytest.warns(deltaic.DeltaicWarning, match="skipped"):
        snapshot = deltaic.Table(table.root).snapshot()
    assert shown(snapshot) == wanted(replay(COMMITS))


def test_an_append_goes_after_one(tmp_path: Path) -> None:
    table = table_of(tmp_path / "t")
    table.top_level(JSON, in_sidecars(table))
    handle = deltaic.Table(table.root)
    before = handle.snapshot().num_files
    assert handle.append(ids(1)).version == 5
    assert handle.snapshot().num_files == before + 1


@pytest.mark.filterwarnings("ignore::deltaic.DeltaicWarning")
@pytest.mark.parametrize("damaged", [None, "classic", "UUID"])
def test_beside_a_classic_one_of_the_same_version_either_will_do(tmp_path: Path, damaged: str | None) -> None:
    """protocol: classic-checkpoint.1."""
    table = table_of(tmp_path / "t")
    actions = [checkpoint_metadata(), *OTHERS, *FILES]
    paths = {"classic": table.top_level(CLASSIC, actions), "UUID": table.top_level(JSON, actions)}
    for version in range(3):
        (table.log / f"{version:020}.json").unlink()
    if damaged is not None:
        paths[damaged].write_bytes(b"PAR1 no more")
    assert shown(deltaic.Table(table.root).snapshot()) == wanted(replay(COMMITS))
