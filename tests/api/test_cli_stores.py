"""The command ``deltaic`` on object stores: options, other roots, and `probe`."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from unittest.mock import patch

import pyarrow as pa
import pytest

import deltaic
from deltaic.cli import main
from tests.api import command_line
from tests.api.log_files import commit_file

PLANTED = "PlAnTeD-secret"
TABLE_COMMANDS = ["show", "history", "files", "head", "count", "check"]
COMMANDS = [*TABLE_COMMANDS, "probe"]


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs a command without the AWS environment variables; asserts that it prints no secret."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    with patch.dict(os.environ, env, clear=True):
        done = command_line.run(*arguments)
    assert PLANTED not in done.stdout + done.stderr
    return done


UNREACHABLE = {
    "aws_endpoint": "http://127.0.0.1:9",
    "allow_http": "true",
    "max_retries": "0",
    "aws_access_key_id": f"{PLANTED}=with=signs",
    "aws_secret_access_key": PLANTED,
}
"""An unreachable store: the connection error shows that the options were passed."""


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("option", ["-o", "--storage-option"])
def test_every_command_takes_storage_options(command: str, option: str) -> None:
    given = [part for name, value in UNREACHABLE.items() for part in (option, f"{name}={value}")]
    done = run(command, "s3://tables/t", *given)
    assert done.returncode == 1
    assert "the store cannot be reached" in done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_an_unknown_option_has_a_hint(command: str) -> None:
    done = run(command, "s3://tables/t", "-o", f"aws_regoin={PLANTED}")
    assert done.returncode == 1
    assert '"aws_regoin"' in done.stderr
    assert 'hint: did you mean "aws_region"?' in done.stderr


def test_a_local_table_has_no_options(numbers: deltaic.Table, root: Path) -> None:
    assert numbers.uri == root.as_uri() + "/"
    done = run("count", root, "-o", f"aws_region={PLANTED}")
    assert done.returncode == 1
    assert "aws_region" in done.stderr


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    "arguments",
    [
        ["-o", PLANTED],
        ["-o", f"={PLANTED}"],
        ["-o", f" ={PLANTED}"],
        ["-o"],
        [f"-o{PLANTED}"],
        [f"--storage-option={PLANTED}"],
        ["-o", f"aws_region={PLANTED}", "-o", "aws_region=x"],
        [f"--storage-optoin=aws_region={PLANTED}"],
        ["-o", "aws_region=x", f"aws_session_token={PLANTED}"],
    ],
    ids=" ".join,
)
def test_a_wrong_form_is_2_and_reports_no_value(command: str, arguments: list[str]) -> None:
    done = run(command, "s3://tables/t", *arguments)
    assert done.returncode == 2
    assert "usage: deltaic" in done.stderr
    assert done.stdout == ""


def test_another_root_must_be_allowed(tmp_path: Path) -> None:
    """A shallow clone references files of another table."""
    data = pa.table({"id": [1, 2, 3]})
    deltaic.Table.create(tmp_path / "source", data.schema).append(data)
    clone = tmp_path / "clone"
    shutil.copytree(tmp_path / "source" / "_delta_log", clone / "_delta_log")
    [parquet] = (tmp_path / "source").glob("*.parquet")
    commit = commit_file(clone, 1)
    commit.write_text(commit.read_text().replace(parquet.name, parquet.as_uri()))
    refused = run("head", clone)
    assert refused.returncode == 1
    assert "--allowed-root" in refused.stderr
    other = run("head", clone, "--allowed-root", tmp_path / "nothing")
    assert other.returncode == 1
    allowed = run(
        "head", clone, "--allowed-root", tmp_path / "nothing", "--allowed-root", tmp_path / "source"
    )
    assert (allowed.returncode, allowed.stderr) == (0, "")
    assert allowed.stdout.split() == ["id", "1", "2", "3"]


@pytest.mark.parametrize("command", TABLE_COMMANDS)
def test_every_command_that_takes_a_table_takes_other_roots(
    command: str, numbers: deltaic.Table, root: Path
) -> None:
    assert numbers.uri
    assert run(command, root, "--allowed-root", root).returncode == 0
    assert run(command, root, "--allowed-root").returncode == 2


def test_probe_reports_that_a_place_is_safe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "kept").write_text("x")
    assert main(["probe", str(tmp_path)]) == 0
    header, *rows, conclusion = capsys.readouterr().out.splitlines()
    assert header.split() == ["promise", "outcome"]
    assert len(rows) == 4
    assert all(row.endswith(" kept") for row in rows)
    assert conclusion == "Commits are safe here."
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_probe_of_a_place_that_cannot_be_reached_learns_nothing() -> None:
    given = [part for name, value in UNREACHABLE.items() for part in ("-o", f"{name}={value}")]
    done = run("probe", "s3://tables/t", *given)
    assert done.returncode == 1
    assert done.stdout.count("not learnt") == 4
    assert "safe" not in done.stdout
    assert done.stderr.startswith("error: ")
    assert "\nhint: " in done.stderr
