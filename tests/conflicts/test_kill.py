"""Writers are killed at each step of an append, alone and in a row: acknowledged commits are not lost."""

from __future__ import annotations

import json
import signal
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic
from tests.seed import generator

from .appender import SCHEMA
from .writers import Writer, asked_for, commits_on_disk, on_disk, rows_of_commit

KILLS = asked_for("RACE_KILLS", 25)

# After each step of an append: the contents of the staged commit, and whether the version is committed.
STEPS: dict[str, tuple[str, bool]] = {
    "data file created": ("nothing", False),
    "data file half written": ("nothing", False),
    "data file written": ("nothing", False),
    "data file synced": ("nothing", False),
    "data file named": ("nothing", False),
    "staged commit created": ("no byte", False),
    "staged commit half written": ("a part", False),
    "staged commit written": ("all", False),
    "staged commit synced": ("all", False),
    "commit named": ("all", True),
    "staged commit removed": ("nothing", True),
    "log folder synced": ("nothing", True),
    "checksum created": ("nothing", True),
    "checksum half written": ("nothing", True),
    "checksum written": ("nothing", True),
    "checksum synced": ("nothing", True),
    "checksum named": ("nothing", True),
    "checksum removed": ("nothing", True),
}
# In every tenth append.
CHECKPOINT_STEPS = ["checkpoint created", "checkpoint half written", "checkpoint named"]


def staged(root: Path) -> str:
    """Returns which part of the staged commit exists."""
    files = list((root / "_delta_log").glob(".*.tmp"))
    if not files:
        return "nothing"
    [file] = files
    text = file.read_text()
    try:
        actions = [json.loads(line) for line in text.splitlines()]
    except json.JSONDecodeError:
        return "a part"
    return "all" if any("add" in action for action in actions) else "no byte" if not text else "a part"


@pytest.mark.parametrize("step", STEPS)
def test_a_writer_that_is_killed_after_a_step(tmp_path: Path, preloaded: Path, step: str) -> None:
    root, last = tmp_path / "t", tmp_path / "step"
    deltaic.Table.create(root, SCHEMA)
    # The process ends in its second append; each syncs the log folder for its commit and for its checksum.
    number = 3 if step == "log folder synced" else 2
    environment = {"STEP_FILE": str(last), "KILL_AT": step, "KILL_NUMBER": str(number)}
    writer = Writer(root, 0, 3, environment=environment, library=preloaded)
    writer.wait_until_ready()
    writer.go()
    told = writer.acknowledged()
    assert writer.returncode == -signal.SIGKILL
    assert last.read_text().strip() == step
    assert told == {1: (0, 0)}

    left, landed = STEPS[step]
    assert staged(root) == left
    assert commits_on_disk(root) == list(range(3 if landed else 2))
    table = deltaic.Table(root)
    assert table.check(deep=True).is_healthy
    assert numbers(table) == ([0, 1] if landed else [0])
    # The remaining files do not affect later appends.
    commit = table.append(pa.table({"writer": [0], "number": [9]}, SCHEMA))
    assert commit.version == (3 if landed else 2)
    assert not commit.warnings
    assert numbers(deltaic.Table(root)) == ([0, 1, 9] if landed else [0, 9])


def numbers(table: deltaic.Table) -> list[int]:
    return sorted(table.snapshot().scan().to_arrow()["number"].to_pylist())


def test_a_killed_writer_loses_nothing_that_it_acknowledged(tmp_path: Path, preloaded: Path) -> None:
    """Writers are killed one after the other, each at a step of one of its first appends."""
    root = tmp_path / "t"
    ended_after: Counter[str] = Counter()
    deltaic.Table.create(root, SCHEMA)
    acknowledged: dict[int, tuple[int, int]] = {}
    unacknowledged = 0
    chance = generator("killed writers")
    for number in range(KILLS):
        if number % 5 == 4:
            step, times = chance.choice(CHECKPOINT_STEPS), 1
        else:
            step, times = chance.choice(list(STEPS)), chance.randint(1, 4)
        environment = {"KILL_AT": step, "KILL_NUMBER": str(times)}
        writer = Writer(root, number, -1, environment=environment, library=preloaded)
        writer.wait_until_ready()
        writer.go()
        told = writer.acknowledged()
        assert writer.returncode == -signal.SIGKILL
        ended_after[step] += 1
        assert not set(told) & set(acknowledged)
        acknowledged |= told

        versions = commits_on_disk(root)
        snapshot = deltaic.Table(root).snapshot()
        assert snapshot.version == versions[-1]
        assert versions == list(range(versions[-1] + 1))
        rows = Counter((row["writer"], row["number"]) for row in snapshot.scan().to_arrow().to_pylist())
        assert set(rows.values()) <= {1}
        assert set(acknowledged.values()) <= set(rows)
        # Unacknowledged commits may exist: at most one per killed writer.
        extra = set(rows) - set(acknowledged.values())
        assert len(extra) <= number + 1
        assert len({one for one, _ in extra}) == len(extra)
        unacknowledged = len(extra)

    for version, row in acknowledged.items():
        assert rows_of_commit(on_disk(root), version) == [row]
    before = deltaic.Table(root).snapshot()
    commit = deltaic.Table(root).append(pa.table({"writer": [-2], "number": [0]}, SCHEMA))
    assert commit.version == before.version + 1
    assert deltaic.Table(root).snapshot().scan().count() == before.scan().count() + 1
    leftovers = [
        path.name for path in (root / "_delta_log").iterdir() if path.suffix == ".tmp" or "#" in path.name
    ]
    print(f"{len(acknowledged)} acknowledged, {unacknowledged} landed without a word, left over: {leftovers}")
    print("killed after:", ", ".join(f"{step} {count}x" for step, count in ended_after.most_common()))
