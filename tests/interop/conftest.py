"""Tables that deltaic writes, for another implementation to read.

deltalake is installed in the default environment, delta-spark in a separate one: each environment collects
the tests of the implementation that it has.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from . import pairs, written

TOP = Path(__file__).resolve().parents[2]
BESIDE_DELTA_SPARK = Path(sys.prefix) == TOP / ".envs" / "interop"

OF_DELTA_SPARK = [
    "test_merge_rules.py",
    "test_merges.py",
    "test_programs.py",
    "test_delta_spark.py",
    "test_delta_spark_streams.py",
    "test_conflict_pairs.py",
    "test_writer_features.py",
]

collect_ignore = ["test_deltalake.py"] if BESIDE_DELTA_SPARK else OF_DELTA_SPARK


@pytest.fixture(scope="session")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the tables of `written`."""
    folder = tmp_path_factory.mktemp("ours")
    written.write(folder)
    return folder


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the tables of the demo."""
    python = TOP / ".venv" / "bin" / "python"
    if not python.exists():
        pytest.skip("missing: .venv for the demo, which `make develop` makes")
    folder = tmp_path_factory.mktemp("demo")
    command = [python, TOP / "examples" / "flights.py", "--no-spark", "--out", folder]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return folder


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints how many of the conflict pairs were run; the seed is printed with the summary."""
    if BESIDE_DELTA_SPARK:
        terminalreporter.line(f"conflict pairs: {len(pairs.chosen())} of {len(pairs.every_pair())}")
