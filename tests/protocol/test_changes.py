"""Heading *Change Data Files*: inserted and deleted rows, in handmade logs."""

from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic

from .handmade_log import Action, HandmadeTable, add, field, ids, metadata, protocol, remove, schema
from .handmade_vectors import VectorFile

FEED = {"delta.enableChangeDataFeed": "true"}
VECTORS = protocol(3, 7, ["deletionVectors"], ["deletionVectors", "changeDataFeed"])
Row = tuple[Any, ...]


def cdc(
    table: HandmadeTable, path: str, rows: pa.Table, uri: str | None = None, **values: str
) -> dict[str, Any]:
    """Writes a change data file; returns its action."""
    place = table.root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(rows, place)
    return {
        "cdc": {
            "path": uri or path,
            "partitionValues": values,
            "size": place.stat().st_size,
            "dataChange": False,
        }
    }


def changed(*rows: tuple[int, str]) -> pa.Table:
    return pa.table({"id": [row[0] for row in rows], "_change_type": [row[1] for row in rows]})


def feed(table: HandmadeTable, start: int, end: int | None = None, **options: Any) -> list[Row]:
    rows = deltaic.Table(table.root).changes(start, end, **options).to_arrow()
    columns = [name for name in rows.column_names if name != "_commit_timestamp"]
    return sorted(zip(*(rows[name].to_pylist() for name in columns), strict=True), key=repr)


@pytest.mark.parametrize(
    ("needs", "value", "recorded"),
    [
        pytest.param(protocol(1, 4), "true", True, id="4"),
        pytest.param(protocol(1, 4), "false", False, id="4, not enabled"),
        pytest.param(protocol(1, 2), "true", False, id="2"),
        pytest.param(protocol(1, 7, None, ["changeDataFeed"]), "true", True, id="7 with the feature"),
        pytest.param(protocol(1, 7, None, ["appendOnly"]), "true", False, id="7 without the feature"),
    ],
)
def test_the_property_counts_where_the_protocol_has_the_feature(
    tmp_path: Path, needs: Action, value: str, *, recorded: bool
) -> None:
    """Otherwise writers ignore the property and record no changes.

    protocol: writer-requirements-for-addcdcfile.1, writer-requirements-for-addcdcfile.2
    """
    table = HandmadeTable(tmp_path / "t")
    configuration = {"delta.enableChangeDataFeed": value}
    table.commit(needs, metadata(configuration=configuration), table.data("a.parquet", ids(1)))
    table.commit(remove("a.parquet"), table.data("b.parquet", ids(1)))
    assert len(feed(table, 0, infer=True)) == 1
    if recorded:
        assert len(feed(table, 0)) == 3
    else:
        with pytest.raises(deltaic.UnsupportedFeature, match="change data feed is not enabled at version 0"):
            feed(table, 0)


@pytest.fixture
def table(tmp_path: Path) -> HandmadeTable:
    """Three versions: two rows, a recorded update of one, a removed file."""
    table = HandmadeTable(tmp_path / "t")
    first = table.data("a.parquet", ids(1, 2))
    table.commit(protocol(1, 4), metadata(configuration=FEED), first)
    update = cdc(table, "_change_data/c.parquet", changed((2, "update_preimage"), (3, "update_postimage")))
    table.commit(remove("a.parquet"), table.data("b.parquet", ids(1, 3)), update)
    table.commit(remove("b.parquet"))
    return table


def test_only_recorded_changes_are_reported(table: HandmadeTable) -> None:
    """protocol: add-cdc-file.1, reader-requirements-for-addcdcfile.1, change-data-files.2."""
    assert feed(table, 0, 1) == [
        (1, "insert", 0),
        (2, "insert", 0),
        (2, "update_preimage", 1),
        (3, "update_postimage", 1),
    ]
    assert feed(table, 2) == [(1, "delete", 2), (3, "delete", 2)]


def test_inferred_changes_are_the_rows_that_differ(table: HandmadeTable) -> None:
    assert feed(table, 1, 1, infer=True) == [(2, "delete", 1), (3, "insert", 1)]


def test_the_columns_that_report(table: HandmadeTable) -> None:
    """protocol: reader-requirements-for-addcdcfile.3."""
    changes = deltaic.Table(table.root).changes(0)
    kinds = {name: changes.schema.to_arrow().field(name).type for name in changes.schema.to_arrow().names}
    assert kinds == {
        "id": pa.int64(),
        "_change_type": pa.string(),
        "_commit_version": pa.int64(),
        "_commit_timestamp": pa.timestamp("us", "UTC"),
    }
    times = {commit.version: commit.timestamp for commit in deltaic.Table(table.root).history()}
    for row in changes.to_arrow().to_pylist():
        assert row["_commit_timestamp"] == times[row["_commit_version"]]
    chosen = deltaic.Table(table.root).changes(0, columns=["_commit_version", "id"]).to_arrow()
    assert chosen.column_names == ["_commit_version", "id", "_change_type", "_commit_timestamp"]
    with pytest.raises(ValueError, match="did you mean id"):
        deltaic.Table(table.root).changes(0, columns=["idd"])


def test_columns_that_the_schema_lacks_are_passed_over(tmp_path: Path) -> None:
    """Some writers add a marker column to their change data files.

    protocol: reader-requirements-for-addcdcfile.4
    """
    table = HandmadeTable(tmp_path / "t")
    table.commit(protocol(1, 4), metadata(configuration=FEED))
    rows = changed((1, "insert")).append_column("__is_cdc", pa.array([True]))
    table.commit(cdc(table, "_change_data/c.parquet", rows))
    assert feed(table, 1) == [(1, "insert", 1)]


def test_a_change_data_file_may_remain_anywhere_in_the_table(tmp_path: Path) -> None:
    """protocol: add-cdc-file.2."""
    table = HandmadeTable(tmp_path / "t")
    table.commit(protocol(1, 4), metadata(configuration=FEED))
    place = "Qn/cdc a.parquet"
    for uri in ("Qn/cdc%20a.parquet", (table.root / place).as_uri()):
        table.commit(cdc(table, place, changed((1, "insert")), uri))
    assert feed(table, 1) == [(1, "insert", 1), (1, "insert", 2)]
    table.commit(cdc(table, place, changed((1, "insert")), "../c.parquet"))
    with pytest.raises(deltaic.PathEscape):
        feed(table, 3)


def test_the_values_of_partitions_are_those_of_the_action(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    text = schema(field("id"), field("p", "string"))
    table.commit(protocol(1, 4), metadata(text, ["p"], configuration=FEED))
    table.commit(cdc(table, "_change_data/p=x/c.parquet", changed((1, "delete")), p="x"))
    gone = remove("old.parquet")
    table.data("old.parquet", ids(7), values={"p": None})
    table.commit(add("old.parquet", values={"p": None}))
    # A remove may omit a partition value of NULL.
    gone["remove"] |= {"extendedFileMetadata": True, "partitionValues": {}, "size": 1}
    table.commit(gone)
    assert feed(table, 1) == [
        (1, "x", "delete", 1),
        (7, None, "delete", 3),
        (7, None, "insert", 2),
    ]


@pytest.mark.parametrize("infer", [False, True])
def test_a_vector_that_changed_reports_the_rows(tmp_path: Path, infer: bool) -> None:
    root = tmp_path / "t"
    table = HandmadeTable(root)
    vectors = VectorFile(root)
    one, three, other = vectors.delete(1), vectors.delete(1, 3, 4), vectors.delete(3)
    vectors.write()
    file = table.data("a.parquet", ids(*range(6)), stats=json.dumps({"numRecords": 6}))
    table.commit(VECTORS, metadata(configuration=FEED), file)

    def step(before: dict[str, Any], after: dict[str, Any]) -> None:
        gone, come = remove("a.parquet"), {"add": {**file["add"], **after}}
        gone["remove"] |= before
        # In either order.
        table.commit(come, gone)

    step({}, one)
    step(one, three)
    step(three, other)
    step(other, {})
    assert feed(table, 1, infer=infer) == [
        (1, "delete", 1),
        (1, "insert", 3),
        (3, "delete", 2),
        (3, "insert", 4),
        (4, "delete", 2),
        (4, "insert", 3),
    ]


def test_files_that_change_no_data_report_nothing(table: HandmadeTable) -> None:
    before = table.data("c.parquet", ids(5))
    table.commit(before)
    gone, come = remove("c.parquet"), table.data("d.parquet", ids(5))
    gone["remove"]["dataChange"] = come["add"]["dataChange"] = False
    table.commit(gone, come)
    assert feed(table, 4) == []
    assert feed(table, 4, infer=True) == []


def test_rows_that_are_twice_cancel_one_by_one(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.commit(protocol(), metadata(), table.data("a.parquet", ids(1, 1, 1, 2, None)))
    table.commit(remove("a.parquet"), table.data("b.parquet", ids(1, 2, 2, None, None)))
    assert feed(table, 1, infer=True) == [
        (1, "delete", 1),
        (1, "delete", 1),
        (2, "insert", 1),
        (None, "insert", 1),
    ]


def test_rows_are_compared_in_columns_that_are_not_requested(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    rows = pa.table({"id": [1, 2], "s": ["a", "b"]})
    table.commit(
        protocol(), metadata(schema(field("id"), field("s", "string"))), table.data("a.parquet", rows)
    )
    rows = pa.table({"id": [1, 2], "s": ["a", "c"]})
    table.commit(remove("a.parquet"), table.data("b.parquet", rows))
    assert feed(table, 1, infer=True, columns=["id"]) == [(2, "delete", 1), (2, "insert", 1)]


@pytest.mark.parametrize("tracked", [False, True])
def test_rows_with_ids_are_compared_by_them(tmp_path: Path, tracked: bool) -> None:
    """A deleted and an inserted row that differ only in the row id are a change."""
    table = HandmadeTable(tmp_path / "t")
    names = {
        "delta.enableRowTracking": str(tracked).lower(),
        "delta.rowTracking.materializedRowIdColumnName": "_ids",
        "delta.rowTracking.materializedRowCommitVersionColumnName": "_versions",
    }
    features = protocol(1, 7, None, ["rowTracking", "domainMetadata"])

    def data(path: str, rows: pa.Table, base: int) -> dict[str, Any]:
        action = table.data(path, rows)
        action["add"] |= {"baseRowId": base, "defaultRowCommitVersion": base}
        return action

    table.commit(features, metadata(configuration=names), data("a.parquet", ids(7, 8), 0))
    gone = remove("a.parquet")
    gone["remove"] |= {"baseRowId": 0, "defaultRowCommitVersion": 0}
    # The first row keeps its id, the second is a new row with the same values.
    kept = ids(7, 8).append_column("_ids", pa.array([0, None], pa.int64()))
    table.commit(gone, data("b.parquet", kept, 10))
    expected = [(8, "delete", 1), (8, "insert", 1)] if tracked else []
    assert feed(table, 1, infer=True) == expected


def test_a_table_without_a_feed_states_how_to_have_one(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.commit(protocol(), metadata(), table.data("a.parquet", ids(1)))
    table.commit(protocol(1, 4), metadata(configuration=FEED), table.data("b.parquet", ids(2)))
    with pytest.raises(
        deltaic.UnsupportedFeature, match="change data feed is not enabled at version 0"
    ) as caught:
        feed(table, 0)
    assert caught.value.context["feature"] == "changeDataFeed"
    assert "infer=True" in (caught.value.hint or "")
    assert feed(table, 1) == [(2, "insert", 1)]
    assert feed(table, 0, infer=True) == [(1, "insert", 0), (2, "insert", 1)]


def test_ranges_that_are_none(table: HandmadeTable) -> None:
    handle = deltaic.Table(table.root)
    with pytest.raises(deltaic.VersionNotFound):
        handle.changes(3)
    with pytest.raises(deltaic.VersionNotFound) as caught:
        handle.changes(0, 9)
    assert caught.value.context["newest"] == 2
    with pytest.raises(ValueError, match="greater than the last"):
        handle.changes(2, 1)
    for wrong in (-1, 2**63):
        with pytest.raises(ValueError, match=r"versions start at 0|the highest version is"):
            handle.changes(wrong)
    with pytest.raises(TypeError, match="start"):
        handle.changes(1.5)  # pyright: ignore[reportArgumentType]


def test_times_name_the_versions_between_them(table: HandmadeTable) -> None:
    handle = deltaic.Table(table.root)
    times = [commit.timestamp for commit in reversed(handle.history())]
    moment = timedelta(milliseconds=1)

    def versions(start: datetime | str, end: datetime | None = None) -> set[int]:
        return set(handle.changes(start, end).to_arrow()["_commit_version"].to_pylist())

    assert versions(times[0]) == {0, 1, 2}
    assert versions(datetime(1999, 1, 1, tzinfo=timezone.utc)) == {0, 1, 2}
    assert versions(times[1]) == {1, 2}
    assert versions(times[0] + moment, times[1]) == {1}
    assert versions(times[1].isoformat(), times[2]) == {1, 2}
    with pytest.raises(deltaic.VersionNotFound):
        versions(times[2] + moment)
    with pytest.raises(ValueError, match="zone"):
        handle.changes("2026-01-01T00:00:00")


def test_deleted_versions_are_no_longer_reported(table: HandmadeTable) -> None:
    table.checkpoint(1, [protocol(1, 4), metadata(configuration=FEED), add("b.parquet")])
    (table.root / f"_delta_log/{0:020}.json").unlink()
    with pytest.raises(deltaic.VersionNotFound) as caught:
        feed(table, 0)
    assert (caught.value.context["oldest"], caught.value.context["newest"]) == (1, 2)
    assert feed(table, 2) == [(1, "delete", 2), (3, "delete", 2)]


def test_a_type_that_the_last_schema_does_not_hold(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.commit(protocol(1, 4), metadata(schema(field("id", "string")), configuration=FEED))
    table.commit(metadata(configuration=FEED), table.data("a.parquet", ids(1)))
    with pytest.raises(deltaic.SchemaMismatch) as caught:
        feed(table, 0)
    assert (caught.value.context["field"], caught.value.context["version"]) == ("id", 0)
    assert feed(table, 1) == [(1, "insert", 1)]


def test_a_column_that_came_later_is_null_before(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.commit(protocol(1, 4), metadata(configuration=FEED), table.data("a.parquet", ids(1)))
    table.commit(metadata(schema(field("id"), field("n", "string")), configuration=FEED))
    assert feed(table, 0) == [(1, None, "insert", 0)]


def test_a_table_with_such_a_column_has_no_feed(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    text = schema(field("id"), field("_change_type", "string"))
    table.commit(protocol(), metadata(text))
    with pytest.raises(deltaic.SchemaMismatch, match="_change_type"):
        feed(table, 0, infer=True)


def test_tasks_are_read_apart(table: HandmadeTable) -> None:
    changes = deltaic.Table(table.root).changes(0)
    apart = pa.concat_tables([task.read().read_all() for task in changes.tasks()])
    whole = changes.to_arrow()
    assert sorted(map(repr, apart.to_pylist())) == sorted(map(repr, whole.to_pylist()))
    assert changes.count() == whole.num_rows
    assert "versions: 3" in changes.explain()
    with pytest.raises(ValueError, match="no tasks"):
        deltaic.Table(table.root).changes(0, infer=True).tasks()


def mapped(name: str, number: int, physical: str) -> dict[str, Any]:
    return field(name, **{"delta.columnMapping.id": number, "delta.columnMapping.physicalName": physical})


BY_NAME = {**FEED, "delta.columnMapping.mode": "name"}
MAPPING = protocol(2, 5)


def test_columns_retain_their_values_when_a_mapping_comes_and_they_are_renamed(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    rows = pa.table({"a": [1, 2], "b": [10, 20]})
    table.commit(
        MAPPING, metadata(schema(field("a"), field("b")), configuration=FEED), table.data("f.parquet", rows)
    )
    swapped = schema(mapped("b", 1, "a"), mapped("a", 2, "b"))
    table.commit(metadata(swapped, configuration=BY_NAME))
    table.commit(remove("f.parquet"))
    for infer in (False, True):
        assert feed(table, 0, infer=infer) == [
            (1, 10, "delete", 2),
            (1, 10, "insert", 0),
            (2, 20, "delete", 2),
            (2, 20, "insert", 0),
        ]


def test_columns_retain_their_values_when_a_mapping_goes(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    first = table.data("f.parquet", pa.table({"x-1": [1, 2]}))
    table.commit(MAPPING, metadata(schema(mapped("id", 1, "x-1")), configuration=BY_NAME), first)
    gone, come = remove("f.parquet"), table.data("g.parquet", ids(1, 2))
    gone["remove"]["dataChange"] = come["add"]["dataChange"] = False
    table.commit(metadata(configuration=FEED), gone, come)
    table.commit(remove("g.parquet"))
    assert feed(table, 0) == [(1, "delete", 2), (1, "insert", 0), (2, "delete", 2), (2, "insert", 0)]


def test_a_table_that_was_replaced_shares_no_feed_with_the_one_before(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    first = table.data("f.parquet", pa.table({"x-1": [1]}))
    table.commit(MAPPING, metadata(schema(mapped("id", 1, "x-1")), configuration=BY_NAME), first)
    second = table.data("g.parquet", pa.table({"x-2": [2]}))
    replaced = metadata(schema(mapped("id", 2, "x-2")), configuration=BY_NAME)
    table.commit(replaced, remove("f.parquet"), second)
    table.commit(remove("g.parquet"))
    for start in (0, 1):
        with pytest.raises(deltaic.SchemaMismatch, match="replaced"):
            feed(table, start)
    assert feed(table, 2) == [(2, "delete", 2)]


def test_a_column_that_became_not_null_may_be_null_before(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.commit(protocol(1, 4), metadata(configuration=FEED), table.data("f.parquet", ids(1, None)))
    strict = metadata(schema(field("id", nullable=False)), configuration=FEED)
    table.commit(strict, remove("f.parquet"), table.data("g.parquet", ids(1)))
    assert feed(table, 0, infer=True) == [(1, "insert", 0), (None, "delete", 1), (None, "insert", 0)]


def test_deletions_are_not_inferred_without_the_previous_log(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    text = schema(field("id"), field("p"))
    first = table.data("p=1/f.parquet", ids(7), values={"p": "1"})
    table.commit(protocol(1, 4), metadata(text, ["p"], configuration=FEED), first)
    later = [metadata(text, configuration=FEED), table.data("g.parquet", pa.table({"id": [7], "p": [1]}))]
    table.commit(*later, remove("p=1/f.parquet"))
    assert feed(table, 1, infer=True) == []
    table.checkpoint(1, [protocol(1, 4), *later])
    (table.root / f"_delta_log/{0:020}.json").unlink()
    with pytest.raises(deltaic.VersionNotFound, match="before version 1"):
        feed(table, 1, infer=True)


def test_inferred_changes_are_the_rows_added_and_removed(tmp_path: Path) -> None:
    """Actions that do not change the state are not changes, regardless of `dataChange`."""
    table = HandmadeTable(tmp_path / "t")
    vectors = VectorFile(table.root)
    one, more = vectors.delete(1), vectors.delete(1, 2)
    vectors.write()
    file = table.data("a.parquet", ids(0, 1, 2, 3))
    table.commit(VECTORS, metadata(), file)
    # A live file added again; an unknown file removed; a remove without the file's deletion vector.
    table.commit(file)
    table.commit(remove("none.parquet"))
    came = {"add": {**file["add"], **one}}
    table.commit(remove("a.parquet"), came)
    table.commit(remove("a.parquet"))
    # The same path with another deletion vector; only the remove has dataChange=false.
    gone = remove("a.parquet")
    gone["remove"] |= {**one, "dataChange": False}
    table.commit(gone, {"add": {**file["add"], **more}})
    assert feed(table, 1, infer=True) == [(1, "delete", 3), (2, "delete", 5)]
    assert feed(table, 0, 0, infer=True) == [(row, "insert", 0) for row in range(4)]
    for version in range(1, 6):
        rows = deltaic.Table(table.root).snapshot(version=version).scan().to_arrow()
        assert rows.num_rows == 4 - (version >= 3) - (version >= 5)


def test_change_data_files_have_no_row_ids(table: HandmadeTable) -> None:
    """protocol: reader-requirements-for-row-tracking.9."""
    for name in ("_row_id", "_row_commit_version"):
        with pytest.raises(ValueError, match=name):
            deltaic.Table(table.root).changes(0, columns=[name])
        assert name not in deltaic.Table(table.root).changes(0).schema.to_arrow().names
