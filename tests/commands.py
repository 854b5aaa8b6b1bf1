"""Runs a command of the project and shows its output."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from threading import Lock

TOP = Path(__file__).resolve().parent.parent

_held: ContextVar[list[str] | None] = ContextVar("_held", default=None)
_printing = Lock()


def show(text: str) -> None:
    """Print a line, or keep it while `output_held` is in effect in this thread."""
    held = _held.get()
    if held is not None:
        held.append(text)
        return
    with _printing:
        print(text, flush=True)


@contextmanager
def output_held() -> Iterator[None]:
    """Keep what this thread shows and print it in one piece at the end."""
    held: list[str] = []
    token = _held.set(held)
    try:
        yield
    finally:
        _held.reset(token)
        show("\n".join(held))


def run_command(
    command: list[str],
    environment: dict[str, str] | None = None,
    *,
    folder: Path = TOP,
    shows: Callable[[str], bool] = lambda _: True,
) -> tuple[int, list[str]]:
    """Run a command, print the lines that `shows` accepts, return its exit code and all lines."""
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
            lines.append(text)
            if shows(text):
                show(text)
    return process.returncode, lines


def succeeds(command: str) -> bool:
    """Does a command of the project succeed? Its output is dropped."""
    return subprocess.run([str(TOP / command)], cwd=TOP, capture_output=True, check=False).returncode == 0
