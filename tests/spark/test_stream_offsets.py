"""Offsets and batches of a stream, without Spark: whatever the limits, every file is read exactly once."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import deltaic
from deltaic.spark.stream_budget import Budget
from deltaic.spark.stream_files import StreamFiles
from deltaic.spark.stream_offset import StreamOffset
from deltaic.spark.stream_options import LATEST, Limits, StreamOptions
from tests.protocol.handmade_log import (
    ONE_LONG,
    TABLE_ID,
    HandmadeTable,
    add,
    commit_path,
    field,
    ids,
    metadata,
    protocol,
    remove,
    schema,
)
from tests.spark.streams import opened, rows_between

HOUR = 3_600_000
EIGHT_O_CLOCK = 1_793_520_000_000  # 2026-11-01T08:00:00Z


def generated(root: Path, seed: int) -> HandmadeTable:
    """A table of commits with no file, with one and with many, made out of a number."""
    chance = random.Random(seed)
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


def batches(files: StreamFiles, start: StreamOffset, limits: Limits) -> list[tuple[StreamOffset, list[str]]]:
    """The ends of all batches from a place on, and the files of each."""
    found: list[tuple[StreamOffset, list[str]]] = []
    while (end := files.end_of_batch(start, limits)) != start:
        found.append((end, [file.task.path for file in files.between(start, end)]))
        start = end
    return found


@pytest.mark.parametrize("seed", range(40))
def test_any_limits_give_every_file_once(tmp_path: Path, seed: int) -> None:
    table = generated(tmp_path / "t", seed)
    chance = random.Random(seed)
    limits = Limits(chance.choice([None, 1, 2, 3, 1000]), chance.choice([None, 1, 60, 500]))
    options = {} if chance.random() < 0.5 else {"startingVersion": "0"}
    files = opened(table.root, **options)

    found = batches(files, files.beginning(), limits)
    assert sorted(path for _, paths in found for path in paths) == all_paths(table)
    assert found[-1][0].version == table.next_version
    for _, paths in found:
        assert limits.max_files is None or len(paths) <= limits.max_files


@pytest.mark.parametrize("seed", range(20))
def test_a_stream_that_is_opened_anew_goes_on_where_it_was(tmp_path: Path, seed: int) -> None:
    table = generated(tmp_path / "t", seed)
    limits = Limits(max_files=2)
    place, found = opened(table.root).beginning(), list[str]()
    for _ in range(1000):
        # The snapshot stays the one that the stream began with, whatever comes.
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
    """A query that stops in its first batch asks again where it begins: that is the place of the plan."""
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
    """A commit that puts files together brings no row (protocol: *Add File and Remove File*, dataChange)."""
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
    # What came before was given; now nothing goes on.
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
    with pytest.raises(deltaic.VersionNotFound, match="2026-11-01T13:00:00Z"):
        began(startingTimestamp="2026-11-02T00:00:00Z")
    with pytest.raises(ValueError, match="no zone"):
        began(startingTimestamp="2026-11-01 10:00:00")
    with pytest.raises(deltaic.VersionNotFound, match="at version 9"):
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


def wider(*more: dict[str, object], table_id: str = TABLE_ID) -> dict[str, object]:
    return metadata(schema(field("id"), *more), id=table_id)


def test_a_schema_that_changes_stops_the_stream_until_it_is_begun_anew(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.create(table.data("a.parquet", ids(1)))
    files = opened(table.root, startingVersion="0")
    table.commit(table.data("b.parquet", ids(2)))
    table.commit(wider(field("note", "string")))
    table.commit(table.data("c.parquet", ids(3)))
    end = files.end_of_batch(files.beginning(), Limits())
    assert [row["id"] for row in rows_between(files, files.beginning(), end)] == [1, 2]
    with pytest.raises(deltaic.SchemaMismatch, match="note came") as caught:
        files.end_of_batch(end, Limits())
    assert "same checkpoint" in str(caught.value.hint)

    again = opened(table.root, startingVersion="0")
    rest = again.end_of_batch(end, Limits())
    assert rows_between(again, end, rest) == [{"id": 3, "note": None}]
    assert rest.version == table.next_version
    assert rows_between(again, again.beginning(), end)[0] == {"id": 1, "note": None}


@pytest.mark.parametrize(
    ("now", "why"),
    [
        (schema(field("id", "string")), "id was long and is string"),
        (schema(field("other")), "other came"),
        (schema(field("id"), field("s", {"type": "struct", "fields": [field("a"), field("b")]})), "s.b came"),
        (schema(field("id")), "s went"),
    ],
)
def test_columns_that_change_are_named(tmp_path: Path, now: str, why: str) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.create(schema_string=schema(field("id"), field("s", {"type": "struct", "fields": [field("a")]})))
    files = opened(table.root)
    start = files.end_of_batch(files.beginning(), Limits())
    table.commit(metadata(now), add("a.parquet"))
    with pytest.raises(deltaic.SchemaMismatch, match=why):
        files.end_of_batch(start, Limits())


def test_what_says_the_same_stops_no_stream(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.create(schema_string=schema(field("id", nullable=False), field("b", "string")))
    files = opened(table.root)
    start = files.end_of_batch(files.beginning(), Limits())
    table.commit(metadata(schema(field("b", "string", comment="said"), field("id"))), add("a.parquet"))
    assert files.end_of_batch(start, Limits()).version == 2


def test_a_type_that_does_not_fit_the_last_one(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.create(add("a.parquet"), schema_string=schema(field("id", "string")))
    table.commit(metadata(ONE_LONG), add("b.parquet"))
    files = opened(table.root, startingVersion="0")
    with pytest.raises(deltaic.SchemaMismatch, match="id was string") as caught:
        files.end_of_batch(files.beginning(), Limits())
    assert "startingVersion" in str(caught.value.hint)


def test_another_table_in_its_place(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.create(add("a.parquet"))
    files = opened(table.root)
    start = files.end_of_batch(files.beginning(), Limits())
    table.commit(wider(table_id="another"))
    with pytest.raises(deltaic.TableNotFound, match="another"):
        files.end_of_batch(start, Limits())
    with pytest.raises(deltaic.TableNotFound, match=TABLE_ID):
        opened(table.root).end_of_batch(start, Limits())


def test_a_log_that_went_back(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.create(add("a.parquet"))
    table.commit(add("b.parquet"))
    table.commit(add("c.parquet"))
    files = opened(table.root)
    start = files.end_of_batch(files.beginning(), Limits())
    commit_path(table.root, 2).unlink()
    commit_path(table.root, 1).unlink()
    with pytest.raises(deltaic.VersionNotFound, match="up to version 2"):
        opened(table.root).end_of_batch(start, Limits())


def test_commits_that_are_gone(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.create(add("a.parquet"))
    for name in "bcde":
        table.commit(add(f"{name}.parquet"))
    table.checkpoint(3, [protocol(), metadata(), *(add(f"{name}.parquet") for name in "abcd")])
    for version in range(3):
        commit_path(table.root, version).unlink()

    files = opened(table.root, startingVersion="1")
    with pytest.raises(deltaic.VersionNotFound, match="version 1"):
        files.end_of_batch(files.beginning(), Limits())
    files = opened(table.root, startingVersion="1", failOnDataLoss="false")
    with pytest.warns(deltaic.DeltaicWarning, match="versions 1 to 2"):
        [(_, found)] = batches(files, files.beginning(), Limits())
    assert found == ["d.parquet", "e.parquet"]


def test_a_gap_further_on_holds_nothing_back(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.create(add("a.parquet"))
    for name in "bcd":
        table.commit(add(f"{name}.parquet"))
    table.checkpoint(2, [protocol(), metadata(), *(add(f"{name}.parquet") for name in "abc")])
    commit_path(table.root, 1).unlink()
    files = opened(table.root, startingVersion="0")
    end = files.end_of_batch(files.beginning(), Limits())
    assert [file.task.path for file in files.between(files.beginning(), end)] == ["a.parquet"]
    with pytest.raises(deltaic.VersionNotFound, match="version 1"):
        files.end_of_batch(end, Limits())


def test_what_was_read_is_forgotten_and_can_be_asked_again(tmp_path: Path) -> None:
    table = generated(tmp_path / "t", 7)
    files = opened(table.root, startingVersion="0")
    end = files.end_of_batch(files.beginning(), Limits())
    before = [file.task.path for file in files.between(files.beginning(), end)]
    files.forget_before(end)
    assert [file.task.path for file in files.between(files.beginning(), end)] == before


@pytest.mark.parametrize(
    ("limits", "sizes", "taken"),
    [
        (Limits(), [5, 5, 5], 3),
        (Limits(max_files=2), [5, 5, 5], 2),
        (Limits(max_bytes=1), [5, 5, 5], 1),
        (Limits(max_bytes=6), [5, 5, 5], 2),
        (Limits(max_files=1), [None, 5, None, 5], 3),
        (Limits(max_files=1), [], 0),
    ],
)
def test_limits(limits: Limits, sizes: list[int | None], taken: int) -> None:
    assert Budget(limits).take(sizes) == taken


def test_what_comes_together_comes_together_or_later() -> None:
    budget = Budget(Limits(max_files=3))
    assert budget.take_all([5, 5, 5, 5]) == 4, "the first ones always come"
    assert budget.take_all([5]) == 0
    budget = Budget(Limits(max_files=3))
    assert [budget.take_all([5, 5]), budget.take_all([5, 5]), budget.take_all([5])] == [2, 0, 1]


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


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"maxFilePerTrigger": "3"}, "did you mean maxFilesPerTrigger"),
        ({"maxFilesPerTrigger": "0"}, "at least 1"),
        ({"maxFilesPerTrigger": "few"}, "whole number"),
        ({"maxBytesPerTrigger": "10 apples"}, "number of bytes"),
        ({"startingVersion": "-1"}, "counts from 0"),
        ({"startingVersion": "newest"}, "'latest'"),
        ({"startingVersion": "1", "startingTimestamp": "2026-11-01T00:00:00Z"}, "not both"),
        ({"ignoreDeletes": "yes"}, "true or false"),
        ({"excludeRegex": "("}, "regular expression"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, str], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        StreamOptions.parse({"path": "t", **options})


def test_options_in_any_case() -> None:
    parsed = StreamOptions.parse(
        {"PATH": "t", "maxbytespertrigger": "10m", "FAILONDATALOSS": "False", "aws_region": "eu-west-1"}
    )
    assert parsed.limits == parsed.default_limits == Limits(max_bytes=10 << 20)
    assert not parsed.fail_on_data_loss
    assert parsed.storage_options == {"aws_region": "eu-west-1"}
    assert StreamOptions.parse({"path": "t"}).default_limits == Limits(max_files=1000)
    with pytest.raises(deltaic.UnsupportedFeature, match="schemaTrackingLocation"):
        StreamOptions.parse({"path": "t", "schematrackinglocation": "x"})
