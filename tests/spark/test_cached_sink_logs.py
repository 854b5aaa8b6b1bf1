"""Sink logs for Spark Connect: named by their content, kept while they are used, then deleted."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import pytest

import deltaic

pytest.importorskip("pyspark", reason="missing: PySpark")

from deltaic.spark.native.stored_sink_logs import store_sink_log


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def folder_of(text: str) -> Path:
    return Path(text.removeprefix("file://"))


def test_one_content_has_one_place(scratch: Path) -> None:
    first = store_sink_log(b"v1\n1")
    assert store_sink_log(b"v1\n1") == first
    assert store_sink_log(b"v1\n2") != first
    assert (folder_of(first) / "_spark_metadata" / "0.compact").read_bytes() == b"v1\n1"
    [home] = scratch.iterdir()
    assert home.stat().st_mode & 0o777 == 0o700
    assert len(list(home.iterdir())) == 2
    # A reader that lists the folder instead of reading the log finds an invalid Parquet file, and fails.
    assert (folder_of(first) / "not-listed.parquet").read_bytes()[:4] != b"PAR1"


def test_streams_unused_for_a_week_are_deleted() -> None:
    old, asked_for = folder_of(store_sink_log(b"old")), folder_of(store_sink_log(b"asked for"))
    long_ago = time.time() - 8 * 24 * 3600
    for folder in (old, asked_for):
        os.utime(folder, (long_ago, long_ago))
    store_sink_log(b"asked for")
    assert not old.exists()
    assert asked_for.exists()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="there are no users to tell apart")
def test_a_folder_that_another_client_else_laid_out_is_not_written_to(scratch: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (scratch / f"deltaic-logs-{os.getuid()}").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(deltaic.StorageError, match="belongs to another user"):
        store_sink_log(b"v1")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_log_that_another_client_removed_is_written_again(scratch: Path) -> None:
    folder = folder_of(store_sink_log(b"v1"))
    log = folder / "_spark_metadata" / "0.compact"
    for spoil in (log.unlink, lambda: log.write_bytes(b"")):
        spoil()
        assert folder_of(store_sink_log(b"v1")) == folder
        assert log.read_bytes() == b"v1"
    [home] = scratch.iterdir()
    assert [each.name for each in home.iterdir()] == [folder.name]
