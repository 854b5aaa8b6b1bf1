"""`Table.repair`: entries of data files that are gone are removed."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import deltaic
from deltaic import alter
from tests.api.log_files import of_kind, write_commit

SCHEMA = pa.schema([("id", pa.int64()), ("part", pa.int32())])


def made(root: Path, **properties: str) -> deltaic.Table:
    """Returns a table of three files: version 3."""
    table = deltaic.Table.create(root, SCHEMA, partition_by=["part"], properties=properties)
    for part in range(3):
        table.append(pa.table({"id": range(part * 10, part * 10 + 10), "part": [part] * 10}, schema=SCHEMA))
    return table


def lose(root: Path, version: int) -> str:
    """Deletes the file that a commit added, and returns its path."""
    [add] = of_kind(root, version, "add")
    (root / add["path"]).unlink()
    return add["path"]


def ids(table: deltaic.Table) -> list[int]:
    return sorted(table.snapshot().scan(["id"]).to_arrow()["id"].to_pylist())


def test_missing_files_are_removed(root: Path) -> None:
    table = made(root)
    lost = sorted([lose(root, 1), lose(root, 3)])
    with pytest.raises(deltaic.CorruptData):
        ids(table)
    dry = table.repair(dry_run=True)
    assert (list(dry.missing_files), dry.version, dry.commit) == (lost, 3, None)
    assert str(dry).startswith("2 missing files of version 3 would be removed from the table:\n  part=")
    assert table.snapshot().version == 3
    repaired = table.repair()
    assert list(repaired.missing_files) == lost
    assert str(repaired).startswith("2 missing files of version 3 were removed")
    assert repaired.commit is not None
    sizes = [add["size"] for version in (1, 3) for add in of_kind(root, version, "add")]
    assert repaired.commit.operation == "FSCK"
    assert repaired.commit.metrics == {"numRemovedFiles": 2, "removedFilesSize": sum(sizes)}
    removes = of_kind(root, 4, "remove")
    assert sorted(remove["path"] for remove in removes) == lost
    assert {remove["dataChange"] for remove in removes} == {True}
    assert not of_kind(root, 4, "add")
    assert ids(table) == list(range(10, 20))
    assert table.check(deep=True).is_healthy


def test_a_complete_table_is_left_alone(root: Path) -> None:
    table = made(root)
    for repaired in (table.repair(dry_run=True), table.repair()):
        assert (list(repaired.missing_files), repaired.version, repaired.commit) == ([], 3, None)
    assert table.snapshot().version == 3


def test_only_live_files_are_looked_up(root: Path) -> None:
    table = made(root)
    table.delete("part = 0")
    lose(root, 1)
    assert list(table.repair().missing_files) == []


def test_a_missing_deletion_vector_is_an_error(root: Path) -> None:
    """Its deleted rows would be in the table again, or its other rows would be lost."""
    table = deltaic.Table.create(root, SCHEMA, properties={"delta.enableDeletionVectors": "true"})
    table.append(pa.table({"id": range(20_000), "part": [0] * 20_000}, schema=SCHEMA))
    table.append(pa.table({"id": [-1], "part": [1]}, schema=SCHEMA))
    # Small deletion vectors are in the log.
    table.delete("id % 7 = 0")
    [vector] = root.rglob("*.bin")
    vector.unlink()
    lost = lose(root, 2)
    [kept] = [add["path"] for add in of_kind(root, 1, "add")]
    for dry_run in (True, False):
        with pytest.raises(deltaic.CorruptData, match=r"deletion vector .* is gone") as caught:
            table.repair(dry_run=dry_run)
        assert vector.name in str(caught.value)
        assert caught.value.context["path"] == kept
    assert table.snapshot().version == 3
    # As the hint says.
    with table.transaction() as tx:
        tx.remove([kept])
    assert list(table.repair().missing_files) == [lost]
    assert ids(table) == []


def test_a_missing_file_with_a_missing_deletion_vector_is_removed(root: Path) -> None:
    table = deltaic.Table.create(root, SCHEMA, properties={"delta.enableDeletionVectors": "true"})
    table.append(pa.table({"id": range(20_000), "part": [0] * 20_000}, schema=SCHEMA))
    table.delete("id % 7 = 0")
    for file in [*root.rglob("*.bin"), *root.glob("*.parquet")]:
        file.unlink()
    assert len(table.repair().missing_files) == 1
    assert [bool(remove["deletionVector"]) for remove in of_kind(root, 3, "remove")] == [True]
    assert ids(table) == []


def test_an_append_only_table_is_not_repaired(root: Path) -> None:
    table = made(root)
    lose(root, 1)
    table.alter(alter.SetProperties({"delta.appendOnly": "true"}))
    for dry_run in (True, False):
        with pytest.raises(deltaic.ConstraintViolation, match="append-only"):
            table.repair(dry_run=dry_run)


def test_concurrent_commits(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Appends do not conflict, and files that another writer removed are not removed again."""
    table = made(root)
    lost = [lose(root, version) for version in (1, 2)]
    known = table.snapshot()._rust  # the version that the repair starts from
    other = deltaic.Table(root)
    other.append(pa.table({"id": [90], "part": [9]}, schema=SCHEMA))
    other.delete("part = 0")
    monkeypatch.setattr(type(table), "_refreshed", lambda _: known)
    with pytest.raises(deltaic.CommitConflict):
        table.repair(row_level=False)
    repaired = table.repair()
    monkeypatch.undo()
    assert list(repaired.missing_files) == lost[1:]
    assert ids(table) == [*range(20, 30), 90]


def named_anew(root: Path, version: int, path: str) -> None:
    """Commits another path for the file that a commit added."""
    [add] = of_kind(root, version, "add")
    remove = {"path": add["path"], "deletionTimestamp": 1, "dataChange": True}
    write_commit(root, 4, {"remove": remove}, {"add": {**add, "path": path}})


@pytest.mark.parametrize("is_absolute", [False, True])
def test_a_file_with_the_path_as_its_name_is_not_removed(root: Path, is_absolute: bool) -> None:
    """Some writers do not encode paths; their files exist."""
    table = made(root)
    [add] = of_kind(root, 1, "add")
    (root / add["path"]).rename(root / "a%20b.parquet")
    named_anew(root, 1, f"file:{root}/a%20b.parquet" if is_absolute else "a%20b.parquet")
    for dry_run in (True, False):
        with pytest.raises(deltaic.CorruptData, match="did not encode") as caught:
            table.repair(dry_run=dry_run)
        assert "rename the file" in str(caught.value)
    assert table.snapshot().version == 4
    # As the hint says.
    (root / "a%20b.parquet").rename(root / "a b.parquet")
    assert table.repair().missing_files == []
    assert ids(table) == list(range(30))


def test_an_encoded_path_of_a_missing_file_is_removed(root: Path) -> None:
    table = made(root)
    lose(root, 1)
    named_anew(root, 1, "a%20b.parquet")
    assert table.repair().missing_files == ["a%20b.parquet"]


@pytest.mark.parametrize("is_empty", [False, True])
def test_files_of_an_unreachable_folder_are_not_removed(root: Path, is_empty: bool) -> None:
    """A mount point without its file system is empty."""
    table = made(root / "clone")
    [add] = of_kind(root / "clone", 1, "add")
    source = root / "source"
    source.mkdir()
    file = source / "a.parquet"
    (root / "clone" / add["path"]).rename(file)
    named_anew(root / "clone", 1, f"file:{file}")
    table = deltaic.Table(root / "clone", allowed_roots=[str(source)])
    source.rename(root / "away")
    if is_empty:
        source.mkdir()
    for dry_run in (True, False):
        with pytest.raises(deltaic.StorageError, match="unreachable") as caught:
            table.repair(dry_run=dry_run)
        assert str(source) in str(caught.value)
        assert "mount" in str(caught.value)
    if is_empty:
        source.rmdir()
    (root / "away").rename(source)
    assert table.repair().missing_files == []
    file.rename(source / "b.parquet")
    assert table.repair().missing_files == [f"file:{file}"]


@pytest.mark.parametrize("is_folder", [False, True])
def test_a_dangling_link_is_not_removed(root: Path, tmp_path: Path, is_folder: bool) -> None:
    table = made(root)
    [add] = of_kind(root, 1, "add")
    link = root / add["path"]
    link = link.parent if is_folder else link
    away = tmp_path / "away"
    link.rename(away)
    link.symlink_to(tmp_path / "unmounted", target_is_directory=is_folder)
    with pytest.raises(deltaic.StorageError, match="is a symbolic link whose target does not exist"):
        table.repair()
    link.unlink()
    away.rename(link)
    assert table.repair().missing_files == []
