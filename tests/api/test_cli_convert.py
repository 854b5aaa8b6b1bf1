"""The command that converts a folder: what it prints, and its exit codes."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import deltaic
from tests.api.command_line import as_json, lines, run


def test_convert(root: Path) -> None:
    for part in ("a", "b"):
        folder = root / f"part={part}" / "n=1.50"
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"id": [1, 2]}), folder / "x.parquet")
    columns = ("--partition-schema", "part string, n decimal(4, 2)")
    assert "deltaic convert PATH" in run("show", root).stderr
    shown = lines("convert", root, *columns, "--dry-run")
    assert shown[0].startswith("CONVERT would make a table of 2 files (")
    assert shown[1:] == ["root", "|-- id: long", "|-- part: string", "|-- n: decimal(4,2)"]
    assert as_json("convert", root, *columns, "--dry-run")["num_rows"] == 4
    assert not (root / "_delta_log").exists()
    refused = run("convert", root)
    assert refused.returncode == 1
    assert "--partition-schema" in refused.stderr
    assert run("convert", root, "--partition-schema", "part").returncode == 1
    assert lines("convert", root, *columns, "--no-statistics") == ["CONVERT committed version 0 with 2 files"]
    assert deltaic.Table(root).snapshot().scan(predicate="part = 'b'").count() == 2
    assert run("convert", root).returncode == 1
