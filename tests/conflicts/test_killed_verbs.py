"""Verbs are killed after each of their steps: the table is as before or as after, and can be changed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic
from tests.seed import generator

from .changer import CHANGES, NEW, SCHEMA, VERBS
from .preload import compiled
from .writers import asked_for, commits_on_disk

Row = tuple[Any, ...]

# Of so many steps, one is tried; `make races` tries all.
STRIDE = asked_for("RACE_KILL_STRIDE", 4)
SOURCE = Path(__file__).with_name("killed_at_step.c")
BEFORE = [{"id": i, "part": "ab"[i % 2], "n": i % 3} for i in range(12)]
# The commit of a verb is the fourth version, which gets a checkpoint.
VERSION = 3

FORMS: dict[str, dict[str, str]] = {
    "rewriting": {},
    "deletion vectors": {"delta.enableDeletionVectors": "true", "delta.enableRowTracking": "true"},
    "change data": {"delta.enableChangeDataFeed": "true", "delta.checkpointPolicy": "v2"},
}

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


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that names the last step."""
    return tmp_path_factory.mktemp("last") / "step"


@pytest.fixture(scope="module")
def changer(tmp_path_factory: pytest.TempPathFactory, steps: Path) -> Iterator[subprocess.Popen[str]]:
    """The process of `changer.py`."""
    library = compiled(SOURCE, tmp_path_factory.mktemp("preloaded"))
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.conflicts.changer"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "LD_PRELOAD": str(library), "STEP_FILE": str(steps)},
    )
    yield process
    process.communicate()


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


def changed(process: subprocess.Popen[str], root: Path, verb: str, kill_step: int) -> int:
    """Runs a verb in a child process; returns its exit code."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps({"root": str(root), "verb": verb, "kill_step": kill_step}) + "\n")
    process.stdin.flush()
    return int(process.stdout.readline())


HIT: Counter[tuple[str, str]] = Counter()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("by", [[], ["part"]], ids=["unpartitioned", "partitioned"])
@pytest.mark.parametrize("verb", VERBS)
def test_a_killed_verb(  # noqa: PLR0917
    tmp_path: Path, changer: subprocess.Popen[str], steps: Path, verb: str, by: list[str], form: str
) -> None:
    made(tmp_path / "template", by, FORMS[form])
    # The forms of a verb begin at different steps, so that together they reach all.
    first = generator("killed verbs", verb).randrange(STRIDE) + list(FORMS).index(form) + 3 * len(by)
    step = first % STRIDE + 1
    while True:
        root = tmp_path / str(step)
        shutil.copytree(tmp_path / "template", root)
        steps.unlink(missing_ok=True)
        code = changed(changer, root, verb, step)
        landed = len(commits_on_disk(root)) == VERSION + 1
        if code == 0:
            break
        assert code == -signal.SIGKILL
        last = steps.read_text().strip()
        HIT[verb, PHASES.get(last, MAINTENANCE)] += 1
        assert landed == (PHASES.get(last) in (None, "after the commit")), last
        ensure_usable(root, after(verb) if landed else counted(BEFORE), form)
        shutil.rmtree(root)
        step += STRIDE
    assert landed
    assert step > STRIDE, "no step was reached"
    ensure_usable(root, after(verb), form)


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


def test_kills_hit_every_phase() -> None:
    """Counts the kills of the other tests, which run before."""
    verbs = {verb for verb, _ in HIT}
    if verbs != set(VERBS):
        pytest.skip("only a part of the kills was selected")
    for verb in VERBS:
        phases = {*PHASES.values(), MAINTENANCE} - ({WAITING} if verb != "merge of large rows" else set())
        assert {phase for one, phase in HIT if one == verb} == phases
    print(f"{HIT.total()} kills")
    for (verb, phase), count in sorted(HIT.items()):
        print(f"  {verb} {phase}: {count}")
