"""A type checker accepts `usage.py` and rejects its marked lines."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyright", reason="missing: pyright")

USAGE = Path(__file__).with_name("usage.py")
PACKAGE = Path(__file__).resolve().parents[2] / "python"


def test_pyright_agrees(tmp_path: Path) -> None:
    settings = {
        "include": [USAGE.name],
        "extraPaths": [str(PACKAGE)],
        "typeCheckingMode": "strict",
        "pythonVersion": "3.10",
        "reportUnnecessaryTypeIgnoreComment": "error",
        "reportMissingModuleSource": "none",
    }
    # A copy, because file names in a project are relative to it.
    copy = tmp_path / USAGE.name
    copy.write_text(USAGE.read_text())
    config = tmp_path / "pyrightconfig.json"
    config.write_text(json.dumps(settings))
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--project", str(config)]
    done = subprocess.run([*command, "--outputjson"], check=False, capture_output=True, text=True)
    report = json.loads(done.stdout)
    found = [
        f"{item['range']['start']['line'] + 1}: {item['message']}"
        for item in report["generalDiagnostics"]
        if Path(item["file"]) == copy
    ]
    assert found == []
    assert report["summary"]["filesAnalyzed"] == 1
