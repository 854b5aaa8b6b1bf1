"""A reference table has the same state from its checkpoints, from any one of them, and from its commits."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.protocol import naive_log

from .checkpoints import bases, has_all_commits, without_checkpoints
from .opening import (
    OPENED,
    assert_says,
    copy_of_the_log,
    dated,
    needs_golden,
    opened,
    state,
    without_tombstones,
)

BASES = 4


@needs_golden
@pytest.mark.parametrize("name", [name for name in OPENED if bases(name) and has_all_commits(name)])
def test_by_checkpoints_or_by_commits(name: str, tmp_path: Path) -> None:
    """protocol: checkpoints.1, checkpoints.2."""
    by_checkpoint = copy_of_the_log(name, tmp_path / "a")
    by_commits = copy_of_the_log(name, tmp_path / "b")
    without_checkpoints(by_commits / "_delta_log")
    last = naive_log.newest(by_commits / "_delta_log")
    versions = {last, last // 2, *bases(name)[-BASES:]}
    for version in versions:
        found, expected = dated(opened(by_checkpoint, version)), dated(opened(by_commits, version))
        assert_says(expected, naive_log.replay_log(by_commits / "_delta_log", version))
        assert without_tombstones(found) == without_tombstones(expected)
        assert set(found["tombstones"]) <= set(expected["tombstones"])


@needs_golden
@pytest.mark.parametrize("name", [name for name in OPENED if bases(name)])
def test_by_each_checkpoint_alone(name: str, tmp_path: Path) -> None:
    """The commits up to the checkpoint are deleted, as by metadata cleanup.

    protocol: checkpoints.3, checkpoints.10
    """
    whole = copy_of_the_log(name, tmp_path / "whole")
    log = whole / "_delta_log"
    commits, last = set(naive_log.commit_versions(log)), naive_log.newest(log)
    expected = state(opened(whole))
    for base in bases(name)[-BASES:]:
        if not commits.issuperset(range(base + 1, last + 1)):
            continue
        root = copy_of_the_log(name, tmp_path / str(base))
        without_checkpoints(root / "_delta_log", keep=base)
        for version in commits:
            if version < base:
                (root / "_delta_log" / f"{version:020}.json").unlink()
        found = state(opened(root))
        assert_says(found, naive_log.replay_log(root / "_delta_log"))
        assert without_tombstones(found) == without_tombstones(expected)
