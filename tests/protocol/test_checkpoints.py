"""Heading *Checkpoints*, for classic ones: which is used, and which columns may be missing.

A checkpoint with an additional action (`MARK`) shows whether it was read.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic

from .handmade_log import HandmadeTable, add, commit_path, ids, metadata, protocol, remove, txn
from .naive_replay import replay
from .snapshot_state import shown, wanted

MARK = "read from a checkpoint"


def history(root: Path, commits: int = 5) -> tuple[HandmadeTable, list[list[dict]]]:
    """A table that adds a file in each commit and removes the one before the last."""
    table = HandmadeTable(root)
    actions: list[list[dict]] = [[protocol(), metadata(), add("0.parquet")]]
    for number in range(1, commits):
        more = [remove(f"{number - 2}.parquet", timestamp=number)] if number >= 2 else []
        actions.append([add(f"{number}.parquet", size=number), *more])
    for commit in actions:
        table.commit(*commit)
    return table, actions


def mark(table: HandmadeTable, version: int, actions: list[list[dict]]) -> Path:
    return table.checkpoint(version, [*replay(actions[: version + 1]).actions(), txn(MARK, version)])


def marked(snapshot: deltaic.Snapshot) -> int | None:
    return snapshot.app_transactions.get(MARK)


def test_the_newest_checkpoint_is_used(tmp_path: Path) -> None:
    """protocol: checkpoints.1."""
    table, actions = history(tmp_path / "t")
    mark(table, 1, actions)
    mark(table, 3, actions)
    snapshot = deltaic.Table(table.root).snapshot()
    assert marked(snapshot) == 3
    assert shown(snapshot)["files"] == wanted(replay(actions))["files"]


def test_time_travel_uses_no_newer_checkpoint(tmp_path: Path) -> None:
    """protocol: checkpoints.2."""
    table, actions = history(tmp_path / "t")
    mark(table, 1, actions)
    mark(table, 3, actions)
    table.hint(3)
    handle = deltaic.Table(table.root)
    assert [marked(handle.snapshot(version=version)) for version in range(5)] == [None, 1, 1, 3, 3]


@pytest.mark.parametrize(
    "name",
    [
        "3.checkpoint.parquet",
        "0000000000000000003.checkpoint.parquet",
        "000000000000000000003.checkpoint.parquet",
        "00000000000000000003.checkpoint.parquet.tmp",
        ".00000000000000000003.checkpoint.parquet",
        "00000000000000000003.checkpoint",
        "00000000000000000003.parquet",
    ],
)
def test_a_checkpoint_has_the_padded_name(tmp_path: Path, name: str) -> None:
    """protocol: checkpoints.5."""
    table, actions = history(tmp_path / "t")
    mark(table, 3, actions).rename(table.log / name)
    snapshot = deltaic.Table(table.root).snapshot()
    assert marked(snapshot) is None
    assert shown(snapshot) == wanted(replay(actions))


def test_a_checkpoint_represents_the_commits_that_are_gone(tmp_path: Path) -> None:
    """protocol: checkpoints.3."""
    table, actions = history(tmp_path / "t")
    table.checkpoint(3, replay(actions[:4]).actions())
    for version in range(4):
        commit_path(table.root, version).unlink()
    handle = deltaic.Table(table.root)
    assert shown(handle.snapshot()) == wanted(replay(actions))
    assert shown(handle.snapshot(version=3)) == wanted(replay(actions[:4]))
    with pytest.raises(deltaic.VersionNotFound) as caught:
        handle.snapshot(version=2)
    assert "3" in caught.value.message
    assert "4" in caught.value.message


def test_a_checkpoint_alone_is_a_table(tmp_path: Path) -> None:
    table, actions = history(tmp_path / "t", commits=3)
    table.checkpoint(2, replay(actions).actions())
    for version in range(3):
        commit_path(table.root, version).unlink()
    assert shown(deltaic.Table(table.root).snapshot()) == wanted(replay(actions))


@pytest.mark.parametrize("hint", [True, False])
def test_multi_part_checkpoints_with_missing_parts_are_ignored(tmp_path: Path, hint: bool) -> None:
    """protocol: checkpoints.8."""
    table, actions = history(tmp_path / "t")
    whole = mark(table, 3, actions)
    whole.rename(table.log / f"{3:020}.checkpoint.{1:010}.{2:010}.parquet")
    if hint:
        table.hint(3, parts=2)
    snapshot = deltaic.Table(table.root).snapshot()
    assert marked(snapshot) is None
    assert shown(snapshot) == wanted(replay(actions))


def test_missing_columns_are_null(tmp_path: Path) -> None:
    """protocol: checkpoints.11."""
    table, actions = history(tmp_path / "t")
    path = table.checkpoint(4, replay(actions).actions(), leave_out=["txn", "domainMetadata"])
    rows = pq.read_table(path)
    thin = rows["add"].combine_chunks()
    keep = ["path", "partitionValues", "size", "modificationTime", "dataChange"]
    fields = [thin.type.field(name) for name in keep]
    mask = thin.is_null()
    narrowed = pa.StructArray.from_arrays([thin.field(name) for name in keep], fields=fields, mask=mask)
    pq.write_table(rows.set_column(rows.column_names.index("add"), "add", narrowed), path)
    for version in range(4):
        commit_path(table.root, version).unlink()
    snapshot = deltaic.Table(table.root).snapshot()
    assert shown(snapshot) == wanted(replay(actions))
    files = snapshot.files().to_arrow()
    assert files["deletion_vector"].null_count == files.num_rows
    assert snapshot.num_rows is None


def test_columns_and_fields_that_no_client_knows_are_ignored(tmp_path: Path) -> None:
    table, actions = history(tmp_path / "t")
    path = table.checkpoint(4, replay(actions).actions())
    rows = pq.read_table(path)
    pq.write_table(rows.append_column("fromTheFuture", pa.array([{"a": 1}] * rows.num_rows)), path)
    assert shown(deltaic.Table(table.root).snapshot()) == wanted(replay(actions))


def test_tombstones_come_from_checkpoints_too(tmp_path: Path) -> None:
    """protocol: add-file-and-remove-file.2."""
    table, actions = history(tmp_path / "t")
    table.checkpoint(4, replay(actions).actions())
    for version in range(5):
        commit_path(table.root, version).unlink()
    tombstones = deltaic.Table(table.root).snapshot().tombstones().to_arrow()
    found = zip(tombstones["path"].to_pylist(), tombstones["deletion_timestamp"].to_pylist(), strict=True)
    assert sorted(found) == [("0.parquet", 2), ("1.parquet", 3), ("2.parquet", 4)]


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda _: b"", id="empty"),
        pytest.param(lambda body: body[: len(body) // 2], id="cut in half"),
        pytest.param(lambda body: body[:-1] + b"X", id="wrong magic at the end"),
        pytest.param(lambda _: b"PAR1" + b"\xff" * 64 + b"PAR1", id="a footer of nonsense"),
    ],
)
def test_a_damaged_checkpoint_is_passed_over_while_the_commits_are_there(
    tmp_path: Path, damage: object
) -> None:
    table, actions = history(tmp_path / "t")
    mark(table, 1, actions)
    path = mark(table, 3, actions)
    assert callable(damage)
    path.write_bytes(damage(path.read_bytes()))
    table.hint(3)
    with pytest.warns(deltaic.DeltaicWarning, match=path.name):
        snapshot = deltaic.Table(table.root).snapshot()
    assert shown(snapshot)["files"] == wanted(replay(actions))["files"]
    assert any(path.name in str(warning) for warning in snapshot.warnings)
    assert marked(snapshot) == 1


def test_a_damaged_checkpoint_without_commits_is_an_error(tmp_path: Path) -> None:
    table, actions = history(tmp_path / "t")
    path = mark(table, 3, actions)
    path.write_bytes(path.read_bytes()[:100])
    commit_path(table.root, 0).unlink()
    with pytest.raises(deltaic.CorruptLog) as caught:
        deltaic.Table(table.root).snapshot()
    assert path.name in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("missing", ["protocol", "metaData"])
def test_a_checkpoint_without_protocol_or_metadata_is_passed_over(tmp_path: Path, missing: str) -> None:
    table, actions = history(tmp_path / "t")
    table.checkpoint(3, [action for action in replay(actions[:4]).actions() if missing not in action])
    with pytest.warns(deltaic.DeltaicWarning):
        snapshot = deltaic.Table(table.root).snapshot()
    assert shown(snapshot) == wanted(replay(actions))


def test_rows_are_the_same_through_a_checkpoint(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.create(table.data("a.parquet", ids(1, 2)))
    table.commit(table.data("b.parquet", ids(3, None)))
    direct = sorted(str(row) for row in deltaic.Table(table.root).snapshot().scan().to_arrow().to_pylist())
    commits = [[protocol(), metadata()]]
    adds = [
        add(path, size=(table.root / path).stat().st_size, stats='{"numRecords":2}')
        for path in ("a.parquet", "b.parquet")
    ]
    table.checkpoint(1, replay([*commits, adds]).actions())
    for version in range(2):
        commit_path(table.root, version).unlink()
    snapshot = deltaic.Table(table.root).snapshot()
    assert sorted(str(row) for row in snapshot.scan().to_arrow().to_pylist()) == direct
    assert snapshot.num_rows == 4
