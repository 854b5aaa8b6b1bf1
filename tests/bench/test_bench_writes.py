"""The benchmark of writes at a small scale. Every benchmark compares rows before it measures."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from .harness import need, run


def harness(*arguments: str | Path, script: str = "writing.py") -> subprocess.CompletedProcess[str]:
    need("deltalake")
    return run(script, "--scale", "0.001", *arguments)


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables")


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
