"""A naive replay of a log on disk: any form of checkpoint with pyarrow, commits line by line.

It is the reference implementation for the reader under test, so it uses no hint, no checksum and no
compaction, and it is not optimized.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow.parquet as pq

from .handmade_log import Action
from .naive_replay import State, canonical_path, replay, unique_id

_COMMIT = re.compile(r"(\d{20})\.json")
_CHECKPOINT = re.compile(
    r"(?P<version>\d{20})\.checkpoint\."
    r"(?:(?P<part>\d{10})\.(?P<parts>\d{10})\.)?(?P<uuid>[0-9a-f-]{36}\.)?(?P<form>parquet|json)"
)
_LEAVES = (
    *("add.path", "add.size", "add.modificationTime", "add.partitionValues", "add.deletionVector"),
    *("remove.path", "remove.deletionTimestamp", "remove.deletionVector"),
    *("protocol", "metaData", "txn", "domainMetadata", "sidecar"),
)


def commit_versions(log: Path) -> list[int]:
    """Returns the versions of all commits, oldest first."""
    return sorted(int(match[1]) for path in log.iterdir() if (match := _COMMIT.fullmatch(path.name)))


def commit(log: Path, version: int) -> list[Action]:
    """Returns the actions of a commit."""
    lines = (log / f"{version:020}.json").read_bytes().splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def checkpoints(log: Path) -> dict[int, list[Path]]:
    """Returns the complete checkpoints by version, one per version: its file or its parts.

    A checkpoint without protocol or metadata is as invalid as one with a missing part.
    """
    found: dict[int, list[Path]] = {}
    for path in sorted(log.iterdir()):
        match = _CHECKPOINT.fullmatch(path.name)
        if match is None:
            continue
        files = [path]
        if match["parts"]:
            parts = int(match["parts"])
            names = [
                f"{match['version']}.checkpoint.{n:010}.{parts:010}.parquet" for n in range(1, parts + 1)
            ]
            files = [log / name for name in names]
        if int(match["version"]) in found or not all(file.exists() for file in files):
            continue
        if _holds_both(tuple((file, file.stat().st_mtime_ns, file.stat().st_ino) for file in files)):
            found[int(match["version"])] = files
    return found


@cache
def _holds_both(files: tuple[tuple[Path, int, int], ...]) -> bool:
    """Whether these files contain protocol and metadata; their times and inodes only serve as cache keys."""
    kinds = {kind for path, _, _ in files for kind in _kinds(path)}
    return {"protocol", "metaData"} <= kinds


def _kinds(path: Path) -> Iterator[str]:
    """Yields the kinds of a checkpoint file's actions; of a Parquet file only those that are asked for."""
    if path.suffix == ".json":
        yield from (kind for action in _actions(path) for kind in action)
        return
    table = pq.ParquetFile(path).read(columns=["protocol", "metaData"])
    yield from (name for name in table.column_names if table[name].null_count < table.num_rows)


def checkpoint(log: Path, version: int) -> list[Action]:
    """Returns the actions of a checkpoint, including those of its sidecars."""
    actions = [action for path in checkpoints(log)[version] for action in _actions(path)]
    sidecars = [action["sidecar"]["path"] for action in actions if "sidecar" in action]
    for name in sidecars:
        actions += _actions(log / "_sidecars" / unquote(name))
    return actions


def newest(log: Path) -> int:
    """Returns the newest version of the log."""
    return max([*commit_versions(log), *checkpoints(log)])


def reachable(log: Path) -> list[int]:
    """Returns the versions that can be replayed: from the first commit, or from a complete checkpoint."""
    commits, bases = set(commit_versions(log)), checkpoints(log)
    found: list[int] = []
    for version in range(newest(log) + 1):
        follows = version in commits and (version == 0 or found[-1:] == [version - 1])
        if version in bases or follows:
            found.append(version)
    return found


def replay_log(log: Path, version: int | None = None, *, by_commits: bool = False) -> State:
    """Returns the state at a version: from the newest complete checkpoint, or from all commits.

    The two differ only in tombstones: a checkpoint may omit expired ones.
    """
    at = newest(log) if version is None else version
    bases = [] if by_commits else [number for number in checkpoints(log) if number <= at]
    if not bases:
        return replay(commit(log, number) for number in range(at + 1))
    base = max(bases)
    return replay([checkpoint(log, base), *(commit(log, number) for number in range(base + 1, at + 1))])


def reconciled(commits: Iterable[Iterable[Action]]) -> list[Action]:
    """Returns the last action for each key in these commits, the contents of their compaction."""
    last: dict[tuple[str, ...], Action] = {}
    for actions in commits:
        for action in actions:
            key = _speaks_of(action)
            if key is not None:
                last.pop(key, None)
                last[key] = action
    return list(last.values())


def _speaks_of(action: Action) -> tuple[str, ...] | None:
    ((kind, body),) = action.items()
    if kind in ("add", "remove"):
        return "file", canonical_path(body["path"]), unique_id(body.get("deletionVector")) or ""
    names = {"protocol": "", "metaData": "", "txn": "appId", "domainMetadata": "domain"}
    if kind not in names:
        return None
    return kind, body[names[kind]] if names[kind] else ""


def _actions(path: Path) -> Iterator[Action]:
    rows = _json_rows(path) if path.suffix == ".json" else _parquet_rows(path)
    for row in rows:
        for kind, body in row.items():
            if body is not None and kind != "checkpointMetadata":
                yield {kind: body}


def _json_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines() if line.strip()]


def _parquet_rows(path: Path) -> list[dict[str, Any]]:
    # Statistics and similar columns are not read: some of their values have no Python counterpart.
    return pq.ParquetFile(path).read(columns=list(_LEAVES)).to_pylist(maps_as_pydicts="strict")
