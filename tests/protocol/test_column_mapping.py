"""Heading *Column Mapping*, for data files: columns are found by physical names or by ids."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic

from .handmade_log import HandmadeTable, field, metadata, protocol, schema
from .handmade_vectors import without
from .mapped_columns import LISTED, array, change, file_of, held, map_of, mapped, settings, struct

PROTOCOLS = {"2,5": protocol(2, 5), "2,7": protocol(2, 7, None, ["columnMapping"]), "3,7": LISTED}
MODES = ["name", "id"]


def read(table: HandmadeTable, **how: Any) -> list[dict[str, Any]]:
    return deltaic.Table(table.root).snapshot().scan(**how).to_arrow().to_pylist()


NESTED = [
    mapped("a", 1),
    mapped("s", 2, struct(mapped("x", 3), mapped("y", 4, "string"))),
    mapped("l", 5, array(struct(mapped("e", 6), mapped("deep", 7, array(struct(mapped("f", 8))))))),
    mapped("m", 9, map_of(struct(mapped("k", 10)), struct(mapped("v", 11)))),
]


def nested_columns(*, name: str = "", ids: bool = True) -> list[pa.Field]:
    """Returns the columns of a file for `NESTED`; `name` is a prefix of each physical name."""

    def one(number: int, kind: pa.DataType | None = None) -> pa.Field:
        return held(number, kind, name=f"{name}col-{number}", id_is=None if ids else 0)

    deep = pa.list_(pa.struct([one(8)]))
    return [
        one(1),
        # In another order than in the table.
        one(2, pa.struct([one(4, pa.string()), one(3)])),
        one(5, pa.list_(pa.struct([one(7, deep), one(6)]))),
        one(9, pa.map_(pa.struct([one(10)]), pa.struct([one(11)]))),
    ]


def nested_values(name: str = "") -> list[list[Any]]:
    def at(number: int) -> str:
        return f"{name}col-{number}"

    return [
        [1, 2],
        [{at(3): 3, at(4): "y"}, None],
        [[{at(6): 6, at(7): [{at(8): 8}, None]}, None], []],
        [[({at(10): 10}, {at(11): 11})], [({at(10): 12}, None)]],
    ]


NESTED_ROWS = [
    {
        "a": 1,
        "s": {"x": 3, "y": "y"},
        "l": [{"e": 6, "deep": [{"f": 8}, None]}, None],
        "m": [({"k": 10}, {"v": 11})],
    },
    {"a": 2, "s": None, "l": [], "m": [({"k": 12}, None)]},
]


@pytest.mark.parametrize("needs", PROTOCOLS)
@pytest.mark.parametrize("mode", MODES)
def test_columns_are_found_at_every_depth(tmp_path: Path, mode: str, needs: str) -> None:
    # protocol: reader-requirements-for-column-mapping.1, reader-requirements-for-column-mapping.3,
    # reader-requirements-for-column-mapping.7, column-mapping.1
    table = HandmadeTable(tmp_path / "t")
    rows = dict(zip(nested_columns(), nested_values(), strict=True))
    table.commit(PROTOCOLS[needs], change(mode, *NESTED), file_of(table, "a.parquet", rows))
    assert read(table) == NESTED_ROWS
    assert read(table, columns=["l", "a"]) == [{"l": row["l"], "a": row["a"]} for row in NESTED_ROWS]
    assert read(table, predicate="a = 2") == NESTED_ROWS[1:]
    assert read(table, predicate="s.x = 3", columns=["a"]) == [{"a": 1}]
    assert read(table, predicate="s.y IS NULL", columns=["a"]) == [{"a": 2}]


def test_ids_rule_over_names_in_id_mode(tmp_path: Path) -> None:
    """Every name in the file is that of another column, or unknown.

    protocol: reader-requirements-for-column-mapping.3
    """
    table = HandmadeTable(tmp_path / "t")
    odd = dict(zip(nested_columns(name="x-"), nested_values("x-"), strict=True))
    swapped = {held(1, name="col-2"): [1], held(2, name="col-1"): [2], held(3, name="a"): [3]}
    table.commit(LISTED, change("id", *NESTED), file_of(table, "a.parquet", odd))
    assert read(table) == NESTED_ROWS
    other = HandmadeTable(tmp_path / "other")
    other.commit(LISTED, change("id", mapped("a", 1), mapped("b", 2)), file_of(other, "a.parquet", swapped))
    assert read(other) == [{"a": 1, "b": 2}]


def test_names_rule_over_ids_in_name_mode(tmp_path: Path) -> None:
    """The ids of a file are those of other columns, or missing.

    protocol: reader-requirements-for-column-mapping.7
    """
    table = HandmadeTable(tmp_path / "t")
    swapped = {held(1, id_is=2): [1], held(2, id_is=1): [2]}
    without_ids = {held(1, id_is=0): [3], held(2, id_is=0): [4]}
    logical = {held(1, name="a"): [5], held(2, name="b"): [6]}
    files = [
        file_of(table, f"{number}.parquet", rows)
        for number, rows in enumerate((swapped, without_ids, logical))
    ]
    table.commit(LISTED, change("name", mapped("a", 1), mapped("b", 2)), *files)
    # A column that only matches the logical name is another column.
    assert sorted(read(table), key=str) == [
        {"a": 1, "b": 2},
        {"a": 3, "b": 4},
        {"a": None, "b": None},
    ]


def test_files_without_ids_are_refused_in_id_mode(tmp_path: Path) -> None:
    """protocol: reader-requirements-for-column-mapping.5."""
    table = HandmadeTable(tmp_path / "t")
    good = dict(zip(nested_columns(), nested_values(), strict=True))
    bad = dict(zip(nested_columns(ids=False), nested_values(), strict=True))
    table.commit(LISTED, change("id", *NESTED), file_of(table, "good.parquet", good))
    assert read(table) == NESTED_ROWS
    table.commit(file_of(table, "bad.parquet", bad))
    for ask in (
        lambda: read(table),
        lambda: read(table, columns=["a"]),
        lambda: read(table, predicate="a = 1"),
    ):
        with pytest.raises(deltaic.CorruptData) as caught:
            ask()
        assert (caught.value.context["path"], caught.value.context["version"]) == ("bad.parquet", 1)
        assert "id" in caught.value.message
        assert caught.value.hint


@pytest.mark.parametrize("mode", MODES)
def test_columns_that_a_file_lacks_are_null(tmp_path: Path, mode: str) -> None:
    """Never the values of another column with that name.

    protocol: reader-requirements-for-column-mapping.6
    """
    table = HandmadeTable(tmp_path / "t")
    inner = pa.struct([held(3), held(4, pa.string(), name="later")])
    items = pa.list_(pa.struct([held(7)]))
    entries = pa.map_(pa.string(), pa.struct([held(9)]))
    rows = {
        held(2, inner): [{"col-3": 1, "later": "no"}],
        held(6, items): [[{"col-7": 2}]],
        held(8, entries): [[("k", {"col-9": 3})]],
        held(50, name="new"): [4],
    }
    columns = [
        mapped("s", 2, struct(mapped("x", 3), mapped("later", 20, "string"))),
        mapped("l", 6, array(struct(mapped("later", 21), mapped("e", 7)))),
        mapped("m", 8, map_of("string", struct(mapped("v", 9), mapped("later", 22, "date")))),
        mapped("new", 23, struct(mapped("z", 24))),
    ]
    table.commit(LISTED, change(mode, *columns), file_of(table, "a.parquet", rows))
    assert read(table) == [
        {
            "s": {"x": 1, "later": None},
            "l": [{"later": None, "e": 2}],
            "m": [("k", {"v": 3, "later": None})],
            "new": None,
        }
    ]
    assert read(table, columns=["new"]) == [{"new": None}]


@pytest.mark.parametrize("mode", MODES)
def test_columns_are_renamed_dropped_and_added_again(tmp_path: Path, mode: str) -> None:
    """Each version has its own names; a column that is added again starts without values."""
    table = HandmadeTable(tmp_path / "t")
    inner = pa.struct([held(3)])
    first = {held(1): [1], held(2, inner): [{"col-3": 1}]}
    table.commit(
        LISTED,
        change(mode, mapped("a", 1), mapped("s", 2, struct(mapped("x", 3)))),
        file_of(table, "0.parquet", first),
    )
    # Renamed, with both names swapped at once.
    table.commit(change(mode, mapped("s", 1), mapped("a", 2, struct(mapped("y", 3)))))
    # Dropped; new files do not contain it.
    table.commit(change(mode, mapped("s", 1)), file_of(table, "2.parquet", {held(1): [2]}))
    # Added again under its former name, with another type.
    table.commit(
        change(mode, mapped("s", 1), mapped("a", 4, "string")),
        file_of(table, "3.parquet", {held(1): [3], held(4, pa.string()): ["new"]}),
    )
    handle = deltaic.Table(table.root)

    def rows(version: int) -> list[dict[str, Any]]:
        found = handle.snapshot(version=version).scan().to_arrow().to_pylist()
        return sorted(found, key=lambda row: str(row.get("s")))

    assert rows(0) == [{"a": 1, "s": {"x": 1}}]
    assert rows(1) == [{"s": 1, "a": {"y": 1}}]
    assert rows(2) == [{"s": 1}, {"s": 2}]
    assert rows(3) == [{"s": 1, "a": None}, {"s": 2, "a": None}, {"s": 3, "a": "new"}]
    assert handle.snapshot().scan(predicate="a IS NULL").count() == 2
    assert handle.snapshot(version=1).scan(predicate="a.y = 1").count() == 1


@pytest.mark.parametrize("mode", MODES)
def test_partition_values_go_by_physical_names(tmp_path: Path, mode: str) -> None:
    """Also if the files contain the column too, and if it was renamed.

    protocol: reader-requirements-for-column-mapping.4
    """
    table = HandmadeTable(tmp_path / "t")
    columns = [mapped("a", 1), mapped("p", 2, "integer")]
    both = {held(1): [3], held(2, pa.int32()): [-1]}
    table.commit(
        LISTED,
        change(mode, *columns, partition_by=["p"]),
        file_of(table, "Q1/a.parquet", {held(1): [1]}, values={"col-2": "7"}),
        file_of(table, "Q2/b.parquet", {held(1): [2]}, values={"col-2": None}),
        file_of(table, "Q3/c.parquet", both, values={"col-2": "8"}),
    )
    by_a = sorted(read(table), key=lambda row: row["a"])
    assert by_a == [{"a": 1, "p": 7}, {"a": 2, "p": None}, {"a": 3, "p": 8}]
    assert read(table, predicate="p = 7") == [{"a": 1, "p": 7}]
    assert read(table, predicate="p = -1") == []
    table.commit(change(mode, mapped("a", 1), mapped("q", 2, "integer"), partition_by=["q"]))
    assert read(table, predicate="q > 7 AND a = 3") == [{"a": 3, "q": 8}]
    # There is no value under the logical name.
    table.commit(file_of(table, "d.parquet", {held(1): [4]}, values={"q": "9"}))
    with pytest.raises(deltaic.CorruptLog):
        read(table)


@pytest.mark.parametrize("mode", MODES)
def test_statistics_go_by_physical_names(tmp_path: Path, mode: str) -> None:
    """protocol: reader-requirements-for-column-mapping.4."""
    table = HandmadeTable(tmp_path / "t")
    rows = {held(1): [5], held(2): [50]}
    bounds = {"col-1": 5, "col-2": 50, "a": 50, "b": 5}
    stats = {"numRecords": 1, "minValues": bounds, "maxValues": bounds, "nullCount": dict.fromkeys(bounds, 0)}
    table.commit(
        LISTED,
        change(mode, mapped("a", 1), mapped("b", 2)),
        file_of(table, "a.parquet", rows, stats=json.dumps(stats)),
    )
    snapshot = deltaic.Table(table.root).snapshot()
    assert [snapshot.files(predicate=text).num_rows for text in ("a = 5", "a = 50", "b = 50", "b = 5")] == [
        1,
        0,
        1,
        0,
    ]
    assert read(table, predicate="a = 5 AND b = 50") == [{"a": 5, "b": 50}]


def test_a_table_that_is_mapped_later_retains_its_files(tmp_path: Path) -> None:
    """The physical names of existing columns are their names before the mapping; their files have no ids."""
    table = HandmadeTable(tmp_path / "t")
    named = {"delta.columnMapping.id": 1, "delta.columnMapping.physicalName": "old name"}
    rows = pa.table({"old name": [1]})
    table.create(table.data("0.parquet", rows), schema_string=schema(field("old name")))
    table.commit(protocol(2, 5), metadata(schema(field("old name", **named)), (), settings("name")))
    table.commit(metadata(schema(field("new", **named), mapped("more", 2)), (), settings("name")))
    new = {held(1, name="old name"): [2], held(2): [20]}
    table.commit(file_of(table, "3.parquet", new))
    assert sorted(read(table), key=str) == [{"new": 1, "more": None}, {"new": 2, "more": 20}]
    assert deltaic.Table(table.root).snapshot(version=1).scan().to_arrow().to_pylist() == [{"old name": 1}]


def test_the_mode_none_goes_by_names(tmp_path: Path) -> None:
    """Physical names and ids in the schema have no effect.

    protocol: reader-requirements-for-column-mapping.2
    """
    rows = {held(1, name="a", id_is=7): [1], held(2): [2]}
    for name, told in {"none": settings("none"), "absent": {}}.items():
        table = HandmadeTable(tmp_path / name)
        about = metadata(schema(mapped("a", 1), mapped("b", 2)), (), told)
        table.commit(LISTED, about, file_of(table, "a.parquet", rows))
        assert read(table) == [{"a": 1, "b": None}]


def test_case_reports_names_apart_only_where_it_must(tmp_path: Path) -> None:
    """An exact match has priority; predicates may use any case."""
    table = HandmadeTable(tmp_path / "t")
    column = mapped("Name", 1, **{"delta.columnMapping.physicalName": "Col-A"})
    exact = {held(1, name="COL-A"): [1], held(2, name="Col-A"): [2], held(3, name="col-a"): [3]}
    table.commit(LISTED, change("name", column), file_of(table, "a.parquet", exact))
    assert read(table) == [{"Name": 2}]
    assert read(table, columns=["name"], predicate="NAME = 2") == [{"Name": 2}]
    other = HandmadeTable(tmp_path / "other")
    only = {held(1, name="COL-A"): [1]}
    other.commit(LISTED, change("name", column), file_of(other, "a.parquet", only))
    assert read(other) == [{"Name": 1}]


def test_names_may_hold_what_parquet_and_paths_do_not(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    names = [" ,;{}()\n\t=", "a.b", "`", "ünï😀", "%2F/.."]
    columns = [mapped(name, number + 1) for number, name in enumerate(names)]
    rows = {held(number + 1): [number] for number in range(len(names))}
    table.commit(LISTED, change("name", *columns), file_of(table, "a.parquet", rows))
    assert read(table) == [dict(zip(names, range(len(names)), strict=True))]
    assert read(table, predicate="`a.b` = 1", columns=["`"]) == [{"`": 2}]


@pytest.mark.parametrize("mode", MODES)
def test_mapped_rows_are_deleted_too(tmp_path: Path, mode: str) -> None:
    names = ["columnMapping", "deletionVectors"]
    table = HandmadeTable(tmp_path / "t")
    file = file_of(table, "a.parquet", {held(1): [0, 1, 2, 3]}, **without(0, 2))
    table.commit(protocol(3, 7, names, names), change(mode, mapped("a", 1)), file)
    assert read(table) == [{"a": 1}, {"a": 3}]
    assert read(table, predicate="a < 3") == [{"a": 1}]


NO_NAME = field("a", **{"delta.columnMapping.id": 1})
NO_ID = field("a", **{"delta.columnMapping.physicalName": "col-1"})
SAME_NAME = mapped("b", 2, **{"delta.columnMapping.physicalName": "col-1"})
BROKEN = {
    "a column without a physical name": [NO_NAME],
    "a nested column without a mapping": [mapped("s", 1, struct(field("x")))],
    "two columns of one physical name": [mapped("a", 1), SAME_NAME],
    "two columns of one id": [mapped("a", 1), mapped("b", 2, **{"delta.columnMapping.id": 1})],
    "an id that is a text": [mapped("a", 1, **{"delta.columnMapping.id": "1"})],
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("what", BROKEN)
def test_a_mapping_that_is_not_a_mapping_is_damage(tmp_path: Path, what: str, mode: str) -> None:
    """The reader never guesses a column."""
    table = HandmadeTable(tmp_path / "t")
    table.commit(LISTED, change(mode, *BROKEN[what]), file_of(table, "a.parquet", {held(1): [1]}))
    with pytest.raises(deltaic.CorruptLog) as caught:
        read(table)
    assert caught.value.hint or caught.value.context


def test_name_mapping_needs_no_ids(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    file = file_of(table, "a.parquet", {held(1): [1]})
    table.commit(LISTED, change("name", NO_ID), file)
    assert read(table) == [{"a": 1}]
    table.commit(change("id", NO_ID))
    with pytest.raises(deltaic.CorruptLog):
        read(table)


def test_a_mode_that_is_not_known_is_refused(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.commit(LISTED, change("number", mapped("a", 1)), file_of(table, "a.parquet", {held(1): [1]}))
    with pytest.raises(deltaic.DeltaicError) as caught:
        read(table)
    assert isinstance(caught.value, deltaic.CorruptLog | deltaic.UnsupportedFeature)
    assert "number" in str(caught.value)


@pytest.mark.parametrize("nested", [False, True])
def test_an_id_that_a_file_has_twice_is_damage(tmp_path: Path, *, nested: bool) -> None:
    table = HandmadeTable(tmp_path / "t")
    columns = {held(1): [1], held(2, id_is=1): [2]}
    inside = {held(9, pa.struct(list(columns))): [{"col-1": 1, "col-2": 2}]}
    wanted = mapped("s", 9, struct(mapped("a", 1))) if nested else mapped("a", 1)
    table.commit(LISTED, change("id", wanted), file_of(table, "a.parquet", inside if nested else columns))
    with pytest.raises(deltaic.CorruptData) as caught:
        read(table)
    assert caught.value.context["path"] == "a.parquet"
