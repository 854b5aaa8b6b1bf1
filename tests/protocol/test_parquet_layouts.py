"""Lists and maps in the layouts of current and older writers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from . import handmade_parquet as parquet
from .handmade_log import field
from .handmade_parquet import LIST, MAP, MAP_KEY_VALUE, OPTIONAL, REPEATED, REQUIRED, Node, Triple, group
from .table_of_one_file import read, written


def number(name: str, repetition: int = OPTIONAL) -> Node:
    return Node(name, repetition, parquet.INT32)


def text(name: str, repetition: int = OPTIONAL) -> Node:
    return Node(name, repetition, parquet.BYTE_ARRAY, converted=parquet.UTF8)


def annotated(repeated: Node) -> Node:
    """Returns the column `c` as a list with this repeated node."""
    return group("c", OPTIONAL, repeated, converted=LIST)


def array(element: Any) -> dict[str, Any]:
    return {"type": "array", "elementType": element, "containsNull": True}


def map_of(key: Any, value: Any) -> dict[str, Any]:
    return {"type": "map", "keyType": key, "valueType": value, "valueContainsNull": True}


PAIR = {"type": "struct", "fields": [field("s", "string"), field("n", "integer")]}
SINGLE = {"type": "struct", "fields": [field("s", "string")]}

Layout = tuple[list[Node], dict[str, list[Triple]], Any, list[Any]]
# The file's columns and their values, the table's type of the column `c`, and its rows.
LISTS: dict[str, Layout] = {
    "today's": (
        [group("c", OPTIONAL, group("list", REPEATED, number("element")), converted=LIST)],
        {"c.list.element": [(0, 3, 1), (1, 2, None), (0, 1, None), (0, 0, None)]},
        array("integer"),
        [[1, None], [], None],
    ),
    "today's, logical": (
        [group("c", OPTIONAL, group("list", REPEATED, number("element")), logical={3: {}})],
        {"c.list.element": [(0, 3, 1), (1, 2, None), (0, 1, None), (0, 0, None)]},
        array("integer"),
        [[1, None], [], None],
    ),
    "of Hive": (
        [group("c", OPTIONAL, group("bag", REPEATED, number("array_element")), converted=LIST)],
        {"c.bag.array_element": [(0, 3, 1), (1, 3, 2), (0, 1, None), (0, 0, None)]},
        array("integer"),
        [[1, 2], [], None],
    ),
    "of Arrow": (
        [group("c", OPTIONAL, group("list", REPEATED, number("item")), converted=LIST)],
        {"c.list.item": [(0, 3, 1), (1, 3, 2), (0, 1, None), (0, 0, None)]},
        array("integer"),
        [[1, 2], [], None],
    ),
    "two levels": (
        [group("c", OPTIONAL, number("array", REPEATED), converted=LIST)],
        {"c.array": [(0, 2, 1), (1, 2, 2), (0, 1, None), (0, 0, None)]},
        array("integer"),
        [[1, 2], [], None],
    ),
    "two levels, the element of any name": (
        [group("c", OPTIONAL, number("element", REPEATED), converted=LIST)],
        {"c.element": [(0, 2, 1), (1, 2, 2), (0, 1, None), (0, 0, None)]},
        array("integer"),
        [[1, 2], [], None],
    ),
    "one level": (
        [number("c", REPEATED)],
        {"c": [(0, 1, 1), (1, 1, 2), (0, 0, None)]},
        array("integer"),
        [[1, 2], []],
    ),
    "one level of groups": (
        [group("c", REPEATED, text("s"), number("n"))],
        {"c.s": [(0, 2, b"x"), (1, 1, None), (0, 0, None)], "c.n": [(0, 2, 1), (1, 2, 2), (0, 0, None)]},
        array(PAIR),
        [[{"s": "x", "n": 1}, {"s": None, "n": 2}], []],
    ),
    "two levels of a group of two": (
        [group("c", OPTIONAL, group("element", REPEATED, text("s"), number("n")), converted=LIST)],
        {
            "c.element.s": [(0, 3, b"x"), (1, 2, None), (0, 1, None), (0, 0, None)],
            "c.element.n": [(0, 3, 1), (1, 3, 2), (0, 1, None), (0, 0, None)],
        },
        array(PAIR),
        [[{"s": "x", "n": 1}, {"s": None, "n": 2}], [], None],
    ),
    "two levels of a group of one that is called array": (
        [group("c", OPTIONAL, group("array", REPEATED, text("s")), converted=LIST)],
        {"c.array.s": [(0, 3, b"x"), (1, 2, None), (0, 1, None)]},
        array(SINGLE),
        [[{"s": "x"}, {"s": None}], []],
    ),
    "two levels of a group of one that is called a tuple": (
        [group("c", OPTIONAL, group("c_tuple", REPEATED, text("s")), converted=LIST)],
        {"c.c_tuple.s": [(0, 3, b"x"), (1, 2, None), (0, 1, None)]},
        array(SINGLE),
        [[{"s": "x"}, {"s": None}], []],
    ),
    "three levels of a group of one": (
        [
            group(
                "c", OPTIONAL, group("list", REPEATED, group("element", OPTIONAL, text("s"))), converted=LIST
            )
        ],
        {"c.list.element.s": [(0, 4, b"x"), (1, 3, None), (1, 2, None), (0, 1, None)]},
        array(SINGLE),
        [[{"s": "x"}, {"s": None}, None], []],
    ),
    "two levels of two levels": (
        [
            group(
                "c",
                OPTIONAL,
                group("array", REPEATED, number("array", REPEATED), converted=LIST),
                converted=LIST,
            )
        ],
        {"c.array.array": [(0, 3, 1), (2, 3, 2), (1, 3, 3), (1, 2, None), (0, 1, None), (0, 0, None)]},
        array(array("integer")),
        [[[1, 2], [3], []], [], None],
    ),
}
ENTRIES: dict[str, list[Triple]] = {
    "key": [(0, 2, b"a"), (1, 2, b"b"), (0, 1, None), (0, 0, None)],
    "value": [(0, 3, 1), (1, 2, None), (0, 1, None), (0, 0, None)],
}
MAP_ROWS = [[("a", 1), ("b", None)], [], None]


def map_layout(
    *,
    middle: str = "key_value",
    key: str = "key",
    value: str = "value",
    optional_key: bool = False,
    inner: dict[str, Any] | None = None,
    **outer: Any,
) -> Layout:
    pairs = group(
        middle, REPEATED, text(key, OPTIONAL if optional_key else REQUIRED), number(value), **(inner or {})
    )
    keys = ENTRIES["key"]
    if optional_key:
        keys = [(repetition, 3 if held else level, held) for repetition, level, held in keys]
    columns = {f"c.{middle}.{key}": keys, f"c.{middle}.{value}": ENTRIES["value"]}
    return [group("c", OPTIONAL, pairs, **outer)], columns, map_of("string", "integer"), MAP_ROWS


OLD = {"converted": MAP_KEY_VALUE}
MAPS: dict[str, Layout] = {
    "today's": map_layout(converted=MAP),
    "today's, logical": map_layout(logical={2: {}}),
    "of Hive": map_layout(middle="map", inner=OLD, converted=MAP),
    "of Avro": map_layout(middle="map", key="key", value="value", converted=MAP),
    "annotated as its pairs": map_layout(middle="map", converted=MAP_KEY_VALUE),
    "annotated twice as its pairs": map_layout(middle="map", inner=OLD, converted=MAP_KEY_VALUE),
    "of other names": map_layout(middle="entries", key="first", value="second", converted=MAP),
    "of keys that could be NULL": map_layout(converted=MAP, optional_key=True),
}


@pytest.mark.parametrize("layout", LISTS)
def test_lists(tmp_path: Path, layout: str) -> None:
    """protocol: delta-data-type-to-parquet-type-mappings.2."""
    nodes, columns, kind, rows = LISTS[layout]
    root = written(tmp_path / "t", nodes, columns)
    assert [row["c"] for row in read(root, field("c", kind))] == rows


@pytest.mark.parametrize("layout", MAPS)
def test_maps(tmp_path: Path, layout: str) -> None:
    """protocol: delta-data-type-to-parquet-type-mappings.2."""
    nodes, columns, kind, rows = MAPS[layout]
    root = written(tmp_path / "t", nodes, columns)
    assert [row["c"] for row in read(root, field("c", kind))] == rows


@pytest.mark.parametrize("layout", LISTS)
def test_lists_beside_others_and_below_a_predicate(tmp_path: Path, layout: str) -> None:
    """A column of the file is identified by its first level, whatever is below it."""
    nodes, columns, kind, rows = LISTS[layout]
    both = [number("a", REQUIRED), *nodes, number("z", REQUIRED)]
    values = {"a": [(0, 0, at) for at in range(len(rows))], "z": [(0, 0, -at) for at in range(len(rows))]}
    root = written(tmp_path / "t", both, {**columns, **values})
    fields = [field("a", "integer"), field("c", kind), field("z", "integer")]
    found = read(root, *fields, columns=["c", "z"], predicate="a < 2")
    assert found == [{"c": row, "z": -at} for at, row in enumerate(rows[:2])]
