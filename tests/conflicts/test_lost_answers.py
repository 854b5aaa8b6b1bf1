"""A file system that links each commit but reports an error: every commit lands once, and no writer fails."""

from __future__ import annotations

from pathlib import Path

import pytest

import deltaic

from .appender import SCHEMA
from .preload import compiled
from .writers import landed_once, on_disk, race

SOURCE = Path(__file__).with_name("unheard_link.c")
WRITERS, COMMITS = 8, 8


@pytest.fixture(scope="module")
def unheard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that replaces the C library's link."""
    return compiled(SOURCE, tmp_path_factory.mktemp("unheard"))


def test_a_link_that_is_made_unheard_is_one_commit(tmp_path: Path, unheard: Path) -> None:
    root, record = tmp_path / "t", tmp_path / "lost"
    deltaic.Table.create(root, SCHEMA)
    told = race(root, WRITERS, COMMITS, environment={"UNHEARD_LINKS": str(record)}, library=unheard)
    landed_once(told, COMMITS, on_disk(root))
    # Every commit landed with an error report.
    assert record.stat().st_size == WRITERS * COMMITS
    left = [path.name for path in (root / "_delta_log").iterdir() if path.name.endswith(".tmp")]
    assert left == []
