"""`deltaic vacuum`: what it prints, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import deltaic
from tests.api.aged_files import age, files_of
from tests.api.command_line import as_json, lines, run
from tests.api.log_files import commit_file
from tests.api.vacuum_tables import clone_of, ids, inventory, made, orphan


def test_a_vacuum_shows_what_it_deletes(root: Path) -> None:
    table = made(root, ids(1))
    orphan(root)
    age(root)
    assert lines("vacuum", root, "--dry-run") == [
        "1 file would be deleted (5 B), retention 7 days:",
        "  orphan.parquet  5 B",
    ]
    assert table.snapshot().version == 1
    assert lines("vacuum", root)[0] == "1 file deleted (5 B), retention 7 days:"
    assert table.snapshot().version == 3
    assert lines("vacuum", root) == ["0 files deleted, retention 7 days"]


def test_as_json(root: Path) -> None:
    made(root, ids(1))
    orphan(root)
    age(root)
    shown = as_json("vacuum", root, "--retention", "10d")
    expected = {
        "dry_run": False,
        "retention_seconds": 864_000,
        "deleted_files": 1,
        "deleted_folders": 0,
        "size_in_bytes": 5,
        "versions": [2, 3],
        "files": [{"path": "orphan.parquet", "size_in_bytes": 5}],
    }
    assert shown == expected


def test_lite(root: Path) -> None:
    table = made(root, ids(1))
    table.overwrite(ids(2))
    orphan(root)
    age(root)
    assert lines("vacuum", root, "--lite")[0].startswith("1 file deleted")
    assert "orphan.parquet" in files_of(root)


def test_a_short_retention_must_be_forced(root: Path) -> None:
    made(root, ids(1))
    orphan(root)
    age(root)
    done = run("vacuum", root, "--retention", "36h")
    assert done.returncode == 1
    assert "--force" in done.stderr
    assert "force=True" not in done.stderr
    assert lines("vacuum", root, "--retention", "36h", "--force")[0].endswith("retention 36 hours:")


@pytest.mark.parametrize("text", ["", "7w", "-1d", "1e400d", "soon", "9" * 30 + "d"])
def test_a_retention_is_a_duration(root: Path, text: str) -> None:
    made(root, ids(1))
    done = run("vacuum", root, f"--retention={text}")
    assert done.returncode == 2
    assert "duration" in done.stderr


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_an_inventory_in_a_file(root: Path, tmp_path: Path, suffix: str) -> None:
    made(root, ids(1))
    orphan(root)
    file = tmp_path / f"inventory.{suffix}"
    listed = inventory(root, "orphan.parquet")
    if suffix == "csv":
        pyarrow.csv.write_csv(listed, file)
    else:
        pq.write_table(listed, file)
    assert lines("vacuum", root, "--inventory", file)[0].startswith("1 file deleted")
    wrong = run("vacuum", root, "--inventory", tmp_path / "nothing.csv")
    assert wrong.returncode == 1


def test_clones(root: Path, tmp_path: Path) -> None:
    made(root, ids(1))
    clone_of(root, tmp_path / "clone")
    deltaic.Table(root).delete()
    age(root)
    shown = as_json("vacuum", root, "--clone", tmp_path / "clone", "--dry-run")
    assert shown["files"] == []
    assert len(as_json("vacuum", root, "--dry-run")["files"]) == 1
    assert json.loads(run("vacuum", root, "--json").stdout)["deleted_files"] == 1
    assert pa.table(deltaic.Table(root).snapshot().scan()).num_rows == 0


def test_many_files_are_shown_in_part(root: Path) -> None:
    made(root, ids(1))
    for number in range(53):
        orphan(root, f"orphan-{number:02}.parquet")
    age(root)
    shown = lines("vacuum", root, "--dry-run")
    assert len(shown) == 52
    assert shown[-2:] == ["  orphan-49.parquet  5 B", "  … and 3 more (all with --json)"]
    assert len(as_json("vacuum", root, "--dry-run")["files"]) == 53


def test_errors_name_options_of_the_command_line(root: Path, tmp_path: Path) -> None:
    table = made(root, ids(1))
    table.overwrite(ids(2))
    file = tmp_path / "inventory.csv"
    pyarrow.csv.write_csv(inventory(root, "a"), file)
    done = run("vacuum", root, "--lite", "--inventory", file)
    assert "--lite reads the log alone: omit --inventory" in done.stderr
    table.checkpoint()
    commit_file(root, 0).unlink()
    age(root)
    done = run("vacuum", root, "--lite")
    assert done.returncode == 1
    assert "vacuum without --lite, which lists the table" in done.stderr
    assert "mode" not in done.stderr


@pytest.mark.parametrize("text", [None, "path,length\na,1\n", "path,length\na\n"])
def test_an_error_of_an_inventory_names_the_file(root: Path, tmp_path: Path, text: str | None) -> None:
    made(root, ids(1))
    file = tmp_path / "inventory.csv"
    if text is not None:
        file.write_text(text)
    done = run("vacuum", root, "--inventory", file)
    assert done.returncode == 1
    assert str(file) in done.stderr


def test_the_help_states_the_unit_of_a_bare_number() -> None:
    assert "a number without a unit is hours" in " ".join(run("vacuum", "--help").stdout.split())
