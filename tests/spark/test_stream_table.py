"""A table that changes during a stream: its columns, its log, and its replacement by another table."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic
from deltaic.spark.stream.options import Limits
from tests.damage.counting import cost_of
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
from tests.protocol.handmade_vectors import FEATURE, without
from tests.spark.streams import batches, opened, rows_between


def wider(*more: dict[str, object], table_id: str = TABLE_ID) -> dict[str, object]:
    return metadata(schema(field("id"), *more), id=table_id)


def test_a_schema_that_changes_stops_the_stream_until_it_is_begun_again(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.create(table.data("a.parquet", ids(1)))
    files = opened(table.root, startingVersion="0")
    table.commit(table.data("b.parquet", ids(2)))
    table.commit(wider(field("note", "string")))
    table.commit(table.data("c.parquet", ids(3)))
    end = files.end_of_batch(files.beginning(), Limits())
    assert [row["id"] for row in rows_between(files, files.beginning(), end)] == [1, 2]
    with pytest.raises(deltaic.SchemaMismatch, match="note was added") as caught:
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
        (schema(field("id", "string")), "id was bigint and is string"),
        (schema(field("other")), "other was added"),
        (
            schema(field("id"), field("s", {"type": "struct", "fields": [field("a"), field("b")]})),
            "s.b was added",
        ),
        (schema(field("id")), "s was dropped"),
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


def test_equivalent_metadata_stops_no_stream(tmp_path: Path) -> None:
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


def test_another_table_while_the_stream_runs(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.create(add("a.parquet"))
    table.commit(add("b.parquet"))
    files = opened(table.root)
    start = files.end_of_batch(files.beginning(), Limits())
    shutil.rmtree(table.root)
    other = HandmadeTable(tmp_path / "t")
    other.commit(protocol(), wider(table_id="another"), add("c.parquet"))
    for _ in range(2):
        with pytest.raises((deltaic.TableNotFound, deltaic.VersionNotFound)):
            files.end_of_batch(start, Limits())
        other.commit(add(f"{other.next_version}.parquet"))
        other.commit(add(f"{other.next_version}.parquet"))


MAPPED = protocol(2, 5)


def mapped(*fields: tuple[str, str, int], mode: str = "name") -> dict[str, object]:
    """Returns metadata with columns by name, physical name and id."""
    columns = [
        field(
            name,
            **{"delta.columnMapping.id": number, "delta.columnMapping.physicalName": physical},
        )
        for name, physical, number in fields
    ]
    return metadata(
        schema(*columns),
        configuration={"delta.columnMapping.mode": mode, "delta.columnMapping.maxColumnId": "9"},
    )


def test_a_renamed_column_retains_its_values(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    before = pa.table({"c1": pa.array([1], pa.int64()), "c2": pa.array([10], pa.int64())})
    after = pa.table({"c1": pa.array([2], pa.int64()), "c3": pa.array([30], pa.int64())})
    table.commit(MAPPED, mapped(("id", "c1", 1), ("a", "c2", 2)), table.data("a.parquet", before))
    files = opened(table.root, startingVersion="0")
    # Column a was dropped, another column has its name, and id was renamed to key.
    table.commit(mapped(("key", "c1", 1), ("a", "c3", 3)), table.data("b.parquet", after))

    end = files.end_of_batch(files.beginning(), Limits())
    assert rows_between(files, files.beginning(), end) == [{"id": 1, "a": 10}]
    with pytest.raises(deltaic.SchemaMismatch, match="id was renamed to key"):
        files.end_of_batch(end, Limits())
    again = opened(table.root, startingVersion="0")
    last = again.end_of_batch(end, Limits())
    assert rows_between(again, again.beginning(), last) == [{"key": 1, "a": None}, {"key": 2, "a": 30}]


def test_a_mapping_that_comes_while_the_stream_runs(tmp_path: Path) -> None:
    """Enabling column mapping keeps the names, so the stream continues and reads physical names."""
    table = HandmadeTable(tmp_path / "t")
    table.create(table.data("a.parquet", ids(1)))
    files = opened(table.root, startingVersion="0")
    table.commit(MAPPED, mapped(("id", "id", 1)), table.data("b.parquet", ids(2)))
    end = files.end_of_batch(files.beginning(), Limits())
    assert rows_between(files, files.beginning(), end) == [{"id": 1}, {"id": 2}]


def test_a_type_that_widens(tmp_path: Path) -> None:
    features = ["typeWidening"]
    table = HandmadeTable(tmp_path / "t")
    narrow = table.data("a.parquet", pa.table({"id": pa.array([1], pa.int32())}))
    table.commit(protocol(3, 7, features, features), metadata(schema(field("id", "integer"))), narrow)
    files = opened(table.root, startingVersion="0")
    changes = [{"toType": "long", "fromType": "integer"}]
    wide = metadata(schema(field("id", "long", **{"delta.typeChanges": changes})))
    table.commit(wide, table.data("b.parquet", ids(1 << 40)))

    end = files.end_of_batch(files.beginning(), Limits())
    assert end.version == 1
    with pytest.raises(deltaic.SchemaMismatch, match="id was int and is bigint"):
        files.end_of_batch(end, Limits())
    again = opened(table.root, startingVersion="0")
    last = again.end_of_batch(end, Limits())
    assert rows_between(again, again.beginning(), last) == [{"id": 1}, {"id": 1 << 40}]


def test_partitions_that_change(tmp_path: Path) -> None:
    columns = schema(field("id"), field("r", "string"))
    table = HandmadeTable(tmp_path / "t")
    table.create(
        table.data("a.parquet", ids(1), values={"r": "x"}), schema_string=columns, partition_by=["r"]
    )
    files = opened(table.root, startingVersion="0")
    whole = pa.table({"id": pa.array([2], pa.int64()), "r": ["y"]})
    table.commit(metadata(columns), table.data("b.parquet", whole))
    end = files.end_of_batch(files.beginning(), Limits())
    assert rows_between(files, files.beginning(), end) == [{"id": 1, "r": "x"}, {"id": 2, "r": "y"}]


def test_a_feature_that_comes_and_is_not_known(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.create(add("a.parquet"))
    files = opened(table.root, startingVersion="0")
    table.commit(protocol(3, 7, ["unheardOf"], ["unheardOf"]), add("b.parquet"))
    with pytest.raises(deltaic.UnsupportedFeature, match="unheardOf"):
        files.end_of_batch(files.beginning(), Limits())


def test_a_file_whose_rows_were_marked_deleted_returns_without_them(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    first = table.data("a.parquet", ids(1, 2, 3))["add"]
    table.commit(FEATURE, metadata(), {"add": first})
    table.commit(remove("a.parquet"), {"add": {**first, **without(1)}})
    files = opened(table.root, startingVersion="1", ignoreDeletes="true")
    with pytest.raises(deltaic.UnsupportedFeature, match="rewrote rows"):
        files.end_of_batch(files.beginning(), Limits())
    files = opened(table.root, startingVersion="0", ignoreChanges="true")
    end = files.end_of_batch(files.beginning(), Limits())
    assert [row["id"] for row in rows_between(files, files.beginning(), end)] == [1, 2, 3, 1, 3]


@pytest.mark.parametrize("commits", [5, 200])
def test_a_trigger_costs_what_is_new(tmp_path: Path, commits: int) -> None:
    """Independent of the log's length, each commit is read once to detect it and once to read its files."""
    table = HandmadeTable(tmp_path / "t")
    table.create()
    for number in range(commits):
        table.commit(add(f"{number}.parquet"))
    files = opened(table.root)
    place = files.end_of_batch(files.beginning(), Limits())
    for number in range(3):
        assert cost_of(partial(files.end_of_batch, place, Limits())).requests == 1, "the log is listed"
        table.commit(add(f"new{number}.parquet"))
        assert cost_of(partial(files.end_of_batch, place, Limits())).requests <= 4
        place = files.end_of_batch(place, Limits())
        assert place.version == table.next_version
