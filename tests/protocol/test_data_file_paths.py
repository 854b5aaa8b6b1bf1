"""Paths of data files that are encoded once, twice or not, or are absolute: each is decoded once."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote

import pytest

import deltaic

from .handmade_log import Action, HandmadeTable, field, ids, metadata, protocol, read_commit, remove, schema
from .handmade_vectors import FEATURE, without

# Names of files and folders on disk.
NAMES = [
    "a b",
    "a%20b",
    "a%2520b",
    "100%",
    "%zz",
    "a+b",
    "a&b=c;d,e",
    "a#b?c",
    "a:b",
    "[a]{b}",
    "a'b\"c",
    "a\\b",
    "é",
    "e\u0301",
    "日本語 😀",
    "~a",
    "-a",
    "a.",
    ".a",
    "a@b$c!d*e(f)",
    "a^b`c|d<e>f",
    "=a",
]
PARTITIONED = schema(field("id"), field("p", "string"))


def read(table: HandmadeTable) -> list[int]:
    return sorted(deltaic.Table(table.root).snapshot().scan().to_arrow()["id"].to_pylist())


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_is_encoded_is_decoded_once(tmp_path: Path, name: str) -> None:
    """As a file name, and as a folder name that was encoded for the file system before it was for the log.

    protocol: add-file-and-remove-file.6
    """
    table = HandmadeTable(tmp_path / "t")
    folder = f"p={quote(name, safe='')}"
    file = table.data(f"{name}.parquet", ids(1), uri=quote(f"{name}.parquet"), values={"p": name})
    nested = table.data(f"{folder}/f.parquet", ids(2), uri=quote(f"{folder}/f.parquet"), values={"p": name})
    strict = table.data(f"s/{name}", ids(3), uri=quote(f"s/{name}", safe=""), values={"p": name})
    table.create(file, nested, strict, schema_string=PARTITIONED, partition_by=["p"])
    assert read(table) == [1, 2, 3]
    rows = deltaic.Table(table.root).snapshot().scan(columns=["p"]).to_arrow()["p"].to_pylist()
    assert rows == [name] * 3
    # Removed by the same URI, it is deleted; added again, it exists once.
    table.commit(remove(quote(f"{name}.parquet")))
    assert read(table) == [2, 3]
    table.commit(file)
    assert read(table) == [1, 2, 3]


@pytest.mark.parametrize("name", ["a b", "a+b", "é", "a&b=c", "a:b", "a'b", "日本語", "a@b!c"])
def test_a_name_that_need_not_be_encoded_may_be_left_as_it_is(tmp_path: Path, name: str) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.create(table.data(f"{name}/{name}.parquet", ids(1)))
    assert read(table) == [1]


def test_names_that_differ_in_how_they_are_encoded_are_two(tmp_path: Path) -> None:
    """`a%20b` on disk is not `a b` on disk, whichever is read first."""
    table = HandmadeTable(tmp_path / "t")
    files = [
        table.data("a b.parquet", ids(1), uri="a%20b.parquet"),
        table.data("a%20b.parquet", ids(2), uri="a%2520b.parquet"),
        table.data("a%2520b.parquet", ids(3), uri="a%252520b.parquet"),
    ]
    table.create(*files)
    assert read(table) == [1, 2, 3]
    table.commit(remove("a%2520b.parquet"))
    assert read(table) == [1, 3]


ROOTS = ["a b", "100%", "a%20b", "é", "a#b", "a?b", "a+b", "[x]", "s=1"]


@pytest.mark.parametrize("root", ROOTS)
def test_a_table_may_lie_in_a_folder_of_any_name(tmp_path: Path, root: str) -> None:
    """Its files may also have absolute paths, as a path or as a URI."""
    table = HandmadeTable(tmp_path / root)
    relative = table.data("x y.parquet", ids(1), uri="x%20y.parquet")
    absolute = table.data("b.parquet", ids(2))
    uri = table.data("c.parquet", ids(3))
    absolute["add"]["path"] = quote(str(table.root / "b.parquet"))
    uri["add"]["path"] = (table.root / "c.parquet").as_uri()
    table.create(relative, absolute, uri)
    assert read(table) == [1, 2, 3]
    assert deltaic.Table(str(table.root)).append(ids(4)).version == 1
    assert read(table) == [1, 2, 3, 4]


@pytest.mark.parametrize("form", ["{}", "file:{}", "file://{}", "FILE://{}"])
def test_files_of_a_shallow_clone_are_read_with_leave(tmp_path: Path, form: str) -> None:
    """Their paths are absolute, and encoded like any other."""
    source = HandmadeTable(tmp_path / "the source")
    source.create(source.data("x y%.parquet", ids(1, 2, 3), uri="x%20y%25.parquet"))
    [action] = [action for action in read_commit(source.root, 0) if "add" in action]
    path = form.format(quote(str(source.root))) + "/x%20y%25.parquet"
    clone = HandmadeTable(tmp_path / "clone")
    cloned: Action = {"add": {**action["add"], "path": path, **without(1)}}
    clone.commit(FEATURE, metadata(), cloned)
    with pytest.raises(deltaic.PathEscape):
        read(clone)
    allowed = deltaic.Table(clone.root, allowed_roots=[source.root]).snapshot()
    assert allowed.scan().to_arrow()["id"].to_pylist() == [1, 3]


def test_a_table_that_was_moved_is_read_where_it_is(tmp_path: Path) -> None:
    """Relative paths move with it; absolute ones still refer to the old location and raise an error."""
    table = HandmadeTable(tmp_path / "before")
    file = table.data("a.parquet", ids(1))
    table.create(file)
    absolute = table.data("b.parquet", ids(2))
    absolute["add"]["path"] = str(table.root / "b.parquet")
    os.rename(table.root, tmp_path / "after")  # noqa: PTH104
    table.root, table.log = tmp_path / "after", tmp_path / "after" / "_delta_log"
    assert read(table) == [1]
    table.commit(absolute)
    with pytest.raises(deltaic.PathEscape):
        read(table)


def test_a_mapped_table_has_files_below_any_prefix(tmp_path: Path) -> None:
    """Writers distribute them over folders with random names, which have no meaning."""
    table = HandmadeTable(tmp_path / "t")
    needs = protocol(3, 7, ["columnMapping"], ["columnMapping"])
    mapped = field("id", **{"delta.columnMapping.id": 1, "delta.columnMapping.physicalName": "id"})
    files = [
        table.data(f"{prefix}/{at}.parquet", ids(at)) for at, prefix in enumerate(("Qn", "_x", ".y", "p=1"))
    ]
    table.commit(needs, metadata(schema(mapped), (), {"delta.columnMapping.mode": "name"}), *files)
    assert read(table) == [0, 1, 2, 3]
