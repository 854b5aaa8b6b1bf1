"""Regressions in log replay: malformed or inconsistent checkpoints, hints and lines."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic
from tests.api.opened_logs import FIRST_CHECKPOINT, opened, paths
from tests.protocol.handmade_log import (
    CHECKPOINT_COLUMNS,
    Action,
    HandmadeTable,
    add,
    commit_path,
    domain,
    metadata,
    protocol,
    remove,
    txn,
    write_actions,
)

V2 = protocol(3, 7, ["v2Checkpoint"], ["v2Checkpoint"])
V2_NAME = f"{0:020}.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11"


def assert_read_from_commits(table: HandmadeTable, expected: Sequence[str]) -> None:
    """Asserts that the checkpoint is skipped with a warning and that the files are those of the commits."""
    snapshot = opened(table)
    assert paths(snapshot) == sorted(expected)
    assert any("a checkpoint was skipped" in warning for warning in snapshot.warnings)


def kind_of(column: str, **fields: pa.DataType) -> dict[str, pa.DataType]:
    """The columns of a checkpoint, with other types for some fields of one column."""
    kinds = [(field.name, fields.get(field.name, field.type)) for field in CHECKPOINT_COLUMNS[column]]
    return {**CHECKPOINT_COLUMNS, column: pa.struct(kinds)}


def test_parts_of_two_writers_are_not_checkpoint(root: Path) -> None:
    """Regression: the parts were read as one checkpoint, with one file twice and another missing."""
    table = HandmadeTable(root)
    table.create(*(add(name) for name in "abcd"))
    for part, actions in enumerate(
        [[protocol(), metadata(), add("a"), add("b")], [add("b"), add("d")]], start=1
    ):
        name = f"{0:020}.checkpoint.{part:010}.0000000002.parquet"
        table.checkpoint(0, actions).rename(table.log / name)
    assert_read_from_commits(table, "abcd")


@pytest.mark.parametrize("form", ["json", "parquet"])
def test_a_sidecar_that_is_named_twice_is_not_read_twice(root: Path, form: str) -> None:
    """Regression: each file of the sidecar appeared twice in the table."""
    table = HandmadeTable(root)
    table.commit(V2, metadata(), add("a"), add("b"))
    sidecar = table.sidecar("s.parquet", [add("a"), add("b")])
    header = {"checkpointMetadata": {"version": 0}}
    table.top_level(f"{V2_NAME}.{form}", [V2, metadata(), header, sidecar, sidecar])
    assert_read_from_commits(table, "ab")


def test_a_checkpoint_holds_a_file_once(root: Path) -> None:
    """Regression: the file appeared twice in the table, and its rows were counted twice."""
    table = HandmadeTable(root)
    table.create(add("a"), add("b"))
    table.checkpoint(0, [protocol(), metadata(), add("a"), add("b"), add("a")])
    assert_read_from_commits(table, "ab")


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (pa.string(), '{"path":"a"}'),
        (pa.int64(), 5),
        (pa.list_(CHECKPOINT_COLUMNS["add"]), [add("a")["add"]]),
    ],
    ids=["text", "number", "list"],
)
def test_adds_of_another_shape_are_not_no_adds(root: Path, kind: pa.DataType, value: Any) -> None:
    """Regression: an `add` column that is not a struct was read as no files, without a warning."""
    table = HandmadeTable(root)
    table.create(add("a"))
    rows = [protocol(), metadata(), {"add": value}]
    write_actions(table.log / FIRST_CHECKPOINT, rows, {**CHECKPOINT_COLUMNS, "add": kind})
    assert_read_from_commits(table, "a")


def test_a_size_below_zero_passes_a_checkpoint_over(root: Path) -> None:
    """Regression: such a size is corrupt in a commit, but was accepted from a checkpoint."""
    table = HandmadeTable(root)
    table.create(add("a"))
    table.checkpoint(0, [protocol(), metadata(), add("a", size=-5)])
    assert_read_from_commits(table, "a")
    assert opened(table).files().to_arrow()["size"].to_pylist() == [100]


@pytest.mark.parametrize(
    ("column", "fields"),
    [
        ("txn", ["appId"]),
        ("domainMetadata", ["domain", "configuration"]),
        ("add", ["stats"]),
    ],
)
def test_text_without_its_mark_is_text(root: Path, column: str, fields: list[str]) -> None:
    """Regression: bytes without the UTF-8 annotation were shown in hex; as statistics they were refused."""
    table = HandmadeTable(root)
    table.create()
    of_file = add("a", stats='{"numRecords":5}')
    rows = [protocol(), metadata(), of_file, txn("loader", 3), domain("house.rules", '{"q":1}')]
    kinds = kind_of(column, **dict.fromkeys(fields, pa.binary()))
    write_actions(table.log / FIRST_CHECKPOINT, rows, kinds)
    commit_path(root, 0).unlink()
    snapshot = opened(table)
    assert dict(snapshot.app_transactions) == {"loader": 3}
    assert dict(snapshot.domain_metadata) == {"house.rules": '{"q":1}'}
    assert snapshot.files(stats=True).to_arrow()["num_records"].to_pylist() == [5]


@pytest.mark.parametrize(
    "bounds",
    [
        '"minValues":{"id":3,"id":9},"maxValues":{"id":12}',
        '"minValues":{"id":1},"maxValues":{"id":12,"id":2}',
    ],
    ids=["least", "greatest"],
)
def test_bounds_that_remain_twice_are_not_bounds(root: Path, bounds: str) -> None:
    """Regression: the last of two bounds was used, so that a file that may contain the row was pruned."""
    table = HandmadeTable(root)
    table.create(add("twice", stats=f'{{"numRecords":1,{bounds}}}'))
    assert paths(opened(table), "id = 4") == ["twice"]


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")], ids=["tight", "spaced"])
@pytest.mark.parametrize("second", ["null", '{"a":"2"}'])
def test_tags_that_remain_twice_are_corrupt(root: Path, separators: tuple[str, str], second: str) -> None:
    """Regression: two parsers disagreed on duplicate tags, depending on the whitespace of the line."""
    table = HandmadeTable(root)
    table.create()
    once = json.dumps(add("a", tags={"a": "1"}), separators=separators)
    comma, colon = separators
    assert once.endswith("}}}")
    table.commit_bytes(f'{once[:-2]}{comma}"tags"{colon}{second}}}}}\n'.encode())
    with pytest.raises(deltaic.CorruptLog):
        opened(table)


def test_a_hint_without_end_is_not_read(root: Path) -> None:
    """Regression: a `_last_checkpoint` of any size was read and parsed completely."""
    table = HandmadeTable(root)
    actions: list[Action] = [add("a"), remove("b")]
    table.create(*actions)
    table.checkpoint(0, [protocol(), metadata(), *actions])
    table.hint(0, tags={"filler": "x" * 2_000_000})
    snapshot = opened(table)
    assert paths(snapshot) == ["a"]
    [warning] = snapshot.warnings
    assert "_last_checkpoint was skipped" in warning
    assert "bytes" in warning
