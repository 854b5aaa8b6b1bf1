"""Runs the command ``deltaic`` within the test's process: starting one takes longer than most commands.

`test_cli_streams.py` starts processes, for what differs there: closed streams and the way to the exit code.
"""

from __future__ import annotations

import io
import json
import subprocess
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, cast

from deltaic.cli import main


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs a command; an exception that would end the process with a traceback fails the test."""
    command = [str(argument) for argument in arguments]
    stdout, stderr = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with redirect_stdout(stdout), redirect_stderr(stderr):
        try:
            code = main(command)
        except SystemExit as left:
            code = left.code
    # The watch for secrets examines the output as that of a process.
    return subprocess.CompletedProcess(command, cast("int", code), written(stdout), written(stderr))


def written(stream: io.TextIOWrapper) -> str:
    """Returns what was written to the stream, as text or as bytes."""
    stream.seek(0)
    return stream.read()


def as_json(*arguments: str | Path) -> Any:
    """Runs a command that must succeed without a warning; returns the document that it prints."""
    done = run(*arguments, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def lines(*arguments: str | Path) -> list[str]:
    """Runs a command that must succeed without a warning; returns the lines that it prints."""
    done = run(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()
