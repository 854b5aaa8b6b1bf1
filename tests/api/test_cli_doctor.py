"""`deltaic doctor`: what it prints, and its exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa

import deltaic
from tests.api.command_line import as_json, lines, run


def made(root: Path) -> deltaic.Table:
    table = deltaic.Table.create(root, pa.schema([("id", pa.int64())]))
    for number in range(10):
        table.append(pa.table({"id": [number, 100]}))
    return table


def test_text_has_commands(root: Path) -> None:
    made(root)
    shown = lines("doctor", root)
    assert shown[0].startswith("Advice on")
    assert f"  Run:    deltaic optimize {root}" in shown
    assert not any("zorder" in line for line in shown)


def test_filters(root: Path) -> None:
    made(root)
    shown = lines("doctor", root, "--filter", "id")
    assert f"  Run:    deltaic optimize {root} --zorder-by id" in shown
    done = run("doctor", root, "--filter", "ix")
    assert done.returncode == 1
    assert "no column 'ix'" in done.stderr


def test_json_in_both_spellings(root: Path) -> None:
    table = made(root)
    shown = as_json("doctor", root, "--filter", "id")
    assert shown == json.loads(run("doctor", root, "--filter", "id", "--format", "json").stdout)
    assert shown == json.loads(table.advise(["id"]).to_json())


def test_usage(root: Path) -> None:
    made(root)
    assert run("doctor", root, "--format", "yaml").returncode == 2
