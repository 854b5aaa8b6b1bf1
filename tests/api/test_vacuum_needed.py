"""`Table.vacuum`: needed files whose names in the log, times or tables make it easy to overlook them."""

from __future__ import annotations

import time
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic
from deltaic.alter import SetProperties
from tests.api.aged_files import age, files_of
from tests.api.log_files import of_kind, write_commit
from tests.api.vacuum_tables import clone_of, ids, inventory, live, made, many, orphan, rows


def renamed(root: Path, logged: str, file: str | None = None) -> None:
    """Names the only file, of version 1, otherwise in the log, and moves it."""
    [add] = of_kind(root, 1, "add")
    if file is not None:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / add["path"]).rename(root / file)
    remove = {"path": add["path"], "deletionTimestamp": 1, "dataChange": True}
    write_commit(root, 2, {"remove": remove}, {"add": {**add, "path": logged}})


@pytest.mark.parametrize("scheme", ["", "file:", "file://"])
def test_a_file_named_through_an_alias_of_the_folder(root: Path, tmp_path: Path, scheme: str) -> None:
    made(root, ids(1))
    [name] = files_of(root)
    alias = tmp_path / "alias"
    alias.symlink_to(root)
    renamed(root, f"{scheme}{alias}/{name}")
    orphan(root)
    age(root)
    table = deltaic.Table(root, allowed_roots=[alias])
    assert table.vacuum().paths == ["orphan.parquet"]
    assert rows(table) == [1]


def test_a_file_named_through_an_alias_of_an_inner_folder(root: Path, tmp_path: Path) -> None:
    """What follows the alias is not the path below the root."""
    made(root, ids(1))
    alias = tmp_path / "alias"
    renamed(root, f"file:{alias}/a.parquet", "inner/folder/a.parquet")
    alias.symlink_to(root / "inner" / "folder")
    orphan(root, "inner/folder/orphan.parquet")
    age(root)
    assert deltaic.Table(root).vacuum().paths == ["inner/folder/orphan.parquet"]
    assert rows(deltaic.Table(root, allowed_roots=[alias])) == [1]


def test_a_file_named_by_an_ending_that_cannot_be_resolved(root: Path) -> None:
    """A path of another machine, which names the folder by a mount that does not exist here."""
    made(root, ids(1))
    [name] = files_of(root)
    renamed(root, f"dbfs:/mnt/elsewhere/{name}")
    orphan(root)
    age(root)
    assert deltaic.Table(root).vacuum().paths == ["orphan.parquet"]
    assert name in files_of(root)


def test_a_clone_that_names_its_source_by_an_alias(root: Path, tmp_path: Path) -> None:
    table = made(root, many())
    needed = files_of(root)
    alias = tmp_path / "alias"
    alias.symlink_to(root)
    clone_of(alias, tmp_path / "clone")
    table.overwrite(ids(7))
    orphan(root)
    age(root)
    clone = deltaic.Table(tmp_path / "clone", allowed_roots=[alias])
    assert table.vacuum(clones=[clone]).paths == ["orphan.parquet"]
    assert needed < files_of(root)
    assert len(rows(clone)) == 1000


@pytest.mark.parametrize("hidden", ["_hidden", ".hidden", "metadata"])
def test_a_file_that_is_needed_through_a_link_in_a_hidden_folder(root: Path, hidden: str) -> None:
    table = made(root, ids(1))
    renamed(root, f"{hidden}/link/a.parquet", "real/a.parquet")
    (root / hidden).mkdir()
    (root / hidden / "link").symlink_to(root / "real")
    orphan(root, "real/orphan.parquet")
    age(root)
    assert table.vacuum().paths == ["real/orphan.parquet"]
    assert rows(table) == [1]


def test_incomplete_uploads_of_another_table_in_a_folder_remain(root: Path) -> None:
    table = made(root, ids(1))
    made(root / "inner", ids(2))
    for name in ("a.parquet#1", "inner/a.parquet#1", "inner/folder/a.parquet#1"):
        orphan(root, name)
    age(root)
    assert table.vacuum().paths == ["a.parquet#1"]


def test_a_needed_file_that_is_named_like_an_incomplete_upload_remains(root: Path) -> None:
    table = made(root, ids(1))
    renamed(root, "part%231", "part#1")
    age(root)
    assert table.vacuum().paths == []
    assert (root / "part#1").exists()


def test_an_inventory_without_the_log_of_another_table(root: Path) -> None:
    table = made(root, ids(1))
    inner = made(root / "in" / "ner", ids(2))
    [file] = live(inner)
    names = [f"in/ner/{file}", "in/ner/folder/a.parquet", "in/orphan.parquet"]
    for name in names[1:]:
        orphan(root, name)
    age(root)
    assert table.vacuum(inventory=inventory(root, *names)).paths == ["in/orphan.parquet"]
    assert rows(inner) == [2]


def test_the_log_names_a_file_that_now_belongs_to_another_table(root: Path) -> None:
    table = made(root, ids(1))
    inner = made(root / "inner", ids(2))
    [file] = live(inner)
    remove = {"path": f"inner/{file}", "deletionTimestamp": 1, "dataChange": True}
    write_commit(root, 2, {"remove": remove})
    age(root)
    assert table.vacuum(mode="lite").paths == []
    assert rows(inner) == [2]


def test_a_retention_that_was_raised_after_a_checkpoint(root: Path) -> None:
    """The checkpoint dropped a tombstone that is younger than the table's retention of today."""
    table = made(root, ids(1), deletedFileRetentionDuration="interval 1 hours")
    age(root, timedelta(days=20))
    table.overwrite(ids(2))
    age(root, timedelta(days=2))
    table = deltaic.Table(root)
    table.checkpoint()
    table.alter(SetProperties({"delta.deletedFileRetentionDuration": "interval 7 days"}))
    table = deltaic.Table(root)
    assert table.snapshot().tombstones().to_arrow().num_rows == 0
    assert table.vacuum(dry_run=True).paths == []
    assert rows(table, 1) == [1]
    age(root)
    assert len(deltaic.Table(root).vacuum(dry_run=True).paths) == 1


def test_a_longer_retention_than_that_of_a_clone(root: Path, tmp_path: Path) -> None:
    """The clone's checkpoint dropped a tombstone that is younger than the retention of the vacuum."""
    table = made(root, many())
    needed = files_of(root)
    clone_of(root, tmp_path / "clone")
    table.overwrite(ids(7))
    age(root, timedelta(days=60))
    age(tmp_path / "clone", timedelta(days=60))
    deltaic.Table(tmp_path / "clone", allowed_roots=[root]).delete()
    age(tmp_path / "clone", timedelta(days=10))
    clone = deltaic.Table(tmp_path / "clone", allowed_roots=[root])
    clone.checkpoint()
    clone = deltaic.Table(tmp_path / "clone", allowed_roots=[root])
    assert clone.snapshot().tombstones().to_arrow().num_rows == 0
    table = deltaic.Table(root)
    assert table.vacuum(timedelta(days=30), clones=[clone], dry_run=True).paths == []
    assert set(table.vacuum(timedelta(days=8), clones=[clone], dry_run=True).paths) == needed


@pytest.mark.parametrize("prefix", ["", "{root}/", "file:{root}/", "file:/elsewhere/"])
def test_a_path_of_a_writer_that_does_not_encode(root: Path, prefix: str) -> None:
    made(root, ids(1))
    renamed(root, f"{prefix.format(root=root)}p=1/a%20b.parquet", "p=1/a%20b.parquet")
    orphan(root)
    age(root)
    assert deltaic.Table(root).vacuum().paths == ["orphan.parquet"]


def test_times_of_an_inventory_in_seconds_are_refused(root: Path) -> None:
    table = made(root, ids(1))
    orphan(root)
    now = int(time.time())
    young = pa.table({"path": ["orphan.parquet"], "length": [5], "isDir": [False], "modificationTime": [now]})
    with pytest.raises(ValueError, match=rf"{now}, a time before the year 2000[^$]*milliseconds"):
        table.vacuum(inventory=young)
    assert "orphan.parquet" in files_of(root)
    assert table.snapshot().version == 1


def test_a_folder_without_a_time_in_an_inventory(root: Path) -> None:
    """Stores do not have times of folders, and some inventories do not mark them."""
    table = made(root, ids(1))
    (root / "folder").mkdir()
    (root / "unmarked").mkdir()
    orphan(root)
    listed = inventory(root, "folder", "orphan.parquet", "unmarked").to_pydict()
    listed["modificationTime"][0] = 0
    listed["isDir"][2] = False
    assert table.vacuum(inventory=pa.table(listed)).paths == ["orphan.parquet"]
    assert (root / "unmarked").exists()


def test_an_inventory_with_a_wrong_type(root: Path) -> None:
    table = made(root, ids(1))
    listed = inventory(root, "a").drop_columns(["length"]).append_column("length", pa.array([5.0]))
    with pytest.raises(ValueError, match="column length has the type double, not bigint"):
        table.vacuum(inventory=listed)


def test_a_short_retention_is_spelled_in_singular(root: Path) -> None:
    with pytest.raises(ValueError, match="a retention of 1 hour is shorter than the table's, 7 days"):
        made(root, ids(1)).vacuum(timedelta(hours=1))
