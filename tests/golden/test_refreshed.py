"""A refreshed snapshot equals a newly opened one, whatever files are added to or deleted from the log."""

from __future__ import annotations

import shutil
import warnings
from pathlib import Path
from typing import Any

import pytest

import deltaic
from tests.protocol import naive_log

from .opening import OF_TWO_TABLES, OPENED, naive, needs_golden, opened, state, without_tombstones
from .reference import reference

STEPS = 30


class Arriving:
    """A log that grows as the reference table's did: commits, checksums, compactions, checkpoints, hints."""

    def __init__(self, name: str, root: Path) -> None:
        self.name = name
        self.source = reference(name).folder / "_delta_log"
        self.root = root
        self.log = root / "_delta_log"
        self.log.mkdir(parents=True)
        self.version = -1
        reachable = naive_log.reachable(self.source)
        self.oldest = reachable[0]
        stride = 1 + len(reachable) // STEPS
        self.steps = [*reachable[:-1][::stride], reachable[-1]]
        self.bases = naive_log.checkpoints(self.source)
        if (self.source / "_sidecars").exists():
            shutil.copytree(self.source / "_sidecars", self.log / "_sidecars")

    def go_to(self, version: int) -> None:
        """Adds all files up to a version, and a hint to the newest checkpoint."""
        for path in self.source.iterdir():
            if path.name[:1].isdigit() and self.version < written_with(path) <= version:
                shutil.copy2(path, self.log / path.name)
        newest = max((base for base in self.bases if base <= version), default=None)
        if newest is not None:
            (self.log / "_last_checkpoint").write_text(f'{{"version":{newest},"size":1}}')
        self.version = version

    def clean_up(self) -> None:
        """Deletes everything before the newest checkpoint, as metadata cleanup does."""
        newest = max((base for base in self.bases if base <= self.version), default=0)
        for path in self.log.iterdir():
            if path.name[:1].isdigit() and int(path.name[:20]) < newest:
                path.chmod(0o644)
                path.unlink()

    def naive(self) -> dict[str, Any]:
        return naive(self.name, self.version)


def written_with(path: Path) -> int:
    """Returns the version with which a log file is added: for a compaction, its last."""
    return int(path.name[21:41] if path.name.endswith(".compacted.json") else path.name[:20])


def refreshed(snapshot: deltaic.Snapshot) -> deltaic.Snapshot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", deltaic.DeltaicWarning)
        return snapshot.refresh()


def assert_is(snapshot: deltaic.Snapshot, arriving: Arriving) -> None:
    """Compares with the naive replay. A snapshot that has read removes may have more tombstones."""
    said, expected = state(snapshot), arriving.naive()
    assert said["version"] == arriving.version
    assert {key: said[key] for key in without_tombstones(expected)} == without_tombstones(expected)
    assert set(said["tombstones"]) >= set(expected["tombstones"])


def growing() -> list[str]:
    """Returns the tables that have more than one version."""
    reachable = {name: naive_log.reachable(reference(name).folder / "_delta_log") for name in OPENED}
    return [name for name in OPENED if len(reachable[name]) > 1 and name != OF_TWO_TABLES]


def late() -> list[str]:
    """Returns those that have a checkpoint and all of their commits."""
    logs = {name: reference(name).folder / "_delta_log" for name in growing()}
    whole = [
        name
        for name, log in logs.items()
        if naive_log.commit_versions(log) == list(range(naive_log.newest(log) + 1))
    ]
    return [name for name in whole if naive_log.checkpoints(logs[name])]


@needs_golden
@pytest.mark.parametrize("clean", [False, True], ids=["kept", "cleaned up"])
@pytest.mark.parametrize("name", growing())
def test_version_by_version(name: str, tmp_path: Path, *, clean: bool) -> None:
    arriving = Arriving(name, tmp_path)
    arriving.go_to(arriving.steps[0])
    first = snapshot = opened(tmp_path)
    before = state(first)
    for version in arriving.steps[1:]:
        arriving.go_to(version)
        if clean:
            arriving.clean_up()
        snapshot = refreshed(snapshot)
        assert_is(snapshot, arriving)
    assert without_tombstones(state(snapshot)) == without_tombstones(state(opened(tmp_path)))
    assert state(first) == before
    again = refreshed(snapshot)
    assert state(again) == state(snapshot)


@needs_golden
@pytest.mark.parametrize("clean", [False, True], ids=["kept", "cleaned up"])
@pytest.mark.parametrize("name", growing())
def test_from_the_oldest_to_the_newest_in_one_step(name: str, tmp_path: Path, *, clean: bool) -> None:
    """Also if the commits in between are deleted and only a checkpoint is left."""
    arriving = Arriving(name, tmp_path)
    arriving.go_to(arriving.oldest)
    snapshot = opened(tmp_path)
    arriving.go_to(arriving.steps[-1])
    if clean:
        arriving.clean_up()
    assert_is(refreshed(snapshot), arriving)


@needs_golden
@pytest.mark.parametrize("name", growing())
def test_a_handle_that_is_retained(name: str, tmp_path: Path) -> None:
    """`Table.snapshot` reuses the state of the handle."""
    arriving = Arriving(name, tmp_path)
    arriving.go_to(arriving.steps[0])
    table = deltaic.Table(tmp_path)
    for version in arriving.steps:
        arriving.go_to(version)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", deltaic.DeltaicWarning)
            assert_is(table.snapshot(), arriving)


@needs_golden
@pytest.mark.parametrize("name", late())
def test_a_checkpoint_that_arrives_late(name: str, tmp_path: Path) -> None:
    """The commits are already known when their checkpoint is written: nothing changes."""
    source = reference(name).folder / "_delta_log"
    versions = naive_log.commit_versions(source)
    log = tmp_path / "_delta_log"
    log.mkdir()
    for version in versions:
        shutil.copy2(source / f"{version:020}.json", log)
    snapshot = opened(tmp_path)
    before = state(snapshot)
    arriving = Arriving(name, tmp_path / "late")
    arriving.go_to(versions[-1])
    shutil.copytree(arriving.log, log, dirs_exist_ok=True)
    assert state(refreshed(snapshot)) == before
