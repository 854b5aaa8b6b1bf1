"""Offsets and batches of a stream, without Spark: with any limits, every file is read exactly once."""

from __future__ import annotations

from pathlib import Path

import pytest

import deltaic
from deltaic.spark.stream.offset import StreamOffset
from deltaic.spark.stream.options import LATEST, Limits
from tests.protocol.handmade_log import (
    TABLE_ID,
    HandmadeTable,
    add,
    remove,
)
from tests.seed import generator
from tests.spark.streams import batches, opened

HOUR = 3_600_000
EIGHT_O_CLOCK = 1_793_520_000_000  # 2026-11-01T08:00:00Z


def generated(root: Path, number: int) -> HandmadeTable:
    """Returns a table of random commits with no file, with one and with many."""
    chance = generator("commits", number)
    table = HandmadeTable(root)
    table.create()
    for version in range(1, chance.randint(2, 12)):
        paths = [f"v{version}-{number}.parquet" for number in range(chance.choice([0, 1, 1, 2, 7]))]
        sizes = [chance.choice([1, 50, 50, 1000]) for _ in paths]
        times = [chance.randint(1, 4) for _ in paths]
        table.commit(
            {"commitInfo": {"operation": "WRITE"}},
            *(
                add(path, size=size, modificationTime=time)
                for path, size, time in zip(paths, sizes, times, strict=True)
            ),
        )
    return table


def all_paths(table: HandmadeTable) -> list[str]:
    return sorted(deltaic.Table(table.root).snapshot().files().to_arrow()["path"].to_pylist())


@pytest.mark.parametrize("number", range(40))
def test_any_limits_give_every_file_once(tmp_path: Path, number: int) -> None:
    table = generated(tmp_path / "t", number)
    chance = generator("limits", number)
    limits = Limits(chance.choice([None, 1, 2, 3, 1000]), chance.choice([None, 1, 60, 500]))
    options = {} if chance.random() < 0.5 else {"startingVersion": "0"}
    files = opened(table.root, **options)

    found = batches(files, files.beginning(), limits)
    assert sorted(path for _, paths in found for path in paths) == all_paths(table)
    assert found[-1][0].version == table.next_version
    for _, paths in found:
        assert limits.max_files is None or len(paths) <= limits.max_files


@pytest.mark.parametrize("number", range(20))
def test_a_stream_that_is_opened_again_continues_where_it_was(tmp_path: Path, number: int) -> None:
    table = generated(tmp_path / "t", number)
    limits = Limits(max_files=2)
    place, found = opened(table.root).beginning(), list[str]()
    for _ in range(1000):
        # The initial snapshot of the stream does not change with new commits.
        if place.version < 15:
            table.commit(add(f"later-{table.next_version}.parquet", modificationTime=0))
        again = StreamOffset.from_json(place.to_json())
        end = opened(table.root).end_of_batch(again, limits)
        if end == again:
            break
        found.extend(file.task.path for file in opened(table.root).between(again, end))
        place = end
    assert sorted(found) == all_paths(table)


def test_the_snapshot_comes_by_time_and_then_by_path(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.create(
        add("c.parquet", modificationTime=1),
        add("b.parquet", modificationTime=2),
        add("a.parquet", modificationTime=2),
    )
    files = opened(table.root)
    [(end, paths)] = batches(files, files.beginning(), Limits())
    assert paths == ["c.parquet", "a.parquet", "b.parquet"]
    assert end.to_json() == {
        "format": 1,
        "table_id": TABLE_ID,
        "first_version": 0,
        "initial_snapshot": True,
        "version": 1,
        "index": 0,
    }


def test_a_first_batch_that_was_planned_is_read_as_planned(tmp_path: Path) -> None:
    """A query that stopped in its first batch restarts from the beginning: the planned batch is the same."""
    table = HandmadeTable(tmp_path / "t")
    table.create(add("a.parquet"), add("b.parquet"))
    files = opened(table.root)
    planned = files.end_of_batch(files.beginning(), Limits(max_files=1))
    table.commit(remove("a.parquet"))
    again = opened(table.root)
    assert again.beginning().version == 1
    assert [file.task.path for file in again.between(again.beginning(), planned)] == ["a.parquet"]


@pytest.mark.parametrize("options", [{}, {"startingVersion": "0"}, {"startingVersion": LATEST}])
def test_a_stream_stops_at_what_was_newest(tmp_path: Path, options: dict[str, str]) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.create(add("a.parquet"))
    files = opened(table.root, **options)
    files.stop_at_newest()
    table.commit(add("b.parquet"))
    end = files.end_of_batch(files.beginning(), Limits())
    assert end.version == 1
    assert files.end_of_batch(end, Limits()) == end


def test_only_what_changes_data_is_new(tmp_path: Path) -> None:
    """A commit with `dataChange=false` adds no rows (protocol: *Add File and Remove File*, dataChange)."""
    table = HandmadeTable(tmp_path / "t")
    table.create(add("a.parquet"), add("b.parquet"))
    table.commit(
        remove("a.parquet", dataChange=False),
        remove("b.parquet", dataChange=False),
        add("c.parquet", dataChange=False),
    )
    table.commit(add("d.parquet"))
    files = opened(table.root, startingVersion="0")
    assert [paths for _, paths in batches(files, files.beginning(), Limits(max_files=10))] == [
        ["a.parquet", "b.parquet", "d.parquet"]
    ]


def changing(root: Path) -> HandmadeTable:
    """Version 1 adds, 2 deletes a file, 3 adds, 4 rewrites one, 5 adds."""
    table = HandmadeTable(root)
    table.create()
    table.commit(add("a.parquet"), add("b.parquet"))
    table.commit(remove("a.parquet"))
    table.commit(add("c.parquet"))
    table.commit(remove("b.parquet"), add("d.parquet"))
    table.commit(add("e.parquet"))
    return table


@pytest.mark.parametrize(
    ("options", "paths", "refused_at"),
    [
        ({}, "ab", 2),
        ({"ignoreDeletes": "true"}, "abc", 4),
        ({"ignoreChanges": "true"}, "abcde", None),
        ({"ignoreFileDeletion": "true"}, "abcde", None),
        ({"skipChangeCommits": "true"}, "abce", None),
        ({"ignoreDeletes": "true", "skipChangeCommits": "true"}, "abce", None),
    ],
)
def test_commits_that_remove_rows(
    tmp_path: Path, options: dict[str, str], paths: str, refused_at: int | None
) -> None:
    table = changing(tmp_path / "t")
    files = opened(table.root, startingVersion="0", **options)
    end = files.end_of_batch(files.beginning(), Limits())
    found = [file.task.path for file in files.between(files.beginning(), end)]
    assert found == [f"{path}.parquet" for path in paths]
    if refused_at is None:
        assert end.version == table.next_version
        return
    # Earlier rows were returned; the stream stops here.
    assert end.version == refused_at
    with pytest.raises(deltaic.UnsupportedFeature, match=f"version {refused_at} ") as caught:
        files.end_of_batch(end, Limits())
    assert str(caught.value.context["path"]) in caught.value.message
    assert "skipChangeCommits" in str(caught.value.hint)


def test_the_start_by_version_and_time(tmp_path: Path) -> None:
    table = changing(tmp_path / "t")
    for version in range(table.next_version):
        table.set_time(version, EIGHT_O_CLOCK + version * HOUR)

    def began(**options: str) -> tuple[int, bool]:
        place = opened(table.root, **options).beginning()
        return place.version, place.initial_snapshot

    assert began() == (5, True)
    assert began(startingVersion="3") == (3, False)
    assert began(startingVersion="Latest") == (6, False)
    assert began(startingTimestamp="2026-11-01T10:00:00Z") == (2, False)
    assert began(startingTimestamp="2026-11-01T10:00:00.001Z") == (3, False)
    assert began(startingTimestamp="2020-01-01T00:00:00Z") == (0, False)
    assert began(startingTimestamp="2026-11-01 11:00:00", timeZone="Europe/Rome") == (2, False)
    with pytest.raises(deltaic.VersionNotFound, match="2026-11-01T13:00:00Z"):
        began(startingTimestamp="2026-11-02T00:00:00Z")
    with pytest.raises(ValueError, match="no time zone"):
        began(startingTimestamp="2026-11-01 10:00:00")
    with pytest.raises(deltaic.VersionNotFound, match="startingVersion is 9"):
        began(startingVersion="9")


def test_excluded_files_are_passed_over_and_do_not_count(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.create(add("a.parquet"))
    table.commit(add("tmp-1.parquet"), add("b.parquet"), add("tmp-2.parquet"), add("c.parquet"))
    files = opened(table.root, startingVersion="0", excludeRegex="^tmp-")
    assert [paths for _, paths in batches(files, files.beginning(), Limits(max_files=2))] == [
        ["a.parquet", "b.parquet"],
        ["c.parquet"],
    ]


def test_read_state_is_released_and_loaded_again(tmp_path: Path) -> None:
    table = generated(tmp_path / "t", 7)
    files = opened(table.root, startingVersion="0")
    end = files.end_of_batch(files.beginning(), Limits())
    before = [file.task.path for file in files.between(files.beginning(), end)]
    files.forget_before(end)
    assert [file.task.path for file in files.between(files.beginning(), end)] == before


@pytest.mark.parametrize(
    "damage",
    [
        {"format": 2},
        {"index": -1},
        {"version": "3"},
        {"version": 1},
        {"initial_snapshot": 1},
        {"table_id": None},
    ],
)
def test_an_offset_of_another_kind(damage: dict[str, object]) -> None:
    offset = StreamOffset("id", 2, True, 3, 4).to_json()
    assert StreamOffset.from_json(offset) == StreamOffset("id", 2, True, 3, 4)
    with pytest.raises(deltaic.CorruptLog, match="cannot read"):
        StreamOffset.from_json({**offset, **damage})
