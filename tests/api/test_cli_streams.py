"""The command ``deltaic`` with closed output, with a reader that exits early, and with huge numbers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.api.log_files import commit_file
from tests.api.test_cli import as_json, run

COMMANDS = ["show", "history", "files", "head", "count", "check", "probe"]
HUGE = "99999999999999999999999"


def in_shell(redirection: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = ["bash", "-c", f'exec "$@" {redirection}', "bash", sys.executable, "-m", "deltaic"]
    return subprocess.run([*command, *map(str, arguments)], check=False, capture_output=True, text=True)


def code_when_nobody_reads(*arguments: str | Path) -> tuple[int, str]:
    """Returns exit code and stderr of a command whose reader has exited before it writes."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "deltaic", *map(str, arguments)]
    with os.fdopen(writer, "w") as pipe:
        done = subprocess.run(command, check=False, stdout=pipe, stderr=subprocess.PIPE, text=True)
    return done.returncode, done.stderr


@pytest.mark.usefixtures("numbers")
def test_a_huge_limit_is_not_a_limit(root: Path) -> None:
    assert len(as_json("history", root, "--limit", HUGE)) == 3
    assert len(as_json("head", root, "-n", HUGE)) == 6
    for arguments in (["history", root, "--limit", "9" * 5000], ["show", root, "--version", HUGE]):
        done = run(*arguments)
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_a_closed_stdout_is_one_line(command: str, tmp_path: Path) -> None:
    done = in_shell(">&-", command, tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "error: stdout is closed, so there is nowhere to write to\n"


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.usefixtures("numbers")
def test_without_stderr_nothing_of_it_gets_into_stdout(command: str, root: Path) -> None:
    (root / "_delta_log" / "_last_checkpoint").write_text("{")
    done = in_shell("2>&-", command, root, "--json")
    assert done.returncode == (3 if command == "check" else 0)
    json.loads(done.stdout)
    failed = in_shell("2>&-", "count", root.parent / "nothing")
    assert (failed.returncode, failed.stdout) == (1, "")


@pytest.mark.usefixtures("numbers")
def test_a_reader_that_leaves_changes_no_verdict(root: Path) -> None:
    for command in COMMANDS:
        for form in ([], ["--json"]):
            assert code_when_nobody_reads(command, root, *form) == (0, "")
    (root / "_delta_log" / "_last_checkpoint").write_text("{")
    assert code_when_nobody_reads("check", root) == (3, "")
    commit_file(root, 1).write_text("{")
    assert code_when_nobody_reads("check", root) == (4, "")
    assert code_when_nobody_reads("check", root, "--json") == (4, "")
    code, complaint = code_when_nobody_reads("probe", commit_file(root, 0))
    assert (code, complaint.partition(" ")[0]) == (1, "error:")
