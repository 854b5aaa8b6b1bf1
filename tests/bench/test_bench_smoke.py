"""The benchmark's frame at a small scale: answers are checked, times never."""

from __future__ import annotations

import filecmp
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

HARNESS = Path(__file__).resolve().parents[2] / "benches" / "python"
WORKLOADS = sorted((HARNESS.parent / "workloads").glob("*.json"))


def harness(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(HARNESS / "run.py"), *arguments], capture_output=True, text=True, check=False
    )


def need_peers() -> None:
    if importlib.util.find_spec("deltalake") is None:
        pytest.skip("deltalake, the peer, is not installed")


def test_every_peer_answers_what_the_manifest_says(tmp_path: Path) -> None:
    need_peers()
    done = harness("--check", "--scale", "0.01", "--tables", str(tmp_path))
    assert done.returncode == 0, done.stderr
    for path in WORKLOADS:
        workload = json.loads(path.read_text())
        for peer in workload["peers"]:
            assert f"{workload['name']}: {peer} " in done.stdout


def test_a_wrong_answer_is_not_timed(tmp_path: Path) -> None:
    need_peers()
    assert harness("--check", "--scale", "0.001", "--tables", str(tmp_path)).returncode == 0
    for manifest in tmp_path.glob("*/manifest.json"):
        content = json.loads(manifest.read_text())
        manifest.write_text(json.dumps({**content, "num_files": content["num_files"] + 1}))
    done = harness("--scale", "0.001", "--tables", str(tmp_path))
    assert done.returncode == 1
    assert "wrong answer" in done.stderr


def test_the_report_has_a_line_for_each_peer(tmp_path: Path) -> None:
    need_peers()
    page, figures = tmp_path / "page.md", tmp_path / "figures.json"
    options = ["--markdown", str(page), "--json", str(figures), "--tables", str(tmp_path)]
    done = harness("--scale", "0.001", "--repeat", "1", *options)
    assert done.returncode == 0, done.stderr
    lines = json.loads(figures.read_text())["lines"]
    assert {line["peer"] for line in lines} == {
        peer for path in WORKLOADS for peer in json.loads(path.read_text())["peers"]
    }
    assert all(line["ratios"]["wall"] == 1 for line in lines if line["peer"] == "deltaic")
    assert all(f"| {line['peer']} {line['release']} |" in page.read_text() for line in lines)


def test_a_table_is_the_same_bytes_every_time(tmp_path: Path) -> None:
    """Else two runs of the benchmark measure two tables."""
    program = (
        "import sys; from pathlib import Path; from generate import generate; from workload import read_all\n"
        "generate(read_all()[0].scaled(0.002).table, Path(sys.argv[1]))"
    )
    for name in ("one", "two"):
        subprocess.run([sys.executable, "-c", program, str(tmp_path / name)], cwd=HARNESS, check=True)
    names = [path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*") if path.is_file()]
    assert len(names) > 20
    same, other, failed = filecmp.cmpfiles(tmp_path / "one", tmp_path / "two", names, shallow=False)
    assert (len(same), other, failed) == (len(names), [], [])
