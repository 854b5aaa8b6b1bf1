"""Sink logs that persist on the host of Spark's driver: Spark Connect resolves DataFrames at each query.

A log is named by its content and never changes. Logs unused for a week are deleted by the next call.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from deltaic.exceptions import StorageError
from deltaic.spark.native.sink_log import LOG, write_log

__all__ = ["store_sink_log"]

_WEEK = 7 * 24 * 3600

# If Spark lists the folder instead of reading the log, it finds this file, which is not Parquet, and the
# query fails instead of returning no rows. That setting (fileStreamSink.ignoreMetadata) may change after
# `load`.
_NOT_LISTED = "not-listed.parquet"


def store_sink_log(log: bytes) -> str:
    """Writes a sink log unless it exists; returns its folder as text for Spark's `load`.

    Raises:
        StorageError: The folder for such logs belongs to another user.
    """
    home = _home()
    folder = home / hashlib.sha256(log).hexdigest()
    stored = folder / LOG
    # Cleaners of temporary files delete single files, and without the log Spark finds no files.
    is_whole = stored.is_file() and stored.stat().st_size == len(log) and (folder / _NOT_LISTED).is_file()
    if not is_whole:
        _remove(folder)
        fresh = Path(tempfile.mkdtemp(prefix=".", dir=home))
        write_log(log, fresh)
        (fresh / _NOT_LISTED).write_text(f"the files of this folder are those that {LOG} names\n")
        try:
            fresh.rename(folder)
        except OSError:  # created concurrently, with the same content
            shutil.rmtree(fresh, ignore_errors=True)
    for touched in (stored, stored.parent, folder / _NOT_LISTED, folder):
        os.utime(touched)
    _sweep(home, folder)
    return f"file://{folder}"


def _home() -> Path:
    user = os.getuid() if hasattr(os, "getuid") else 0
    home = Path(tempfile.gettempdir()) / f"deltaic-logs-{user}"
    with suppress(FileExistsError):
        home.mkdir(mode=0o700)
    about = home.lstat()
    if home.is_symlink() or (hasattr(os, "getuid") and about.st_uid != user):
        raise StorageError(
            f"the folder for plans of Spark Connect belongs to another user: {home}",
            context={"path": str(home)},
            hint="remove it, or set TMPDIR for Spark's driver to a folder of its own",
        )
    return home


def _sweep(home: Path, but: Path) -> None:
    oldest = time.time() - _WEEK
    for folder in home.iterdir():
        with suppress(OSError):
            if folder != but and folder.stat().st_mtime < oldest:
                _remove(folder)


def _remove(folder: Path) -> None:
    """Removes a folder atomically: a partly removed folder would be a table without files."""
    away = folder.with_name(f".{folder.name}.{os.getpid()}")
    with suppress(OSError):
        folder.rename(away)
        shutil.rmtree(away, ignore_errors=True)
