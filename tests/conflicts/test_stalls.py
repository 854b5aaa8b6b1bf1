"""Writers stall at each step of an append while a cleaner with another clock cuts the log: no row is lost.

Each stall lasts until the cleaner has made a whole round. `make races` runs 2,000 appends with stalls of ten
seconds or more; `make test` runs a part of them.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import deltaic

from .appender import SCHEMA
from .forks import Fork
from .writers import Writer, asked_for

APPENDS = asked_for("RACE_STALLED_APPENDS", 160)
STALL_MS = asked_for("RACE_STALL_MS", 0)
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
    root, stalls, rounds = tmp_path / "t", tmp_path / "stalls", tmp_path / "rounds"
    properties = {"delta.logRetentionDuration": f"interval {retention}", "delta.checkpointInterval": "5"}
    deltaic.Table.create(root, SCHEMA, properties=properties)
    stalls.mkdir()
    writers = 2 * len(STEPS)
    appends = max(EVERY, APPENDS // writers // 4)
    clock = {"CLOCK_AHEAD": str(ahead * DAY), "STORE_AHEAD": str(store_ahead * DAY)}
    cleaner = Fork("cleaner", str(root), str(rounds), environment=clock, library=preloaded)
    racing: list[Writer] = []
    for number in range(writers):
        environment: dict[str, str] = {}
        if number < len(STEPS):
            environment = {
                "STALL_AT": STEPS[number],
                "STALL_EVERY": str(EVERY * max(1, STALL_MS // 1500) if STEPS[number] == MANY else EVERY),
                "STALL_SECONDS": str(STALL_MS / 1000),
                "STALL_FILE": str(stalls / STEPS[number]),
                "STALL_UNTIL": str(rounds),
                # The round in which it begins, and a whole one.
                "STALL_GROWTH": "2",
            }
        racing.append(
            Writer(root, number, appends, environment=environment, library=preloaded, has_next=True)
        )
    for writer in racing:
        writer.wait_until_ready()
    for writer in racing:
        writer.go()
    told = [row for writer in racing for row in writer.acknowledged().values()]
    deleted = int(cleaner.end())
    assert cleaner.returncode == 0
    assert {writer.returncode for writer in racing} == {0}

    raised = [error for writer in racing for error in writer.raised]
    rows = counted(root)
    stalled = {path.name: path.stat().st_size for path in stalls.iterdir()}
    print(
        f"\n{len(told)} acknowledged, {len(raised)} raised {dict(Counter(raised))}, "
        f"{rounds.stat().st_size} rounds with {deleted} files deleted, stalls: {stalled}"
    )
    assert set(rows.values()) == {1}
    assert [row for row in told if row not in rows] == []
    assert len(told) + len(raised) == writers * appends
    # A commit that raised CommitUnknown may exist.
    assert len(rows) - len(told) <= raised.count("CommitUnknown")
    # Every append writes a data file; the other steps depend on the order of the commits.
    assert all(stalled[step] >= appends // EVERY for step in STEPS if step.startswith("data file"))
    assert (deleted > 0) == (store_ahead > 0)
