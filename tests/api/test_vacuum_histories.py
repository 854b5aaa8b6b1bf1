"""Random histories of a table, vacuumed in between: a naive reading of the log says which files go.

`VACUUM_HISTORIES=2000` runs more of them. A failure prints the seed and the history that repeat it.
"""

from __future__ import annotations

import json
import os
import random
import time
import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic
from tests.api.aged_files import age, files_of
from tests.protocol.handmade_vectors import DIGITS
from tests.seed import current_seed, generator

HISTORIES = int(os.environ.get("VACUUM_HISTORIES") or 10)
ONLY = os.environ.get("VACUUM_HISTORY")
STEPS = 14
RETENTION = timedelta(days=7)
SCHEMA = pa.schema([("_part", pa.int64()), ("id", pa.int64())])


class History:
    """A table, what each of its versions contains, and what the log says about its files."""

    def __init__(self, root: Path, chance: random.Random) -> None:
        self.root, self.chance = root, chance
        flags = {
            "enableDeletionVectors": "true",
            "enableChangeDataFeed": "true",
            "columnMapping.mode": "name",
        }
        chosen = {name: value for name, value in flags.items() if chance.random() < 0.6}
        properties = {"delta.enableExpiredLogCleanup": "false", "delta.checkpointInterval": "100000"}
        properties |= {f"delta.{name}": value for name, value in chosen.items()}
        partitions = ["_part"] if chance.random() < 0.5 else []
        self.table = deltaic.Table.create(root, SCHEMA, partition_by=partitions, properties=properties)
        self.is_partitioned = bool(partitions)
        self.next_id = 0
        self.last_vacuum = -1
        self.rows: dict[int, list[int]] = {}
        self.clones: list[tuple[deltaic.Table, list[int], set[str]]] = []
        """The clones, their rows, and the files of the table that they need."""
        self.steps: list[str] = ["create"]
        self.note()

    def note(self) -> None:
        """Remember the rows of the newest version."""
        self.rows[self.table.snapshot().version] = self.read(None)

    def read(self, version: int | None) -> list[int]:
        return sorted(self.table.snapshot(version=version).scan().to_arrow()["id"].to_pylist())

    def run(self, steps: int) -> None:
        verbs = [
            "append",
            "append",
            "delete",
            "update",
            "overwrite",
            "optimize",
            "wait",
            "wait",
            "crash",
            "old",
            "vacuum",
            "restore",
            "clone",
        ]
        for _ in range(steps):
            verb = self.chance.choice(verbs)
            self.steps.append(verb)
            getattr(self, verb)()
            if verb in ("append", "delete", "update", "overwrite", "optimize", "restore"):
                self.note()
        self.vacuum()

    def append(self) -> None:
        count = self.chance.choice([1, 3, 400])
        ids = range(self.next_id, self.next_id + count)
        self.next_id += count
        self.table.append(pa.table({"_part": [number % 2 for number in ids], "id": list(ids)}, SCHEMA))

    def delete(self) -> None:
        self.table.delete(f"id % {self.chance.randint(2, 5)} = 1")

    def update(self) -> None:
        self.table.update({"id": "id"}, f"id % {self.chance.randint(2, 5)} = 0")

    def overwrite(self) -> None:
        self.next_id += 1
        self.table.overwrite(pa.table({"_part": [1], "id": [self.next_id]}, SCHEMA))

    def optimize(self) -> None:
        self.table.optimize()

    def wait(self) -> None:
        # No sum of these is the retention.
        age(self.root, timedelta(days=self.chance.choice([1, 2, 5, 9]), hours=1))

    def crash(self) -> None:
        """A killed writer leaves files that no commit names."""
        name = uuid.UUID(int=self.chance.getrandbits(128))
        folder = self.chance.choice(["", "_part=1/", "_change_data/", "new/"])
        names = [f"part-{name}.parquet", f"part-{name}.parquet#1", f"deletion_vector_{name}.bin"]
        file = self.root / (folder + self.chance.choice(names))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"x")

    def old(self) -> None:
        """A file has an older time than its commit, as after a restore of a backup."""
        files = files_of(self.root)
        # In the order of the log: deltaic's names of files are random, those of a crash are not.
        named = [path for path in named_by(self.root) if path in files]
        chosen = self.chance.choice([*named, *sorted(files - set(named))] or [""])
        if chosen:
            os.utime(self.root / chosen, (1_000_000_000, 1_000_000_000))

    def restore(self) -> None:
        """Adds the files of an earlier version again that still exist, and removes the others."""
        readable = [version for version in sorted(self.rows) if self.is_readable(version)]
        version = self.chance.choice(readable)
        wanted = live_of(self.root, version)
        newest = live_of(self.root)
        now = int(time.time() * 1000)
        lines: list[dict[str, Any]] = [{"commitInfo": {"operation": "RESTORE", "timestamp": now}}]
        for key, add in newest.items():
            if key not in wanted:
                remove = {
                    name: add[name]
                    for name in ("path", "partitionValues", "size", "deletionVector")
                    if name in add
                }
                lines.append(
                    {
                        "remove": {
                            **remove,
                            "dataChange": True,
                            "deletionTimestamp": now,
                            "extendedFileMetadata": True,
                        }
                    }
                )
        lines += [{"add": add} for key, add in wanted.items() if key not in newest]
        path = self.root / "_delta_log" / f"{self.table.snapshot().version + 1:020}.json"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))

    def clone(self) -> None:
        """Makes a shallow clone, which needs its files as long as it exists."""
        files = {path for add in live_of(self.root).values() for path in paths_of(add)}
        clone = self.table.clone(self.root.with_name(f"clone {len(self.clones)}")).table
        self.clones.append((clone, self.read(None), files))

    def is_readable(self, version: int) -> bool:
        """Whether all files of a version still exist."""
        paths = {path for add in live_of(self.root, version).values() for path in paths_of(add)}
        return paths <= files_of(self.root)

    def vacuum(self) -> None:
        lite, dry_run = self.chance.random() < 0.3, self.chance.random() < 0.2
        cutoff = time.time() - RETENTION.total_seconds()
        readable = [version for version in sorted(self.rows) if self.is_readable(version)]
        kept = self.chance.sample(readable, self.chance.choice([0, 0, 1]) if readable else 0)
        before, expected = files_of(self.root), self.expected(cutoff, kept, lite=lite)
        vacuumed = self.table.vacuum(
            mode="lite" if lite else "full",
            dry_run=dry_run,
            clones=[clone for clone, _, _ in self.clones],
            keep_versions=kept,
        )
        assert set(vacuumed.paths) & before == expected & before
        if not lite:
            assert set(vacuumed.paths) == expected
        assert files_of(self.root) == (before if dry_run else before - expected)
        if not dry_run:
            if not kept:
                self.last_vacuum = max(
                    self.last_vacuum, newest_before(self.root, cutoff, self.table.snapshot().version - 2)
                )
            self.note()
        self.check_versions(cutoff)
        for version in kept:
            assert self.read(version) == self.rows[version]
        for clone, rows, _ in self.clones:
            assert sorted(clone.snapshot().scan().to_arrow()["id"].to_pylist()) == rows

    def expected(self, cutoff: float, kept: list[int], *, lite: bool) -> set[str]:
        """Returns the files that a vacuum must delete."""
        versions = [live_of(self.root), *(live_of(self.root, version) for version in kept)]
        needed = {path for live in versions for add in live.values() for path in paths_of(add)}
        needed |= {path for _, _, files in self.clones for path in files}
        tombstones = tombstones_of(self.root).values()
        needed |= {
            path
            for one in tombstones
            if one.get("deletionTimestamp", 0) >= cutoff * 1000
            for path in paths_of(one)
        }
        if lite:
            newest = newest_before(self.root, cutoff, self.table.snapshot().version)
            versions = range(self.last_vacuum + 1, newest + 1)
            actions = [action for version in versions for action in commit(self.root, version)]
            removes = [action["remove"] for action in actions if "remove" in action]
            old = [one for one in removes if one["deletionTimestamp"] < cutoff * 1000]
            found = {path for one in old for path in paths_of(one)}
            found |= {action["cdc"]["path"] for action in actions if "cdc" in action}
            return found - needed
        files = {name for name in files_of(self.root) if (self.root / name).stat().st_mtime < cutoff}
        # Without that partition column, the folder is a hidden one.
        return {name for name in files - needed if self.is_partitioned or not name.startswith("_part=")}

    def check_versions(self, cutoff: float) -> None:
        """All versions that were the newest at some time within the retention can be read."""
        oldest = max(newest_before(self.root, cutoff, max(self.rows)), 0)
        for version, rows in self.rows.items():
            if version >= oldest:
                assert self.read(version) == rows, version


def commit(root: Path, version: int) -> list[dict[str, Any]]:
    text = (root / "_delta_log" / f"{version:020}.json").read_text()
    return [json.loads(line) for line in text.splitlines()]


def commits(root: Path) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    for path in sorted((root / "_delta_log").glob("*.json")):
        yield int(path.stem), commit(root, int(path.stem))


def newest_before(root: Path, cutoff: float, newest: int) -> int:
    """Returns the newest commit that is not later than a time; -1 if there is none."""
    found, last = -1, 0.0
    for version, _ in commits(root):
        written = (root / "_delta_log" / f"{version:020}.json").stat().st_mtime
        last = max(written, last + 0.001) if version else written
        if version <= newest and last <= cutoff:
            found = version
    return found


def key_of(action: dict[str, Any]) -> tuple[str, str]:
    return action["path"], json.dumps(action.get("deletionVector"), sort_keys=True)


def live_of(root: Path, until: int | None = None) -> dict[tuple[str, str], dict[str, Any]]:
    live: dict[tuple[str, str], dict[str, Any]] = {}
    for version, actions in commits(root):
        if until is None or version <= until:
            for action in actions:
                if "remove" in action:
                    live.pop(key_of(action["remove"]), None)
            for action in actions:
                if "add" in action:
                    live[key_of(action["add"])] = action["add"]
    return live


def tombstones_of(root: Path) -> dict[tuple[str, str], dict[str, Any]]:
    gone: dict[tuple[str, str], dict[str, Any]] = {}
    for _, actions in commits(root):
        for action in actions:
            if "remove" in action:
                gone[key_of(action["remove"])] = action["remove"]
        for action in actions:
            if "add" in action:
                gone.pop(key_of(action["add"]), None)
    return gone


def named_by(root: Path) -> list[str]:
    """Returns the paths that the log names, each once, in its order."""
    bodies = [body for _, actions in commits(root) for action in actions for body in action.values()]
    paths = [path for body in bodies if "path" in body for path in sorted(paths_of(body), key=is_vector)]
    return list(dict.fromkeys(paths))


def is_vector(path: str) -> bool:
    return path.endswith(".bin")


def paths_of(action: dict[str, Any]) -> set[str]:
    """Returns the paths of a data file and its deletion vector's file; no path of these tables is encoded."""
    vector = action.get("deletionVector")
    paths = {action["path"]}
    if vector is not None and vector["storageType"] == "u":
        text = vector["pathOrInlineDv"]
        prefix, encoded = text[:-20], text[-20:]
        body = b""
        for at in range(0, 20, 5):
            word = 0
            for digit in encoded[at : at + 5]:
                word = word * 85 + DIGITS.index(digit)
            body += word.to_bytes(4, "big")
        paths.add(f"{prefix}{'/' if prefix else ''}deletion_vector_{uuid.UUID(bytes=body)}.bin")
    return paths


@pytest.mark.parametrize("number", [int(ONLY)] if ONLY else range(HISTORIES))
def test_histories(tmp_path: Path, number: int) -> None:
    chance = generator("vacuum histories", number)
    history = None
    try:
        history = History(tmp_path / "t", chance)
        history.run(chance.randint(3, STEPS))
    except BaseException as error:
        error.add_note(f"to repeat: TEST_SEED={current_seed()} VACUUM_HISTORY={number}")
        error.add_note(f"steps: {history.steps if history else []}")
        raise
