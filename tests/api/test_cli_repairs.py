"""The commands that restore and repair a table: what they print, and their exit codes."""

from __future__ import annotations

from pathlib import Path

import deltaic
from tests.api.command_line import as_json, lines, run
from tests.api.log_files import of_kind


def test_restore(numbers: deltaic.Table, root: Path) -> None:
    numbers.delete("id < 3")
    [first, second] = lines("restore", root, "--version", "2", "--dry-run")
    assert first.startswith("RESTORE of version 3 to version 2 would leave 2 files")
    assert second.startswith("  1 file added again")
    dry = as_json("restore", root, "--version", "2", "--dry-run")
    assert (dry["version"], dry["restored_version"], dry["restored_files"]) == (3, 2, 1)
    assert numbers.snapshot().version == 3
    shown = lines("restore", root, "--version", "2")
    assert shown[0].startswith("RESTORE committed version 4 with 2 files (")
    assert shown[0].endswith("):")
    assert shown[1].startswith("  1 file added again (")
    assert numbers.snapshot().num_rows == 6
    assert lines("restore", root, "--version", "2") == [
        "Nothing to do: the newest version, 4, is already like version 2."
    ]
    done = as_json("restore", root, "--version", "1")
    assert (done["version"], done["operation"], done["skipped"]) == (5, "RESTORE", False)
    assert done["metrics"]["numRemovedFiles"] == 1


def test_restore_of_missing_files(numbers: deltaic.Table, root: Path) -> None:
    numbers.delete()
    [add] = of_kind(root, 1, "add")
    (root / add["path"]).unlink()
    done = run("restore", root, "--version", "2")
    assert done.returncode == 1
    assert "1 file of version 2 no longer exists" in done.stderr
    assert "--ignore-missing-files" in done.stderr
    assert "ignore_missing_files" not in done.stderr
    assert lines("restore", root, "--version", "2", "--ignore-missing-files")
    assert numbers.snapshot().num_rows == 3


def test_restore_needs_a_version_or_a_time(numbers: deltaic.Table, root: Path) -> None:
    assert numbers.snapshot().version == 2
    assert run("restore", root).returncode == 2
    assert run("restore", root, "--version", "1", "--timestamp", "2026-11-01T00:00:00Z").returncode == 2


def test_repair(numbers: deltaic.Table, root: Path) -> None:
    [add] = of_kind(root, 1, "add")
    (root / add["path"]).unlink()
    shown = ["1 missing file of version 2 would be removed from the table:", f"  {add['path']}"]
    assert lines("repair", root, "--dry-run") == shown
    assert as_json("repair", root, "--dry-run") == {"missing_files": [add["path"]], "version": None}
    assert numbers.snapshot().version == 2
    assert as_json("repair", root) == {"missing_files": [add["path"]], "version": 3}
    assert lines("repair", root) == ["no file of version 3 is missing"]
    assert numbers.snapshot().num_rows == 3


def test_manifest(numbers: deltaic.Table, root: Path) -> None:
    manifest = root / "_symlink_format_manifest" / "manifest"
    assert lines("manifest", root, "--dry-run") == ["version 2: 1 manifest would be written, 0 deleted"]
    assert not manifest.exists()
    shown = {"version": 2, "written": ["_symlink_format_manifest/manifest"], "deleted": []}
    assert as_json("manifest", root) == shown
    assert len(manifest.read_text().splitlines()) == numbers.snapshot().num_files
