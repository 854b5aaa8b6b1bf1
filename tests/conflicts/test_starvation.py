"""Many processes append to one busy table: no append fails, and no writer is starved.

`make races` runs long races on a busy machine and prints its measurements; `make test` runs a short one.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from pathlib import Path

import pytest

import deltaic

from .appender import SCHEMA
from .writers import asked_for, landed_once, on_disk, start_race

HOGS = asked_for("RACE_HOGS", 0)
"""Number of processes that keep the processors busy during the race."""

RACES = [(8, 200), (16, 80), (32, 30)] if HOGS else [(8, 25)]
"""Number of writers, and appends of each."""

LONGEST = 8
"""Number of versions that others may commit during one append, per writer. Measured: up to 4, 5 and 6 with 8,
16 and 32 writers, and 9 or more with 8 writers that pause between reading the log and writing the commit.
It depends on the scheduler of the system, so that only `make races` requires it.
"""


@pytest.mark.parametrize(("writers", "commits"), RACES)
def test_no_writer_starves(tmp_path: Path, writers: int, commits: int) -> None:
    """With the default `max_attempts` and deadline."""
    root = tmp_path / "t"
    deltaic.Table.create(root, SCHEMA)
    hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(HOGS)]
    try:
        racing = start_race(root, writers, commits)
        told = [writer.acknowledged() for writer in racing]
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()
    failed = [writer.writer for writer in racing if writer.returncode]
    appends = [append for writer in racing for append in writer.appends]
    winners = sorted(append.winners for append in appends)
    seconds = statistics.quantiles((append.seconds for append in appends), n=100)
    print(
        f"\n{writers} x {commits}: {len(failed)} failed, longest run of winners {winners[-1]}, "
        f"latency p50 {seconds[49] * 1000:.0f} ms, p99 {seconds[98] * 1000:.0f} ms"
    )
    assert failed == []
    assert not HOGS or winners[-1] <= LONGEST * writers
    landed_once(told, commits, on_disk(root))
