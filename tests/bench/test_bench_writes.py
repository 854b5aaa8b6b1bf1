"""The benchmarks of writes, merges and `optimize` at a small scale: rows are compared, times never."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from .harness import need, run

PEERS = ("deltaic", "deltalake")


def harness(*arguments: str | Path, script: str = "writing.py") -> subprocess.CompletedProcess[str]:
    need("deltalake")
    return run(script, "--scale", "0.001", *arguments)


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables")


def test_every_write_of_each_peer_is_right(tables: Path) -> None:
    done = harness("--check", "--tables", tables)
    assert done.returncode == 0, done.stderr + done.stdout
    right = [line.split()[:2] for line in done.stdout.splitlines() if line.endswith("writes the right rows")]
    assert len(right) == 14
    assert [peer for _, peer in right] == 7 * ["deltaic", "deltalake"]


def test_every_merge_of_each_peer_is_right(tables: Path) -> None:
    done = harness("--check", "--tables", tables, script="merging.py")
    assert done.returncode == 0, done.stderr + done.stdout
    peers = [line.split()[1] for line in done.stdout.splitlines() if " the right " in line]
    assert peers == 8 * ["deltaic", "deltalake", "duckdb"]


def test_every_optimize_of_each_peer_changes_no_row(tables: Path) -> None:
    done = harness("--check", "--tables", tables, script="optimizing.py")
    assert done.returncode == 0, done.stderr + done.stdout
    right = [line.split()[:2] for line in done.stdout.splitlines() if line.endswith("writes the right rows")]
    assert right == [[f"{name}:", peer] for name in ("optimize_compact", "optimize_zorder") for peer in PEERS]


def test_wrong_rows_are_reported_and_nothing_is_timed(tmp_path: Path) -> None:
    assert harness("--check", "--only", "delete_rewrite", "--tables", tmp_path).returncode == 0
    (answer,) = tmp_path.glob("writes-*/deleted.json")
    answer.write_text(answer.read_text().replace('"rows": ', '"rows": 1'))
    done = harness("--only", "delete_rewrite", "--tables", tmp_path)
    assert done.returncode == 1
    assert done.stdout.count("deltaic and deltalake read other rows") == 2
    assert "wall" not in done.stdout


def test_the_section_has_every_figure_and_replaces_the_one_before(tables: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Page\n\n## Writes\n\nold\n\n## Spark\n\nkept\n")
    only = ["--only", "overwrite_partition", "--repeat", "1", "--tables", tables]
    done = harness(*only, "--markdown", page)
    assert done.returncode == 0, done.stderr
    text = page.read_text()
    assert "old" not in text
    assert text.endswith("## Spark\n\nkept\n")
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| ")]
    assert [row[1] for row in rows] == ["figure", "wall s", "CPU s", "peak MiB", "MiB written"]
    assert all(len(row) == 7 for row in rows)
