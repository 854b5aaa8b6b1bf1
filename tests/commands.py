"""Runs a command of the project and shows its output."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent


def run_command(
    command: list[str],
    environment: dict[str, str] | None = None,
    *,
    folder: Path = TOP,
    shows: Callable[[str], bool] = lambda _: True,
) -> tuple[int, list[str]]:
    """Run a command, print those of its lines that `shows` accepts, return its exit code and these lines."""
    lines: list[str] = []
    with subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            text = line.rstrip("\n")
            if shows(text):
                sys.stdout.write(line)
                sys.stdout.flush()
                lines.append(text)
    return process.returncode, lines


def succeeds(command: str) -> bool:
    """Does a command of the project succeed? Its output is dropped."""
    return subprocess.run([str(TOP / command)], cwd=TOP, capture_output=True, check=False).returncode == 0
