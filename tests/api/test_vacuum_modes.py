"""`Table.vacuum` by the log alone (`mode="lite"`) and by an inventory."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic
from tests.api.aged_files import age, files_of
from tests.api.log_files import commit_file, of_kind, write_commit
from tests.api.vacuum_tables import (
    DAY,
    ids,
    inventory,
    live,
    made,
    many,
    orphan,
    rows,
)


def test_lite_deletes_what_the_log_removed(root: Path) -> None:
    table = made(root, many(), enableDeletionVectors="true", enableChangeDataFeed="true")
    table.delete("id % 2 = 0")
    table.update({"id": "id + 1"}, "id = 1")
    table.overwrite(ids(7))
    orphan(root)
    age(root)
    kept = live(table)
    expected = files_of(root) - kept - {"orphan.parquet"}
    assert any(name.endswith(".bin") for name in expected)
    assert set(table.vacuum(mode="lite").paths) == expected
    assert files_of(root) == kept | {"orphan.parquet"}
    info = json.loads((root / "_delta_log" / "_last_vacuum_info").read_text())
    assert info == {"latestCommitVersionOutsideOfRetentionWindow": 4}
    # The next one reads only later commits.
    table.overwrite(ids(8))
    assert table.vacuum(mode="lite").paths == []
    age(root)
    assert set(table.vacuum(mode="lite").paths) == kept
    assert rows(table) == [8]


def test_lite_keeps_uploads_and_what_a_link_names(root: Path) -> None:
    table = made(root, ids(1))
    [add] = of_kind(root, 1, "add")
    (root / "real").mkdir()
    (root / add["path"]).rename(root / "real" / "a.parquet")
    (root / "linked").symlink_to(root / "real")
    removes = [
        {"remove": {"path": path, "deletionTimestamp": 1, "dataChange": True}}
        for path in (add["path"], "real/a.parquet")
    ]
    write_commit(root, 2, *removes, {"add": {**add, "path": "linked/a.parquet"}})
    orphan(root, "part-1.parquet#1")
    age(root)
    vacuumed = table.vacuum(mode="lite")
    assert (vacuumed.paths, vacuumed.deleted_files) == ([add["path"]], 0)
    assert rows(table) == [1]


def test_lite_keeps_what_is_young_or_needed(root: Path) -> None:
    table = made(root, ids(1), ids(2))
    [add] = of_kind(root, 1, "add")
    remove = {"path": add["path"], "deletionTimestamp": 1, "dataChange": True}
    write_commit(root, 3, {"remove": remove})
    write_commit(root, 4, {"add": add})
    age(root)
    table.delete("id = 2")
    assert table.vacuum(mode="lite").paths == []
    assert rows(table) == [1]


def test_lite_needs_all_commits_since_the_last_vacuum(root: Path) -> None:
    table = made(root, ids(1))
    table.overwrite(ids(2))
    age(root)
    table.checkpoint()
    commit_file(root, 0).unlink()
    commit_file(root, 1).unlink()
    table = deltaic.Table(root)
    with pytest.raises(deltaic.VersionNotFound, match="was cleaned up") as raised:
        table.vacuum(mode="lite")
    assert "full" in str(raised.value)
    # A full vacuum deletes what those commits removed.
    assert len(table.vacuum().paths) == 1
    table.overwrite(ids(3))
    age(root)
    assert len(table.vacuum(mode="lite").paths) == 1
    assert rows(table) == [3]


def test_an_inventory_replaces_the_listing(root: Path, tmp_path: Path) -> None:
    table = made(root, ids(1))
    for name in ("a%20b c.parquet", "not listed.parquet", "_hidden/c.parquet"):
        orphan(root, name)
    orphan(tmp_path, "outside.parquet")
    (root / "folder").mkdir()
    listed = inventory(
        root,
        "a%20b c.parquet",
        *live(table),
        "_hidden/c.parquet",
        "folder",
        "../outside.parquet",
        "gone.parquet",
    )
    before = files_of(root)
    vacuumed = table.vacuum(inventory=listed)
    assert (vacuumed.paths, vacuumed.deleted_files) == (["a%20b c.parquet", "gone.parquet"], 1)
    assert files_of(root) == before - {"a%20b c.parquet"}
    assert (tmp_path / "outside.parquet").exists()


def test_an_inventory_may_list_another_table(root: Path) -> None:
    table = made(root, ids(1))
    inner = made(root / "inner", ids(2))
    age(root)
    [file] = live(inner)
    log = "inner/_delta_log/00000000000000000001.json"
    assert table.vacuum(inventory=inventory(root, f"inner/{file}", log)).paths == []
    assert rows(inner) == [2]


def test_the_newest_entry_of_an_inventory_counts(root: Path) -> None:
    table = made(root, ids(1))
    orphan(root)
    both = pa.concat_tables(
        [inventory(root, "orphan.parquet"), inventory(root, "orphan.parquet", days_ago=1)]
    )
    assert table.vacuum(inventory=both).paths == []
    assert table.vacuum(DAY / 2, inventory=both.to_reader(), force=True).paths == ["orphan.parquet"]


@pytest.mark.parametrize(
    ("column", "values"),
    [("path", [1]), ("length", ["5"]), ("isDir", ["no"]), ("modificationTime", [None]), ("path", None)],
)
def test_an_inventory_has_four_columns(root: Path, column: str, values: list[object] | None) -> None:
    table = made(root, ids(1))
    orphan(root)
    listed = inventory(root, "orphan.parquet").drop_columns([column])
    if values is not None:
        values_array = pa.array(values, pa.int64()) if values == [None] else pa.array(values)
        listed = listed.append_column(column, values_array)
    with pytest.raises(ValueError, match=column):
        table.vacuum(inventory=listed)
    assert "orphan.parquet" in files_of(root)


def test_lite_takes_no_inventory(root: Path) -> None:
    table = made(root, ids(1))
    with pytest.raises(ValueError, match="inventory"):
        table.vacuum(mode="lite", inventory=inventory(root, "a"))
