"""Heading *Multi-part checkpoint*: all of its parts are required."""

from __future__ import annotations

from pathlib import Path

import pytest

import deltaic

from .handmade_log import Action, HandmadeTable, add, metadata, protocol, remove, txn
from .naive_replay import replay
from .snapshot_state import shown, wanted

MARK = "read from a checkpoint"
COMMITS: list[list[Action]] = [
    [protocol(), metadata(), *(add(f"{number}.parquet") for number in range(6))],
    [remove("0.parquet"), txn("loader", 1)],
    [remove("1.parquet"), add("6.parquet", size=7)],
    [add("7.parquet")],
]


def table_of(root: Path) -> HandmadeTable:
    table = HandmadeTable(root)
    for commit in COMMITS:
        table.commit(*commit)
    return table


def parts_of(version: int, parts: int) -> list[list[Action]]:
    """Distributes the actions of a checkpoint over its parts, so that each has some of each kind."""
    actions = [*replay(COMMITS[: version + 1]).actions(), txn(MARK, version * 10 + parts)]
    return [actions[part::parts] for part in range(parts)]


def name(version: int, part: int, parts: int) -> str:
    return f"{version:020}.checkpoint.{part:010}.{parts:010}.parquet"


def write(table: HandmadeTable, version: int, parts: int, *, but: int | None = None) -> None:
    """Writes the parts of a checkpoint, except one."""
    for part, actions in enumerate(parts_of(version, parts), start=1):
        if part != but:
            table.checkpoint(version, actions).rename(table.log / name(version, part, parts))


def marked(table: HandmadeTable) -> int | None:
    """Returns which checkpoint was read: its version times ten plus the number of its parts."""
    return deltaic.Table(table.root).snapshot().app_transactions.get(MARK)


def assert_right(table: HandmadeTable) -> None:
    said = shown(deltaic.Table(table.root).snapshot())
    said["transactions"].pop(MARK, None)
    assert said == wanted(replay(COMMITS))


@pytest.mark.parametrize("parts", [1, 2, 3, 11])
@pytest.mark.parametrize("hint", [True, False])
def test_all_parts_are_read(tmp_path: Path, parts: int, *, hint: bool) -> None:
    """In any order and distribution of the parts; also without the commits.

    protocol: checkpoints.6
    """
    table = table_of(tmp_path / "t")
    write(table, 2, parts)
    if hint:
        table.hint(2, parts=parts)
    assert marked(table) == 20 + parts
    assert_right(table)
    for version in range(3):
        (table.log / f"{version:020}.json").unlink()
    assert_right(table)


@pytest.mark.parametrize("missing", [1, 2, 3])
def test_a_missing_part_makes_it_none(tmp_path: Path, missing: int) -> None:
    """protocol: checkpoints.8."""
    table = table_of(tmp_path / "t")
    write(table, 1, 2)
    write(table, 2, 3, but=missing)
    table.hint(2, parts=3)
    assert marked(table) == 12
    assert_right(table)


def test_parts_of_two_writers_do_not_mix(tmp_path: Path) -> None:
    """One writer stopped within two parts, another wrote three: only the complete checkpoint is used."""
    table = table_of(tmp_path / "t")
    write(table, 2, 2, but=2)
    write(table, 2, 3)
    assert marked(table) == 23
    assert_right(table)
    (table.log / name(2, 3, 3)).unlink()
    assert marked(table) is None
    assert_right(table)


@pytest.mark.parametrize(
    "wrong",
    [
        f"{2:020}.checkpoint.2.2.parquet",
        f"{2:020}.checkpoint.{2:09}.{2:010}.parquet",
        f"{2:020}.checkpoint.{2:011}.{2:010}.parquet",
        f"{2:020}.checkpoint.{2:010}.{2:09}.parquet",
        f"{2:019}.checkpoint.{2:010}.{2:010}.parquet",
        f"{2:020}.checkpoint.{2:010}.{2:010}.parquet.tmp",
        f"{2:020}.checkpoint.{2:010}.parquet",
    ],
)
def test_a_part_has_the_padded_name(tmp_path: Path, wrong: str) -> None:
    """protocol: checkpoints.6."""
    table = table_of(tmp_path / "t")
    write(table, 2, 2)
    (table.log / name(2, 2, 2)).rename(table.log / wrong)
    assert marked(table) is None
    assert_right(table)


@pytest.mark.parametrize(("part", "parts"), [(0, 1), (2, 1), (1, 0), (0, 0)])
def test_numbers_that_no_part_can_have(tmp_path: Path, part: int, parts: int) -> None:
    table = table_of(tmp_path / "t")
    table.checkpoint(2, parts_of(2, 1)[0]).rename(table.log / name(2, part, parts))
    assert marked(table) is None
    assert_right(table)


def test_a_part_that_is_damaged(tmp_path: Path) -> None:
    table = table_of(tmp_path / "t")
    write(table, 2, 3)
    (table.log / name(2, 2, 3)).write_bytes(b"PAR1 no more")
    with pytest.warns(deltaic.DeltaicWarning, match="skipped"):
        assert marked(table) is None
    (table.log / f"{0:020}.json").unlink()
    with pytest.raises(deltaic.CorruptLog):
        deltaic.Table(table.root).snapshot()
