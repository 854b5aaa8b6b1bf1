"""The command that makes a shallow clone: what it prints, and its exit codes."""

from __future__ import annotations

from pathlib import Path

import deltaic
from tests.api.command_line import as_json, lines, run


def test_clone(numbers: deltaic.Table, root: Path, tmp_path: Path) -> None:
    target = tmp_path / "clone"
    [dry] = lines("clone", root, target, "--dry-run")
    assert dry.startswith("CLONE of version 2 would refer to 2 files (")
    assert as_json("clone", root, target, "--dry-run", "--version", "1")["files"] == 1
    assert not target.exists()
    [done] = lines("clone", root, target, "--version", "1", "--property", "delta.appendOnly=true")
    assert done.startswith("CLONE of version 1 committed version 0, which refers to 1 file (")
    clone = deltaic.Table(target, allowed_roots=[root])
    assert clone.snapshot().num_rows == 3
    assert clone.snapshot().metadata.properties == {"delta.appendOnly": "true"}
    assert numbers.snapshot().version == 2
    refused = run("clone", root, target)
    assert refused.returncode == 1
    assert "already exists" in refused.stderr
    assert "--replace" in refused.stderr
    assert "if_exists" not in refused.stderr
    other = tmp_path / "other"
    assert as_json("clone", root, other)["version"] == 0
    replaced = as_json("clone", root, other, "--replace", "--version", "0")
    assert (replaced["version"], replaced["operation"]) == (1, "CLONE")
    assert replaced["metrics"]["numRemovedFiles"] == 2
    assert run("clone", root, other, "--property", "x").returncode == 2
