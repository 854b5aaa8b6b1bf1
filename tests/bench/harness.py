"""Runs the programs of `benches/python`, and short programs with its modules."""

from __future__ import annotations

import importlib.util
import io
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path
from unittest.mock import patch

import pytest

HARNESS = Path(__file__).resolve().parents[2] / "benches" / "python"


def run(script: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs a program of the harness in its own process."""
    command = [sys.executable, str(HARNESS / script), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def printed(program: str, *arguments: str) -> str:
    """Runs a program that uses the modules of the harness within this process; returns what it prints."""
    with (
        patch.object(sys, "path", [str(HARNESS), *sys.path]),
        patch.object(sys, "argv", ["program", *arguments]),
        redirect_stdout(io.StringIO()) as stdout,
    ):
        try:
            exec(program, {"__name__": "program"})  # noqa: S102 - a text of the tests
        finally:
            own = {path.stem for path in HARNESS.iterdir()}
            for name in [name for name in sys.modules if name.partition(".")[0] in own]:
                del sys.modules[name]
    return stdout.getvalue()


def need(*peers: str) -> None:
    """Skips the test if a peer is not installed."""
    for name in peers:
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"missing: {name}, a peer")
