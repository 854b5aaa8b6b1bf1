"""Columns of the types char(n) and varchar(n), which tables declare in a column's metadata."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import deltaic

from .handmade_log import HandmadeTable, field, metadata, protocol, schema


def made(root: Path, declared: str, *, by: list[str] | None = None) -> deltaic.Table:
    table = HandmadeTable(root)
    column = field("text", "string", __CHAR_VARCHAR_TYPE_STRING=declared)
    table.commit(protocol(1, 2), metadata(schema(field("id"), column), partitionColumns=by or []))
    return deltaic.Table(root)


def texts(table: deltaic.Table) -> list[str | None]:
    return table.snapshot().scan().to_arrow().sort_by("id")["text"].to_pylist()


@pytest.mark.parametrize("by", [[], ["text"]])
@pytest.mark.parametrize(
    ("declared", "stored"),
    [("varchar(3)", ["a", "abc", "äöü", None]), ("char(3)", ["a  ", "abc", "äöü", None])],
)
def test_text_is_stored_as_spark_stores_it(
    tmp_path: Path, declared: str, stored: list[str | None], by: list[str]
) -> None:
    table = made(tmp_path / "t", declared, by=by)
    table.append(pa.table({"id": [1, 2, 3, 4], "text": ["a", "abc   ", "äöü", None]}))
    assert texts(table) == stored


@pytest.mark.parametrize("declared", ["varchar(3)", "char(3)"])
def test_longer_text_is_an_error(tmp_path: Path, declared: str) -> None:
    table = made(tmp_path / "t", declared)
    with pytest.raises(deltaic.ConstraintViolation, match="has 4 characters, more than its type") as caught:
        table.append(pa.table({"id": [1, 2], "text": ["abc", "abcd"]}))
    assert (caught.value.context["field"], caught.value.context["row"]) == ("text", 1)
    assert table.snapshot().version == 0


NESTED = {
    "s": (
        {"type": "struct", "fields": [field("c", "string"), field("n", "integer")]},
        "struct<c:char(3),n:int>",
        [{"c": "a", "n": 1}, {"c": None, "n": 2}, None],
        [{"c": "a  ", "n": 1}, {"c": None, "n": 2}, None],
        [{"c": "abcd", "n": 1}],
        "s.c",
    ),
    "l": (
        {"type": "array", "elementType": "string", "containsNull": True},
        "array<varchar(2)>",
        [["a", "ab  ", None], [], None],
        [["a", "ab", None], [], None],
        [["x"], ["abc"]],
        "l.element",
    ),
    "m": (
        {"type": "map", "keyType": "string", "valueType": "string", "valueContainsNull": True},
        "map<char(2),varchar(2)>",
        [[("a", "b ")], [("ab", None)], None],
        [[("a ", "b ")], [("ab", None)], None],
        [[("a", "abc")]],
        "m.value",
    ),
    "deep": (
        {
            "type": "array",
            "containsNull": True,
            "elementType": {"type": "struct", "fields": [field("`c,:", "string")]},
        },
        "array<struct<```c,:`:char(2)>>",
        [[{"`c,:": "a"}, None], None],
        [[{"`c,:": "a "}, None], None],
        [[{"`c,:": "abc"}]],
        "deep.element.`c,:",
    ),
}


@pytest.mark.parametrize("name", NESTED)
def test_nested_text_is_stored_as_spark_stores_it(tmp_path: Path, name: str) -> None:
    kind, declared, given, stored, _, _ = NESTED[name]
    table = HandmadeTable(tmp_path / "t")
    column = field(name, kind, __CHAR_VARCHAR_TYPE_STRING=declared)
    table.commit(protocol(1, 2), metadata(schema(field("id"), column)))
    handle = deltaic.Table(table.root)
    shape = handle.snapshot().schema.to_arrow()
    rows = [{"id": index, name: value} for index, value in enumerate(given)]
    handle.append(pa.Table.from_pylist(rows, shape))
    assert handle.snapshot().scan().to_arrow().sort_by("id")[name].to_pylist() == stored


@pytest.mark.parametrize("name", NESTED)
def test_longer_nested_text_is_an_error(tmp_path: Path, name: str) -> None:
    kind, declared, _, _, wrong, place = NESTED[name]
    table = HandmadeTable(tmp_path / "t")
    column = field(name, kind, __CHAR_VARCHAR_TYPE_STRING=declared)
    table.commit(protocol(1, 2), metadata(schema(field("id"), column)))
    handle = deltaic.Table(table.root)
    rows = [{"id": index, name: value} for index, value in enumerate(wrong)]
    with pytest.raises(deltaic.ConstraintViolation, match="more than its type") as caught:
        handle.append(pa.Table.from_pylist(rows, handle.snapshot().schema.to_arrow()))
    assert caught.value.context["field"] == place
    assert handle.snapshot().version == 0


def test_text_that_is_not_visible_is_not_checked(tmp_path: Path) -> None:
    """The values of a NULL list may still be in its array."""
    table = HandmadeTable(tmp_path / "t")
    kind = {"type": "array", "elementType": "string", "containsNull": True}
    column = field("l", kind, __CHAR_VARCHAR_TYPE_STRING="array<char(2)>")
    table.commit(protocol(1, 2), metadata(schema(field("id"), column)))
    hidden = pa.ListArray.from_arrays([0, 1, 2], ["too long", "a"], mask=pa.array([True, False]))
    handle = deltaic.Table(table.root)
    handle.append(pa.table({"id": [1, 2], "l": hidden}))
    assert handle.snapshot().scan().to_arrow().sort_by("id")["l"].to_pylist() == [None, ["a "]]


def test_the_change_feed_has_the_text_that_is_stored(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    column = field("text", "string", __CHAR_VARCHAR_TYPE_STRING="char(3)")
    feed = {"delta.enableChangeDataFeed": "true"}
    table.commit(protocol(1, 4), metadata(schema(field("id"), column), configuration=feed))
    handle = deltaic.Table(table.root)
    handle.append(pa.table({"id": [1, 2], "text": ["a", "b"]}))
    handle.update({"text": "'c'"}, "id = 1")
    changes = handle.changes(2).to_arrow().to_pylist()
    assert sorted((row["_change_type"], row["text"]) for row in changes) == [
        ("update_postimage", "c  "),
        ("update_preimage", "a  "),
    ]
