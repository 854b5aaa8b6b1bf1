"""Tables that deltaic writes, for another implementation to read.

deltalake is installed in the default environment, delta-spark in a separate one: each environment collects
the tests of the implementation that it has.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.share import leave_out
from tests.spark.restored import restored
from tests.spark.slow_start import rerun_slow_starts

from . import delta_spark, pairs, written

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TOP = Path(__file__).resolve().parents[2]
BESIDE_DELTA_SPARK = Path(sys.prefix) == TOP / ".envs" / "interop"

FOLDER = Path(__file__).parent
# The tests of clients that the default environment has. All others need delta-spark.
OF_OTHER_CLIENTS = ["test_deltalake.py", "test_deltalake_maintenance.py", "test_known_clients.py"]
OF_DELTA_SPARK = [path.name for path in FOLDER.glob("test_*.py") if path.name not in OF_OTHER_CLIENTS]

collect_ignore = OF_OTHER_CLIENTS if BESIDE_DELTA_SPARK else OF_DELTA_SPARK


# Of these tests one of two runs: each case repeats another one's question with another table.
HALVED = (
    "test_a_loser_and_its_winning_commits",
    "test_both_change_clones",
    "test_both_make_the_same_clone",
    "test_both_write_in_turn",
    "test_files_of_maintenance_after_appends",
    "test_programs",
    "test_skipping_by_our_statistics_loses_nothing",
    "test_tables_after_maintenance",
    "test_the_same_files",
)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # What delta-spark does by the rules of merges depends little on deltaic.
    leave_out(config, items, lambda item: item.path.name == "test_merge_rules.py", usual=4)
    leave_out(config, items, is_halved, usual=2)
    rerun_slow_starts(items, FOLDER)


def is_halved(item: pytest.Item) -> bool:
    return item.name.partition("[")[0] in HALVED and FOLDER in item.path.parents


@pytest.fixture(scope="session")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The session with delta-spark for all tests of a process."""
    started = delta_spark.start(tmp_path_factory.mktemp("warehouse"))
    yield started
    started.stop()


@pytest.fixture(scope="module")
def spark(session: SparkSession) -> Iterator[SparkSession]:
    """The session; the settings that a module changes are restored."""
    with restored(session):
        yield session


@pytest.fixture(autouse=BESIDE_DELTA_SPARK)
def _clear_the_cache_of_delta_spark() -> Iterator[None]:
    """The snapshots of the tables of 150 programs would not fit in the memory of the JVM."""
    from pyspark.sql import SparkSession

    yield
    session = SparkSession.getActiveSession()
    if session is not None:
        session._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()


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
