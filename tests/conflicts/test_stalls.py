"""Writers stall at each step of an append while a cleaner with another clock cuts the log: no row is lost.

`make races` runs 2,000 appends with stalls of ten seconds; `make test` runs a part of them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import deltaic

from .appender import SCHEMA
from .preload import compiled
from .writers import Writer, asked_for

SOURCE = Path(__file__).with_name("killed_at_step.c")
CLEANER = Path(__file__).with_name("cleaner.py")
APPENDS = asked_for("RACE_STALLED_APPENDS", 160)
STALL_MS = asked_for("RACE_STALL_MS", 1500)
DAY = 86_400

STEPS = (
    "data file created",
    "data file synced",
    "commit read",
    "staged commit created",
    "staged commit written",
    "staged commit synced",
    "commit named",
    "staged commit removed",
    "log folder synced",
    "checksum created",
)
"""One writer stalls before each of these steps; as many writers do not stall."""

EVERY = 3
"""A writer stalls in every n-th append."""

MANY = "commit read"
"""A step that an append repeats often. Long stalls there are rarer, so that the writer finishes."""


@pytest.fixture(scope="module")
def preloaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that stalls a process, and sets its clock."""
    return compiled(SOURCE, tmp_path_factory.mktemp("stalls"))


def counted(root: Path) -> Counter[tuple[int, int]]:
    rows = deltaic.Table(root).snapshot().scan().to_arrow().to_pylist()
    return Counter((row["writer"], row["number"]) for row in rows)


@pytest.mark.parametrize("ahead", [40, -40])
@pytest.mark.parametrize(("retention", "store_ahead"), [("0 days", 2), ("30 days", 0)])
def test_acknowledged_rows_of_stalled_writers_exist(
    tmp_path: Path, preloaded: Path, retention: str, store_ahead: int, ahead: int
) -> None:
    """The cleaner uses the store's clock: if it is two days ahead, it deletes all earlier log files.

    protocol: creation-of-new-log-entries.1
    """
    root, stalls = tmp_path / "t", tmp_path / "stalls"
    properties = {"delta.logRetentionDuration": f"interval {retention}", "delta.checkpointInterval": "5"}
    deltaic.Table.create(root, SCHEMA, properties=properties)
    writers = 2 * len(STEPS)
    appends = max(EVERY, APPENDS // writers // 4)
    clock = {
        "LD_PRELOAD": str(preloaded),
        "CLOCK_AHEAD": str(ahead * DAY),
        "STORE_AHEAD": str(store_ahead * DAY),
    }
    cleaner = subprocess.Popen(
        [sys.executable, str(CLEANER), str(root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **clock},
    )
    racing: list[Writer] = []
    for number in range(writers):
        environment: dict[str, str] = {}
        if number < len(STEPS):
            environment = {
                "LD_PRELOAD": str(preloaded),
                "STALL_AT": STEPS[number],
                "STALL_EVERY": str(EVERY * max(1, STALL_MS // 1500) if STEPS[number] == MANY else EVERY),
                "STALL_SECONDS": str(STALL_MS / 1000),
                "STALL_FILE": str(stalls),
            }
        racing.append(Writer(root, number, appends, environment=environment, has_next=True))
    for writer in racing:
        writer.wait_until_ready()
    for writer in racing:
        writer.go()
    told = [row for writer in racing for row in writer.acknowledged().values()]
    deleted, _ = cleaner.communicate("")
    assert cleaner.returncode == 0
    assert {writer.process.returncode for writer in racing} == {0}

    raised = [error for writer in racing for error in writer.raised]
    rows = counted(root)
    print(
        f"\n{len(told)} acknowledged, {len(raised)} raised {dict(Counter(raised))}, "
        f"{stalls.stat().st_size} stalls, {deleted.strip()} files deleted"
    )
    assert set(rows.values()) == {1}
    assert [row for row in told if row not in rows] == []
    assert len(told) + len(raised) == writers * appends
    # A commit that raised CommitUnknown may exist.
    assert len(rows) - len(told) <= raised.count("CommitUnknown")
    assert stalls.stat().st_size >= len(STEPS) - 1
    assert (int(deleted) > 0) == (store_ahead > 0)
