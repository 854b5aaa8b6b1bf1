"""Maintenance verbs are killed after their steps: the table is intact, and the next run completes the work.

The kills of verbs that change rows are in `test_killed_verbs.py`.
"""

from __future__ import annotations

import shutil
import signal
from collections import Counter
from pathlib import Path

import pytest

import deltaic
from tests.seed import generator

from .forks import Fork
from .maintainer import MADE, VERBS, data_files, rows
from .writers import asked_for

# Of so many steps, one is tried; `make races` tries all.
STRIDE = asked_for("RACE_KILL_STRIDE", 1000)
# Of one run; others are tried by `make races`.
FEWEST = 3

ODD = list(range(1, 20, 2))
BEFORE = {**dict.fromkeys(VERBS, ODD), "convert": list(range(20))}
AFTER = {**BEFORE, "restore": list(range(10))}


def ids(root: Path, *allowed: Path) -> list[int]:
    table = deltaic.Table(root, allowed_roots=allowed)
    return sorted(table.snapshot().scan().to_arrow()["id"].to_pylist())


def ensure_intact(root: Path, verb: str) -> None:
    """The table is as before or as after the verb."""
    if verb == "convert" and not deltaic.Table.exists(root):
        assert len(data_files(root)) == 2
        return
    report = deltaic.Table(root).check(deep=True)
    if verb == "repair" and not report.is_healthy:
        # As before: the table lacks a file. The kill may leave the file of a commit.
        found = {finding.code for finding in report.findings}
        assert "MISSING_DATA_FILE" in found <= {"MISSING_DATA_FILE", "TEMPORARY_FILE"}
        return
    assert report.is_healthy, str(report)
    assert ids(root) in (BEFORE[verb], AFTER[verb])
    clone = root.with_name("clone")
    if clone.exists() and deltaic.Table.exists(clone):
        assert ids(clone, root) == ODD


def ensure_complete(root: Path, verb: str) -> None:
    """The verb is run again, and has done all its work."""
    VERBS[verb](root)
    table = deltaic.Table(root)
    assert table.check(deep=True).is_healthy
    assert ids(root) == AFTER[verb]
    files = table.snapshot().files().to_arrow()
    match verb:
        case "vacuum":
            vectors = {path for path in data_files(root) if path.suffix == ".bin"}
            assert {path.name for path in data_files(root)} - {path.name for path in vectors} == set(
                files["path"].to_pylist()
            )
            assert len(vectors) <= 1
        case "purge":
            assert files["deletion_vector"].null_count == files.num_rows
        case "clone":
            assert ids(root.with_name("clone"), root) == ODD
        case _:
            pass
    table.append(rows(99))
    assert ids(root) == sorted([*AFTER[verb], 99])


def steps_of(root: Path, verb: str, library: Path) -> Counter[str]:
    """Runs a verb; returns how often it does each step."""
    record = root.parent / "steps"
    fork = Fork("maintainer", str(root), verb, environment={"STEPS_FILE": str(record)}, library=library)
    fork.end()
    assert fork.returncode == 0
    return Counter(record.read_text().splitlines())


@pytest.mark.parametrize("verb", VERBS)
def test_a_killed_maintenance_verb(tmp_path: Path, preloaded: Path, verb: str) -> None:
    template, root = tmp_path / "template" / "t", tmp_path / "run" / "t"
    template.parent.mkdir()
    MADE[verb](template)
    shutil.copytree(template.parent, root.parent)
    steps = steps_of(root, verb, preloaded)
    ensure_intact(root, verb)
    ensure_complete(root, verb)
    kills = [(step, number) for step in sorted(steps) for number in range(1, steps[step] + 1)]
    assert len(kills) > FEWEST
    if STRIDE > 1:
        kills = generator("killed maintenance", verb).sample(kills, FEWEST)
    for step, number in kills:
        shutil.rmtree(root.parent)
        shutil.copytree(template.parent, root.parent)
        environment = {"KILL_AT": step, "KILL_NUMBER": str(number)}
        fork = Fork("maintainer", str(root), verb, environment=environment, library=preloaded)
        fork.end()
        assert fork.returncode == -signal.SIGKILL
        try:
            ensure_intact(root, verb)
            ensure_complete(root, verb)
        except (AssertionError, deltaic.DeltaicError) as error:
            error.add_note(f"killed after {step}, number {number}")
            raise
    print(f"{verb}: {len(kills)} kills at {len(steps)} steps")
