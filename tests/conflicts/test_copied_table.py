"""A process copies the table by hard links while writers race: acknowledged commits are not lost.

Each writer waits before some of its commits until all files of the log have been copied.
"""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path

import pytest

import deltaic

from .appender import SCHEMA
from .writers import landed_once, on_disk, race

WRITERS, COMMITS = 6, 25


class Copier:
    """Creates a hard link of each staged file in another folder, as `cp -al` does."""

    def __init__(self, log: Path, copies: Path, rounds: Path) -> None:
        self._log, self._copies, self._rounds = log, copies, rounds
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.copied = 0

    def __enter__(self) -> Copier:
        self._copies.mkdir()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        with self._rounds.open("ab", buffering=0) as made:
            while not self._stop.is_set():
                with os.scandir(self._log) as found:
                    staged = [file.path for file in found if file.name.endswith(".tmp")]
                for path in staged:
                    # The file may have been deleted.
                    with contextlib.suppress(FileNotFoundError):
                        os.link(path, self._copies / str(self.copied))
                        self.copied += 1
                made.write(b".")


@pytest.mark.skipif(os.name == "nt", reason="files are told apart by their numbers")
def test_a_table_that_is_copied_by_links_loses_no_commit(tmp_path: Path, preloaded: Path) -> None:
    """protocol: creation-of-new-log-entries.2."""
    root, rounds = tmp_path / "t", tmp_path / "rounds"
    deltaic.Table.create(root, SCHEMA)
    environment = {
        "STALL_AT": "commit named",
        "STALL_EVERY": "5",
        "STALL_UNTIL": str(rounds),
        # The round in which it begins, and a whole one.
        "STALL_GROWTH": "2",
    }
    with Copier(root / "_delta_log", tmp_path / "copies", rounds) as copier:
        told = race(root, WRITERS, COMMITS, environment=environment, library=preloaded)
    assert copier.copied > 0
    landed_once(told, COMMITS, on_disk(root))
