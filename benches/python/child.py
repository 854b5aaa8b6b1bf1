"""Runs a child process with a time limit and reports its outcome."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import peers

HERE = Path(__file__).resolve().parent
TIMEOUT = 600
# Whole programs print their peak memory at exit; the cost is the same for all.
TELL_PEAK = "\nprint([line for line in open('/proc/self/status') if line.startswith('VmHWM')][0].strip())"


# numpy, imported by pyarrow, starts threads that spin for about 50 ms after the import, which would distort
# the next measurement.
QUIET = {"OPENBLAS_NUM_THREADS": "1"}


class ChildFailedError(Exception):
    """A child process timed out or failed."""


def measure(*arguments: str) -> list[dict]:
    """Returns the output of `measure.py`, line by line."""
    printed, _, _ = run([sys.executable, str(HERE / "measure.py"), *arguments], {**os.environ, **QUIET})
    return [json.loads(line) for line in printed.splitlines() if line.startswith("{")]


def program(peer: str, table: Path) -> dict:
    """Runs and measures a whole Python program that lists the table."""
    text = peers.program_of(peer) + TELL_PEAK
    printed, wall, cpu = run([sys.executable, "-c", text, str(table)])
    *count, peak = printed.splitlines()
    num_files = int(count[0]) if count else None
    return {"wall": wall, "cpu": cpu, "peak_mib": int(peak.split()[1]) / 1024, "num_files": num_files}


def run(command: list[str], environment: dict[str, str] | None = None) -> tuple[str, float, float]:
    """Returns the command's output, its duration and its CPU seconds."""
    before, start = os.times(), time.perf_counter()
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=TIMEOUT, env=environment
        )
    except subprocess.TimeoutExpired as error:
        raise ChildFailedError(f"no end after {TIMEOUT} s") from error
    wall, after = time.perf_counter() - start, os.times()
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise ChildFailedError(last)
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return done.stdout, wall, cpu
