"""Runs a program of `programs` in a separate process: each process has one Spark, here that of the tests."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import deltaic

TOP = Path(__file__).resolve().parents[2]
PACKAGE = Path(deltaic.__file__).parents[1]
# Only a process that hangs takes so many seconds.
LONGEST = 3_000


def run(program: str, *arguments: str) -> Any:
    """Returns the program's last line of output, parsed as JSON. Kills all of its child processes."""
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", f"tests.spark.programs.{program}", *arguments],
        cwd=TOP,
        env={
            **os.environ,
            # Python workers, also on executors, must import the package under test.
            "PYTHONPATH": os.pathsep.join([str(PACKAGE), str(TOP)]),
            "PYSPARK_PYTHON": sys.executable,
            "LC_ALL": "C.UTF-8",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        said, _ = process.communicate(timeout=LONGEST)
    finally:
        end(process)
    assert process.returncode == 0, said[-8000:]
    return json.loads(said.rstrip().splitlines()[-1])


def end(process: subprocess.Popen[str]) -> None:
    """Kills the process and its process group."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    process.wait()
