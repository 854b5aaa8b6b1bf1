"""What the commands print fits in the width of a terminal; in a pipe, lines are whole."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

import deltaic
from tests.api.aged_files import age
from tests.api.command_line import run
from tests.api.vacuum_tables import ids, made, orphan


def printed(width: int, *arguments: object) -> list[str]:
    """Runs a command on a terminal of this width; returns the lines of stdout and stderr."""
    reading, writing = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(width), "TERM": "dumb"}
    command = [sys.executable, "-m", "deltaic", *map(str, arguments)]
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=writing, stderr=writing, env=environment, close_fds=True
    )
    os.close(writing)
    text = b""
    while True:
        try:
            part = os.read(reading, 1 << 16)
        except OSError:  # the end of a terminal
            break
        if not part:
            break
        text += part
    process.wait()
    os.close(reading)
    # A progress line is erased with a carriage return.
    return [line.rsplit("\r", 1)[-1] for line in text.decode().replace("\r\n", "\n").splitlines()]


@pytest.mark.parametrize("width", [80, 200])
def test_lines_fit(root: Path, tmp_path: Path, width: int) -> None:
    table = made(root, ids(1), enableDeletionVectors="true")
    folder = "a_folder_with_a_long_name=" + "x" * 60
    name = orphan(root, f"{folder}/part-00000-6f1c-4f0e.parquet").name
    table.append(ids(2, 3))
    table.delete("id = 2")
    age(root)
    commands: list[tuple[object, ...]] = [
        ("vacuum", root, "--dry-run"),
        ("vacuum", root, "--retention", "1h"),
        ("restore", root, "--at-version", 1, "--dry-run"),
        ("clone", root, tmp_path / "clone", "--dry-run"),
        ("purge", root, "--dry-run"),
        ("repair", root, "--dry-run"),
        ("manifest", root),
        ("convert", root),
    ]
    shown = {str(command[0]): printed(width, *command) for command in commands}
    for command, lines in shown.items():
        assert lines, command
        assert max(map(len, lines)) <= width, (command, lines)
    [file] = [line for line in printed(width, *commands[0]) if name[-12:] in line]
    assert ("…" in file) == (width == 80)
    assert file.endswith("5 B")
    whole = run("vacuum", root, "--dry-run").stdout
    assert f"  {folder}/{name}  5 B" in whole.splitlines()
    assert deltaic.Table(root).snapshot().version == 3
