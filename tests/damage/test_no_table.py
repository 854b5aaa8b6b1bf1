"""Paths without a table, and stores that cannot be written."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic

from . import broken
from .error_text import judge_text
from .tree import tree


def absent(_: Path) -> None:
    pass


def empty_folder(root: Path) -> None:
    root.mkdir()


def plain_parquet(root: Path) -> None:
    root.mkdir()
    pq.write_table(pa.table({"id": [1]}), root / "part-0.parquet")


def a_file(root: Path) -> None:
    root.write_text("hello")


def log_that_is_a_file(root: Path) -> None:
    root.mkdir()
    (root / "_delta_log").write_text("{}")


def empty_log(root: Path) -> None:
    (root / "_delta_log").mkdir(parents=True)


def log_without_commits(root: Path) -> None:
    empty_log(root)
    for name in ("1.json", "_last_checkpoint", ".00000000000000000000.json.crc", "00000000000000000000.crc"):
        (root / "_delta_log" / name).write_text("{}")


PLACES = [absent, empty_folder, plain_parquet, a_file, log_that_is_a_file, empty_log, log_without_commits]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_folders_without_a_table(tmp_path: Path, place: broken.Damage) -> None:
    root = tmp_path / "t"
    place(root)
    before = tree(tmp_path)
    assert deltaic.Table.exists(root) is False
    for meet in (broken.opened, broken.appended, broken.asked_for_history):
        with pytest.raises(deltaic.TableNotFound) as caught:
            meet(root)
        error = caught.value
        assert error.code == "TABLE_NOT_FOUND"
        assert "/t" in error.message
        assert error.context
        assert error.hint
        judge_text(str(error))
    assert tree(tmp_path) == before


def test_a_plain_parquet_folder_is_reported_apart(tmp_path: Path) -> None:
    plain_parquet(tmp_path / "t")
    with pytest.raises(deltaic.TableNotFound) as caught:
        broken.opened(tmp_path / "t")
    assert "arquet" in str(caught.value)


@pytest.mark.parametrize("name", ["1.json", "00000000000000000001.json.tmp", "0000000000000000000000.json"])
def test_names_that_are_nearly_commits_are_ignored(tmp_path: Path, name: str) -> None:
    broken.healthy(tmp_path / "t")
    (tmp_path / "t" / "_delta_log" / name).write_text("garbage")
    before = tree(tmp_path / "t")
    snapshot = deltaic.Table(tmp_path / "t").snapshot()
    assert (snapshot.version, snapshot.num_files) == (1, 2)
    commit = deltaic.Table(tmp_path / "t").append(broken.good_rows())
    assert commit.version == 2
    after = tree(tmp_path / "t")
    assert {path: after[path] for path in before} == before


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """A table that even root cannot write: its folder is immutable or mounted read-only."""
    root = tmp_path / "t"
    broken.healthy(root)
    if os.geteuid() != 0:
        folders = [path for path in (root, *root.rglob("*")) if path.is_dir()]
        for path in folders:
            path.chmod(0o555)
        yield root
        for path in folders:
            path.chmod(0o755)
        return
    for lock, unlock in (
        (["chattr", "-R", "+i", str(root)], ["chattr", "-R", "-i", str(root)]),
        (["mount", "--bind", "-o", "ro", str(root), str(root)], ["umount", str(root)]),
    ):
        if shutil.which(lock[0]) and not subprocess.run(lock, capture_output=True, check=False).returncode:
            try:
                if not writable(root):
                    yield root
                    return
            finally:
                subprocess.run(unlock, check=True)
    pytest.skip("running as root, and neither chattr nor a read-only mount is possible here")


def writable(root: Path) -> bool:
    try:
        (root / "probe").touch()
    except OSError:
        return False
    (root / "probe").unlink()
    return True


def test_a_table_that_cannot_be_written(read_only: Path) -> None:
    before = tree(read_only)
    assert deltaic.Table(read_only).snapshot().scan().to_arrow().num_rows == 4
    with pytest.raises(deltaic.StorageError) as caught:
        broken.appended(read_only)
    error = caught.value
    assert error.code == "STORAGE_ERROR"
    assert error.context["path"]
    assert error.hint
    judge_text(str(error))
    assert tree(read_only) == before


def test_a_place_below_a_file_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("hello")
    before = tree(tmp_path)
    with pytest.raises(deltaic.StorageError) as caught:
        deltaic.Table.create(tmp_path / "file" / "t", broken.ARROW)
    assert caught.value.hint
    judge_text(str(caught.value))
    assert tree(tmp_path) == before


def test_data_folder_that_is_a_file(tmp_path: Path) -> None:
    """The partition's folder cannot be created: nothing is committed."""
    broken.healthy(tmp_path / "t")
    (tmp_path / "t" / "day=2026-11-03").write_text("in the way")
    before = tree(tmp_path / "t")
    with pytest.raises(deltaic.StorageError) as caught:
        broken.appended(tmp_path / "t")
    judge_text(str(caught.value))
    assert tree(tmp_path / "t") == before


def test_create_where_a_table_is(tmp_path: Path) -> None:
    broken.healthy(tmp_path / "t")
    before = tree(tmp_path / "t")
    with pytest.raises((deltaic.DeltaicError, ValueError)) as caught:
        deltaic.Table.create(tmp_path / "t", broken.ARROW)
    assert "exist" in str(caught.value)
    assert tree(tmp_path / "t") == before
    assert deltaic.Table.create(tmp_path / "t", broken.ARROW, if_exists="ignore").snapshot().version == 1
    assert tree(tmp_path / "t") == before
