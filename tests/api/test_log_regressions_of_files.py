"""Regressions in held snapshots and statistics: replaced files, refreshes and pruning."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic
from tests.api.opened_logs import FIRST_CHECKPOINT, opened, paths
from tests.protocol.handmade_log import (
    CHECKPOINT_COLUMNS,
    Action,
    HandmadeTable,
    add,
    commit_path,
    field,
    metadata,
    protocol,
    remove,
    schema,
    write_actions,
)

TOMBSTONES = 20_000  # far more bytes than are fetched with the footer

# So many that the checkpoint is larger than the tail that is fetched with its footer.
FILES = 4000


def exactly(number: int) -> str:
    """Returns the statistics of a file with one row, always of the same length."""
    bound = {"id": 10_000_000 + number}
    return json.dumps({"numRecords": 1, "minValues": bound, "maxValues": bound, "nullCount": {"id": 0}})


def adds(numbers: Iterable[int]) -> list[Action]:
    return [add(str(10_000_000 + number), stats=exactly(number)) for number in numbers]


def write_plain(path: Path, actions: list[Action]) -> None:
    """Writes a checkpoint whose size depends only on the lengths of its strings."""
    rows = [protocol(), metadata(), *actions]
    columns = {
        name: pa.array([row.get(name) for row in rows], kind) for name, kind in CHECKPOINT_COLUMNS.items()
    }
    plain: dict[str, Any] = {"compression": "none", "use_dictionary": False, "write_statistics": False}
    pq.write_table(pa.table(columns), path, **plain)


def put_in_place(path: Path, new: Path) -> None:
    """Replaces a file by one of the same size."""
    assert new.stat().st_size == path.stat().st_size
    new.replace(path)


def assert_tells_of_no_other_file(snapshot: deltaic.Snapshot) -> None:
    told = snapshot.files(stats=True).to_arrow().select(["path", "num_records", "min"]).to_pylist()
    assert len(told) == snapshot.num_files
    for row in told:
        assert row["num_records"] in (None, 1)
        assert row["min"] is None or row["min"]["id"] in (None, int(row["path"]))
    # One file near the start and one near the end; the new checkpoint lists them in reverse order.
    for row in (told[5], told[-5]):
        assert row["path"] in paths(snapshot, f"id = {row['path']}")


def test_a_checkpoint_that_was_replaced_lends_no_client_its_statistics(root: Path) -> None:
    """Regression: statistics of the new checkpoint were applied to the old files and pruned live files."""
    table = HandmadeTable(root)
    table.create()
    checkpoint, new = table.log / FIRST_CHECKPOINT, root / "new"
    write_plain(checkpoint, adds(range(FILES)))
    snapshot = opened(table)
    assert snapshot.num_files == FILES
    write_plain(new, adds(reversed(range(FILES))))
    put_in_place(checkpoint, new)
    assert_tells_of_no_other_file(snapshot)


def test_a_commit_that_was_replaced_lends_no_client_its_statistics(root: Path) -> None:
    """Regression: offsets of the old commit's statistics were read from the new commit."""
    table = HandmadeTable(root)
    table.create(*adds(range(20)))
    snapshot = opened(table)
    other = HandmadeTable(root.parent / "other")
    other.create(*adds(reversed(range(20))))
    put_in_place(commit_path(root, 0), commit_path(other.root, 0))
    assert_tells_of_no_other_file(snapshot)


def test_a_checkpoint_that_was_replaced_lends_no_client_its_tombstones(root: Path) -> None:
    """Regression: tombstones are read lazily; the old snapshot returned those of the new checkpoint."""
    table = HandmadeTable(root)
    table.create()
    checkpoint, new = table.log / FIRST_CHECKPOINT, root / "new"
    write_plain(checkpoint, [remove(f"old{number:09}") for number in range(TOMBSTONES)])
    snapshot = opened(table)
    write_plain(new, [remove(f"new{number:09}") for number in range(TOMBSTONES)])
    put_in_place(checkpoint, new)
    try:
        found = snapshot.tombstones().to_arrow()["path"].to_pylist()
    except deltaic.DeltaicError:
        return
    assert sorted(found) == [f"old{number:09}" for number in range(TOMBSTONES)]


def test_a_table_recreated_with_a_commit_of_the_same_size_and_time(root: Path) -> None:
    """Regression: a refresh compared only size and time of the newest commit and kept the dropped files."""
    table = HandmadeTable(root)
    table.create(add("a"))
    table.commit(add("b"))
    snapshot = opened(table)
    times = {version: commit_path(root, version).stat().st_mtime_ns for version in (0, 1)}
    other = HandmadeTable(root.parent / "other")
    other.create(add("x"))
    other.commit(add("b"))
    for version, time in times.items():
        put_in_place(commit_path(root, version), commit_path(other.root, version))
        os.utime(commit_path(root, version), ns=(time, time))
    table.commit(add("z"))
    assert paths(snapshot.refresh()) == paths(opened(table)) == ["b", "x", "z"]


def test_a_refresh_over_a_damaged_commit_takes_the_checkpoint_after_it(root: Path) -> None:
    """Regression: opening starts at the checkpoint and skips the commit; the refresh read it and failed."""
    table = HandmadeTable(root)
    table.create(add("a"))
    snapshot = opened(table)
    table.commit_bytes(b'{"add":\n')
    table.checkpoint(1, [protocol(), metadata(), add("a"), add("b")])
    table.commit(add("c"))
    refreshed = snapshot.refresh()
    assert refreshed.version == opened(table).version == 2
    assert paths(refreshed) == paths(opened(table)) == ["a", "b", "c"]


def test_findings_of_an_older_checksum_are_not_repeated(root: Path) -> None:
    """Regression: the refresh kept all warnings, as if they were about the new version."""
    table = HandmadeTable(root)
    table.create(add("a"))
    wrong = {"tableSizeBytes": 5, "numFiles": 9, "numMetadata": 1, "numProtocol": 1}
    (table.log / f"{0:020}.crc").write_text(json.dumps(wrong))
    snapshot = opened(table)
    assert snapshot.warnings
    table.commit(add("b"))
    assert list(snapshot.refresh().warnings) == list(opened(table).warnings) == []


def test_a_hint_that_was_repaired_is_not_warned_of_again(root: Path) -> None:
    """Regression: the refresh kept the warning about a hint that no longer exists."""
    table = HandmadeTable(root)
    table.create(add("a"))
    hint = table.log / "_last_checkpoint"
    hint.write_text("{")
    snapshot = opened(table)
    assert snapshot.warnings
    hint.unlink()
    table.commit(add("b"))
    assert list(snapshot.refresh().warnings) == list(opened(table).warnings) == []


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        ("p = 1", ["one", "unreadable"]),
        ("p = 2", ["unreadable"]),
        ("p IS NULL", ["empty", "null", "unreadable"]),
        ("p IS NOT NULL", ["one", "unreadable"]),
    ],
)
def test_a_value_that_cannot_be_read_is_not_null(root: Path, predicate: str, expected: list[str]) -> None:
    """The fast path for NULL partition values returns the same as the check of each single value."""
    table = HandmadeTable(root)
    values = {"one": "1", "null": None, "empty": "", "unreadable": "x"}
    table.create(
        *(add(path, values={"p": value}) for path, value in values.items()),
        schema_string=schema(field("p"), field("id")),
        partition_by=["p"],
    )
    assert paths(opened(table), predicate) == expected


BOUNDS = pa.struct([("id", pa.int64())])
PARSED = pa.struct(
    [("numRecords", pa.int64()), ("minValues", BOUNDS), ("maxValues", BOUNDS), ("nullCount", BOUNDS)]
)


def with_structs(root: Path, kind: pa.DataType, rows: list[Action]) -> deltaic.Snapshot:
    """A table whose checkpoint has `stats_parsed` of the given type in addition to `stats`."""
    table = HandmadeTable(root)
    table.create()
    kinds = dict(CHECKPOINT_COLUMNS)
    kinds["add"] = pa.struct([*CHECKPOINT_COLUMNS["add"], pa.field("stats_parsed", kind)])
    write_actions(table.log / FIRST_CHECKPOINT, [protocol(), metadata(), *rows], kinds)
    snapshot = opened(table)
    assert snapshot.warnings == []
    return snapshot


def parsed(number: int) -> dict[str, Any]:
    bound = {"id": number}
    return {"numRecords": number, "minValues": bound, "maxValues": bound, "nullCount": {"id": 0}}


def least(snapshot: deltaic.Snapshot) -> dict[str, int | None]:
    told = snapshot.files(stats=True).to_arrow().select(["path", "min"]).to_pylist()
    return {row["path"]: row["min"] and row["min"]["id"] for row in told}


def test_each_file_has_the_statistics_that_it_has(root: Path) -> None:
    """Regression: one file without `stats_parsed` disabled it for all; files without `stats` lost theirs."""
    snapshot = with_structs(
        root,
        PARSED,
        [
            add("struct", stats_parsed=parsed(1)),
            add("text", stats=json.dumps(parsed(2))),
            add("both", stats_parsed=parsed(3), stats=json.dumps(parsed(3))),
            add("neither"),
        ],
    )
    assert least(snapshot) == {"struct": 1, "text": 2, "both": 3, "neither": None}
    for number, path in enumerate(["struct", "text", "both"], start=1):
        assert paths(snapshot, f"id = {number}") == sorted(["neither", path])
    assert paths(snapshot, "id = 9") == ["neither"]


def test_structs_that_state_less_than_the_text_do_not_hide_it(root: Path) -> None:
    """Regression: a struct with only `numRecords` was used, and the bounds in `stats` were not."""
    rows = [
        add(str(number), stats=json.dumps(parsed(number)), stats_parsed={"numRecords": number})
        for number in range(1, 4)
    ]
    snapshot = with_structs(root, pa.struct([("numRecords", pa.int64())]), rows)
    assert least(snapshot) == {"1": 1, "2": 2, "3": 3}
    assert paths(snapshot, "id = 2") == ["2"]
