"""Generated histories, checkpoints and hints: a snapshot equals the naive replay."""

from __future__ import annotations

import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import given, note, settings
from hypothesis import strategies as st

import deltaic

from .handmade_log import Action, HandmadeTable, add, commit_path, domain, metadata, protocol, remove, txn
from .naive_replay import replay
from .snapshot_state import shown, wanted

PATHS = [f"part-{number}.parquet" for number in range(5)]
PROTOCOLS = [
    protocol(1, 7, None, ["domainMetadata"]),
    protocol(1, 7, None, ["domainMetadata", "appendOnly"]),
    protocol(3, 7, ["timestampNtz"], ["domainMetadata", "timestampNtz"]),
]


@dataclass(frozen=True)
class History:
    """Commits, oldest first, and other files of the log."""

    commits: list[list[Action]]
    checkpoints: list[int]
    hint: Any
    cleaned_up: bool


@st.composite
def file_actions(draw: st.DrawFn) -> list[Action]:
    """At most one file action per path, as in a valid commit."""
    paths = draw(st.lists(st.sampled_from(PATHS), unique=True, max_size=4))
    return [draw(file_action(path)) for path in paths]


def file_action(path: str) -> st.SearchStrategy[Action]:
    number = st.integers(0, 2**40)
    added = st.builds(lambda size, time: add(path, size=size, modificationTime=time), number, number)
    return st.one_of(added, number.map(lambda time: remove(path, timestamp=time)))


@st.composite
def commit(draw: st.DrawFn) -> list[Action]:
    actions = draw(file_actions())
    if draw(st.integers(0, 4)) == 0:
        properties = draw(st.dictionaries(st.sampled_from("abc"), st.text(max_size=3), max_size=2))
        actions.append(metadata(configuration=properties, name=draw(st.none() | st.text(max_size=3))))
    if draw(st.integers(0, 6)) == 0:
        actions.append(draw(st.sampled_from(PROTOCOLS)))
    for app in draw(st.lists(st.sampled_from(["etl", "backfill"]), unique=True, max_size=2)):
        actions.append(txn(app, draw(st.integers(0, 2**62))))
    for name in draw(st.lists(st.sampled_from(["app.x", "delta.known"]), unique=True, max_size=2)):
        actions.append(domain(name, draw(st.text(max_size=4)), removed=draw(st.booleans())))
    if not actions or draw(st.booleans()):
        actions.append({"commitInfo": {"operation": "TEST", "nested": {"any": [1, None]}}})
    return draw(st.permutations(actions))


@st.composite
def histories(draw: st.DrawFn) -> History:
    later = draw(st.lists(commit(), max_size=7))
    first = [draw(st.sampled_from(PROTOCOLS)), metadata(), *draw(file_actions())]
    commits = [first, *later]
    last = len(commits) - 1
    checkpoints = sorted(draw(st.sets(st.integers(0, last), max_size=3)))
    hint = draw(
        st.one_of(
            st.just("absent"),
            st.just("garbage"),
            st.sampled_from(["right", *(["stale"] if len(checkpoints) > 1 else [])]),
            st.integers(-1, last + 5),
        )
    )
    return History(commits, checkpoints, hint, draw(st.booleans()))


def build(root: Path, history: History) -> HandmadeTable:
    table = HandmadeTable(root)
    for actions in history.commits:
        table.commit(*actions)
    for version in history.checkpoints:
        table.checkpoint(version, replay(history.commits[: version + 1]).actions())
    if history.hint == "garbage":
        (table.log / "_last_checkpoint").write_bytes(b'{"version": \x00')
    elif history.hint in ("right", "stale") and history.checkpoints:
        table.hint(history.checkpoints[-1 if history.hint == "right" else 0])
    elif isinstance(history.hint, int):
        table.hint(history.hint)
    return table


@settings(max_examples=60)
@given(histories())
def test_a_snapshot_is_the_naive_replay(history: History) -> None:
    """The newest snapshot, an older one and a refreshed one, with any checkpoints and hints.

    protocol: action-reconciliation.1, checkpoints.2, delta-log-entries.1,
    reader-requirements-for-domain-metadata.3
    """
    note(f"checkpoints {history.checkpoints}, hint {history.hint}, cleaned up {history.cleaned_up}")
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", deltaic.DeltaicWarning)
        root = Path(folder) / "table"
        build(root, history)
        oldest = 0
        if history.cleaned_up and history.checkpoints:
            oldest = history.checkpoints[0]
            for version in range(oldest):
                commit_path(root, version).unlink()
        table = deltaic.Table(root)
        last = len(history.commits) - 1
        for version in range(oldest, last + 1):
            snapshot = table.snapshot(version=version)
            assert snapshot.version == version
            assert shown(snapshot) == wanted(replay(history.commits[: version + 1]))
        newest = deltaic.Table(root).snapshot()
        assert newest.version == last
        assert shown(newest) == wanted(replay(history.commits))


@settings(max_examples=25)
@given(histories(), st.integers(0, 7))
def test_a_refreshed_snapshot_is_the_naive_replay(history: History, cut: int) -> None:
    """Commits and checkpoints written after a snapshot was opened only change the version."""
    first = min(cut, len(history.commits) - 1)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", deltaic.DeltaicWarning)
        root = Path(folder) / "table"
        table = HandmadeTable(root)
        for actions in history.commits[: first + 1]:
            table.commit(*actions)
        snapshot = deltaic.Table(root).snapshot()
        before = shown(snapshot)
        for actions in history.commits[first + 1 :]:
            table.commit(*actions)
        for version in history.checkpoints:
            table.checkpoint(version, replay(history.commits[: version + 1]).actions())
        refreshed = snapshot.refresh()
        assert refreshed.version == len(history.commits) - 1
        assert shown(refreshed) == wanted(replay(history.commits))
        assert shown(snapshot) == before
