"""Checkpoints of reference tables: which there are, and copies of a log without them."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.protocol import naive_log

from .opening import OF_TWO_TABLES
from .reference import reference


def bases(name: str) -> list[int]:
    return sorted(naive_log.checkpoints(reference(name).folder / "_delta_log"))


def has_all_commits(name: str) -> bool:
    log = reference(name).folder / "_delta_log"
    complete = naive_log.commit_versions(log) == list(range(naive_log.newest(log) + 1))
    return complete and name != OF_TWO_TABLES


def without_checkpoints(log: Path, keep: int | None = None) -> None:
    """Deletes the hint and all checkpoints, except the one to keep; sidecars if none is kept."""
    (log / "_last_checkpoint").unlink(missing_ok=True)
    for path in log.glob("*.checkpoint*"):
        if keep is None or int(path.name[:20]) != keep:
            path.unlink()
    if keep is None and (log / "_sidecars").exists():
        shutil.rmtree(log / "_sidecars")
