"""Verbs are killed after each of their steps: the table is as before or as after, and can be changed."""

from __future__ import annotations

import itertools
import random
import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic
from tests.seed import generator

from .changer import CHANGES, NEW, SCHEMA, VERBS
from .forks import Fork
from .writers import asked_for, commits_on_disk

Row = tuple[Any, ...]

# Of so many steps of a phase, one is tried, and at least one; `make races` tries all.
STRIDE = asked_for("RACE_KILL_STRIDE", 1000)
BEFORE = [{"id": i, "part": "ab"[i % 2], "n": i % 3} for i in range(12)]
# The commit of a verb is the fourth version, which gets a checkpoint.
VERSION = 3

FORMS: dict[str, dict[str, str]] = {
    "rewriting": {},
    "deletion vectors": {"delta.enableDeletionVectors": "true", "delta.enableRowTracking": "true"},
    "change data": {"delta.enableChangeDataFeed": "true", "delta.checkpointPolicy": "v2"},
}

# With or without partitions; `make races` tries both for each verb and form.
LAYOUTS = list(itertools.product(FORMS, ([], ["part"])))

FILES = ["data file", "change data file", "deletion vector"]
WAITING = "while rows wait in a temporary file"
# The phase of a kill, by the last step before it.
PHASES = {
    **{f"{file} begun": "before or between files" for file in FILES},
    **{
        f"{file} {step}": "during a file" for file in FILES for step in ("created", "half written", "written")
    },
    **{f"{file} {step}": "after a file, before the commit" for file in FILES for step in ("synced", "named")},
    **{f"temporary file {step}": WAITING for step in ("half written", "written")},
    "staged commit begun": "after a file, before the commit",
    "staged commit created": "during the commit",
    "staged commit half written": "during the commit",
    "staged commit written": "during the commit",
    "staged commit synced": "during the commit",
    "commit named": "after the commit",
    "staged commit removed": "after the commit",
    "log folder synced": "after the commit",
}
MAINTENANCE = "in post-commit maintenance"


def rows_of(table: deltaic.Table) -> Counter[Row]:
    return counted(table.snapshot().scan().to_arrow().to_pylist())


def counted(rows: list[dict[str, Any]]) -> Counter[Row]:
    return Counter(tuple(row[name] for name in SCHEMA.names) for row in rows)


def made(root: Path, by: list[str], properties: dict[str, str]) -> None:
    """Creates a table of two appends."""
    table = deltaic.Table.create(
        root, SCHEMA, partition_by=by, properties={"delta.checkpointInterval": str(VERSION), **properties}
    )
    for first in (0, 6):
        table.append(pa.Table.from_pylist(BEFORE[first : first + 6], SCHEMA))


def after(verb: str) -> Counter[Row]:
    """Returns the rows after a verb of `VERBS`."""
    match verb:
        case "append":
            return counted([*BEFORE, *NEW])
        case "optimize":
            return counted(BEFORE)
        case "overwrite":
            return counted([*(row for row in BEFORE if row["id"] < 6), *NEW])
        case "delete":
            return counted([row for row in BEFORE if row["n"] != 1 and row["id"] != 9])
        case "merge" | "merge of large rows":
            kept = {row["id"]: row for row in [*BEFORE, *CHANGES]}
            return counted([row for row in kept.values() if row["n"] >= 0])
        case _:
            changed = [row["n"] < 2 and row["id"] > 0 for row in BEFORE]
            return counted(
                [
                    {**row, "n": row["n"] + 10, "part": "c"} if changes else row
                    for row, changes in zip(BEFORE, changed, strict=True)
                ]
            )


def steps_of(root: Path, verb: str, library: Path) -> Counter[str]:
    """Runs a verb; returns how often it does each step."""
    record = root.parent / "steps"
    fork = Fork("changer", str(root), verb, environment={"STEPS_FILE": str(record)}, library=library)
    fork.end()
    assert fork.returncode == 0
    return Counter(record.read_text().splitlines())


def kill(root: Path, verb: str, step: str, number: int, library: Path) -> None:
    """Runs a verb in a process that is killed after a step."""
    environment = {"KILL_AT": step, "KILL_NUMBER": str(number)}
    fork = Fork("changer", str(root), verb, environment=environment, library=library)
    fork.end()
    assert fork.returncode == -signal.SIGKILL


def some_of_each_phase(steps: Counter[str], chance: random.Random) -> Iterator[tuple[str, str, int]]:
    """Yields a phase, a step of it, and its number among the steps of that name."""
    phases: dict[str, list[tuple[str, int]]] = {}
    for step in sorted(steps):
        of_phase = phases.setdefault(PHASES.get(step, MAINTENANCE), [])
        of_phase += [(step, number) for number in range(1, steps[step] + 1)]
    for phase, found in phases.items():
        for step, number in found[chance.randrange(min(STRIDE, len(found))) :: STRIDE]:
            yield phase, step, number


def layouts_for(verb: str) -> list[tuple[str, list[str]]]:
    """Returns all forms of a table, each with or without partitions."""
    if STRIDE == 1:
        return LAYOUTS
    number = list(VERBS).index(verb)
    return [layout for at, layout in enumerate(LAYOUTS) if (at + at // 2 + number) % 2 == 0]


@pytest.mark.parametrize("verb", VERBS)
def test_a_killed_verb(tmp_path: Path, preloaded: Path, verb: str) -> None:
    """A verb is killed in every phase, on each form of a table."""
    kills: Counter[str] = Counter()
    for form, by in layouts_for(verb):
        folder = tmp_path / f"{form} {len(by)}"
        template, root = folder / "template", folder / "t"
        made(template, by, FORMS[form])
        shutil.copytree(template, root)
        steps = steps_of(root, verb, preloaded)
        ensure_usable(root, after(verb), form)
        for phase, step, number in some_of_each_phase(steps, generator("killed verbs", verb, form, *by)):
            shutil.rmtree(root)
            shutil.copytree(template, root)
            kill(root, verb, step, number, preloaded)
            kills[phase] += 1
            has_landed = phase in ("after the commit", MAINTENANCE)
            try:
                assert len(commits_on_disk(root)) == VERSION + has_landed
                ensure_usable(root, after(verb) if has_landed else counted(BEFORE), form)
            except AssertionError as error:
                error.add_note(f"{form}, partitioned by {by}, killed after {step}, number {number}")
                raise
        shutil.rmtree(folder)
    assert kills.keys() == {*PHASES.values(), MAINTENANCE} - (
        {WAITING} if verb != "merge of large rows" else set()
    )
    print(f"{verb}: {dict(kills)}")


def ensure_usable(root: Path, rows: Counter[Row], form: str) -> None:
    """The table has these rows and all of their files, and can be changed further."""
    table = deltaic.Table(root)
    report = table.check(deep=True)
    assert report.is_healthy, str(report)
    assert rows_of(table) == rows
    if form == "change data":
        feed = table.changes(1).to_arrow().to_pylist()
        net: Counter[Row] = Counter()
        for row in feed:
            sign = -1 if row["_change_type"] in ("delete", "update_preimage") else 1
            net[tuple(row[name] for name in SCHEMA.names)] += sign
        assert +net == rows
        assert not -net
    assert table.update({"n": "7"}, "id = 0").metrics["numUpdatedRows"] == 1
    assert not table.append(pa.Table.from_pylist(NEW[:1], SCHEMA)).warnings
    kept = Counter({row: count for row, count in rows.items() if row[0] != 0})
    assert rows_of(deltaic.Table(root)) == kept + Counter([(0, "a", 7)]) + counted(NEW[:1])
