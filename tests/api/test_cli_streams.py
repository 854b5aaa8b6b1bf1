"""The command ``deltaic`` with closed output, with a reader that exits early, and with huge numbers.

Each command within this process, and a few as processes: there Python closes the streams at exit too.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic
from deltaic.cli import main
from tests.api.command_line import as_json, run
from tests.api.log_files import commit_file, write_commit

COMMANDS = ["show", "history", "files", "head", "count", "check", "probe"]
HUGE = "99999999999999999999999"


def in_process(*arguments: str | Path, redirection: str = "") -> subprocess.CompletedProcess[str]:
    """Runs a command as a process of its own, with a redirection of the shell."""
    command = ["bash", "-c", f'exec "$@" {redirection}', "bash", sys.executable, "-m", "deltaic"]
    return subprocess.run([*command, *map(str, arguments)], check=False, capture_output=True, text=True)


def with_nobody_reading(*arguments: str | Path) -> tuple[int, str]:
    """Returns exit code and stderr of a command whose reader has exited before it writes."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as pipe, redirect_stdout(pipe), redirect_stderr(io.StringIO()) as stderr:
        code = main([str(argument) for argument in arguments])
    return code, stderr.getvalue()


def in_process_with_nobody_reading(*arguments: str | Path) -> tuple[int, str]:
    """The same for a process."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "deltaic", *map(str, arguments)]
    with os.fdopen(writer, "w") as pipe:
        done = subprocess.run(command, check=False, stdout=pipe, stderr=subprocess.PIPE, text=True)
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["head"], 0), (["head", "--json"], 0), (["head", "--where", "id >"], 1), (["head", "--nothing"], 2)],
    ids=["table", "JSON", "failure", "usage"],
)
def test_a_process_prints_the_same_and_ends_with_the_code(
    root: Path, arguments: list[str], code: int
) -> None:
    rows = pa.table({"id": [1], "name": ["東京"]})
    deltaic.Table.create(root, rows.schema).append(rows)
    (root / "_delta_log" / "_last_checkpoint").write_text("{")
    command, *options = arguments
    here, there = run(command, root, *options), in_process(command, root, *options)
    assert there.returncode == here.returncode == code
    assert (there.stdout, there.stderr) == (here.stdout, here.stderr)
    assert there.stderr.startswith(("warning: ", "error: ", "usage: "))


@pytest.mark.usefixtures("numbers")
def test_a_huge_limit_is_not_a_limit(root: Path) -> None:
    assert len(as_json("history", root, "--limit", HUGE)) == 3
    assert len(as_json("head", root, "-n", HUGE)) == 6
    for arguments in (["history", root, "--limit", "9" * 5000], ["show", root, "--version", HUGE]):
        assert run(*arguments).returncode in {0, 1, 2}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_closed_stdout_is_one_line(command: str, tmp_path: Path) -> None:
    with redirect_stdout(None), redirect_stderr(io.StringIO()) as stderr:
        assert main([command, str(tmp_path)]) == 1
    assert stderr.getvalue() == "error: stdout is closed, so there is nowhere to write to\n"


def test_a_process_has_a_closed_stdout(tmp_path: Path) -> None:
    done = in_process("show", tmp_path, redirection=">&-")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "error: stdout is closed, so there is nowhere to write to\n"


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.usefixtures("numbers")
def test_without_stderr_nothing_of_it_gets_into_stdout(command: str, root: Path) -> None:
    (root / "_delta_log" / "_last_checkpoint").write_text("{")
    with redirect_stdout(io.StringIO()) as stdout, redirect_stderr(None):
        code = main([command, str(root), "--json"])
    assert code == (3 if command == "check" else 0)
    json.loads(stdout.getvalue())
    with redirect_stdout(io.StringIO()) as stdout, redirect_stderr(None):
        code = main([command, str(root / "no folder" / "no table")])
    if command != "probe":
        assert (code, stdout.getvalue()) == (1, "")


@pytest.mark.usefixtures("numbers")
def test_a_process_has_no_stderr(root: Path) -> None:
    (root / "_delta_log" / "_last_checkpoint").write_text("{")
    done = in_process("count", root, "--json", redirection="2>&-")
    assert (done.returncode, json.loads(done.stdout)) == (0, {"count": 6})
    failed = in_process("count", root.parent / "nothing", redirection="2>&-")
    assert (failed.returncode, failed.stdout) == (1, "")


@pytest.mark.usefixtures("numbers")
def test_a_reader_that_leaves_changes_no_result(root: Path) -> None:
    for command in COMMANDS:
        for form in ([], ["--json"]):
            assert with_nobody_reading(command, root, *form) == (0, "")
    (root / "_delta_log" / "_last_checkpoint").write_text("{")
    assert with_nobody_reading("check", root) == (3, "")
    commit_file(root, 1).write_text("{")
    for forms in ([], ["--json"]):
        assert with_nobody_reading("check", root, *forms) == (4, "")
    code, complaint = with_nobody_reading("probe", commit_file(root, 0))
    assert (code, complaint.partition(" ")[0]) == (1, "error:")


@pytest.mark.usefixtures("numbers")
def test_a_process_whose_reader_leaves_changes_no_result(root: Path) -> None:
    assert in_process_with_nobody_reading("show", root) == (0, "")
    commit_file(root, 1).write_text("{")
    assert in_process_with_nobody_reading("check", root, "--json") == (4, "")
    code, complaint = in_process_with_nobody_reading("probe", commit_file(root, 0))
    assert (code, complaint.partition(" ")[0]) == (1, "error:")


@pytest.mark.usefixtures("numbers")
def test_a_reader_that_leaves_early_is_not_a_failure(root: Path) -> None:
    """`deltaic history … | head -n 1` on a history that is larger than a pipe buffer."""
    long = {"commitInfo": {"operation": "x" * 200_000}}
    write_commit(root, 3, long)
    command = [sys.executable, "-m", "deltaic", "history", str(root)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        errors = process.stderr.read()
        assert process.wait() == 0
    assert errors == b""
