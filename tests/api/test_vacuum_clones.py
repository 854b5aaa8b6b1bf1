"""`Table.vacuum`: shallow clones, tables in folders of a table, and links."""

from __future__ import annotations

from pathlib import Path

import pytest

import deltaic
from tests.api.aged_files import age, files_of
from tests.api.log_files import of_kind, write_commit
from tests.api.vacuum_tables import (
    clone_of,
    ids,
    made,
    many,
    orphan,
    rows,
)


@pytest.mark.parametrize("as_handle", [False, True])
def test_files_of_a_shallow_clone_are_not_deleted(root: Path, tmp_path: Path, *, as_handle: bool) -> None:
    """A known loss with deltalake, which deletes files of the source that only a clone needs."""
    table = made(root, many(), enableDeletionVectors="true")
    table.delete("id % 2 = 0")
    clone = clone_of(root, tmp_path / "clone")
    needed = files_of(root)
    table.overwrite(ids(7))
    orphan(root)
    age(root)
    vacuumed = table.vacuum(clones=[clone if as_handle else tmp_path / "clone"])
    assert vacuumed.paths == ["orphan.parquet"]
    assert needed < files_of(root)
    assert rows(clone) == list(range(1, 1000, 2))
    # The files are needed as long as the clone's tombstones have not expired.
    clone.delete()
    assert table.vacuum(clones=[clone]).paths == []
    assert rows(clone, 0) == list(range(1, 1000, 2))
    age(tmp_path / "clone")
    assert set(table.vacuum(clones=[clone]).paths) == needed


def test_a_clone_that_does_not_exist_is_an_error(root: Path, tmp_path: Path) -> None:
    table = made(root, ids(1))
    orphan(root)
    age(root)
    with pytest.raises(deltaic.TableNotFound):
        table.vacuum(clones=[tmp_path / "nothing"])
    assert "orphan.parquet" in files_of(root)


def test_files_of_the_source_of_a_clone_are_never_deleted(root: Path, tmp_path: Path) -> None:
    made(root, ids(1))
    orphan(root)
    clone = clone_of(root, tmp_path / "clone")
    clone.delete()
    orphan(tmp_path / "clone")
    age(tmp_path)
    assert clone.vacuum().paths == ["orphan.parquet"]
    assert len(files_of(root)) == 2


def test_another_table_in_a_folder_remains(root: Path) -> None:
    table = made(root, ids(1))
    inner = made(root / "in" / "ner", ids(2))
    orphan(root, "in/orphan.parquet")
    (root / "in" / "ner" / "empty").mkdir()
    age(root)
    assert table.vacuum().paths == ["in/orphan.parquet"]
    assert rows(inner) == [2]
    assert (root / "in" / "ner" / "empty").is_dir()


def test_nothing_outside_of_the_table_is_deleted(root: Path, tmp_path: Path) -> None:
    table = made(root, ids(1))
    outside = orphan(tmp_path, "outside/file.parquet")
    (root / "folder").symlink_to(outside.parent)
    (root / "file.parquet").symlink_to(outside)
    removes = [
        {"remove": {"path": path, "deletionTimestamp": 1, "dataChange": True}}
        for path in ("../outside/file.parquet", f"file:{outside}", "folder/file.parquet")
    ]
    write_commit(root, 2, *removes)
    age(tmp_path)
    assert table.vacuum(mode="lite").paths == []
    assert table.vacuum().paths == []
    assert outside.exists()


def test_a_table_opened_through_a_link(root: Path, tmp_path: Path) -> None:
    """The log names the files by the folder's real path, and the table is opened by another one."""
    made(root, ids(1))
    [add] = of_kind(root, 1, "add")
    remove = {"path": add["path"], "deletionTimestamp": 1, "dataChange": True}
    write_commit(root, 2, {"remove": remove}, {"add": {**add, "path": f"file:{root}/{add['path']}"}})
    link = tmp_path / "link"
    link.symlink_to(root)
    orphan(root)
    age(root)
    assert deltaic.Table(link).vacuum().paths == ["orphan.parquet"]
    assert rows(deltaic.Table(root)) == [1]


def test_a_file_that_is_needed_through_a_link(root: Path) -> None:
    table = made(root, ids(1))
    [add] = of_kind(root, 1, "add")
    (root / "real").mkdir()
    (root / add["path"]).rename(root / "real" / "a.parquet")
    (root / "linked").symlink_to(root / "real")
    remove = {"path": add["path"], "deletionTimestamp": 1, "dataChange": True}
    write_commit(root, 2, {"remove": remove}, {"add": {**add, "path": "linked/a.parquet"}})
    orphan(root, "real/orphan.parquet")
    age(root)
    assert table.vacuum().paths == ["real/orphan.parquet"]
    assert rows(table) == [1]
