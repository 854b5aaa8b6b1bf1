"""The folder of the tables of programs."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")  # noqa: S108 - a file system in memory, where syncing is cheap


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory if the system has one."""
    if not MEMORY.is_dir():
        yield tmp_path
        return
    path = Path(tempfile.mkdtemp(dir=MEMORY, prefix="deltaic-programs-"))
    yield path
    shutil.rmtree(path, ignore_errors=True)
