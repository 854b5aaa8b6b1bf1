"""One small Spark session for all tests of a process."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.share import leave_out

from . import java
from .restored import restored
from .slow_start import rerun_slow_starts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Settings = Callable[[Mapping[str, str]], AbstractContextManager[None]]


def pytest_configure(config: pytest.Config) -> None:
    # Spark 4.0 does not close its sockets explicitly; Spark 4.3 warns about the installed pandas.
    config.addinivalue_line("filterwarnings", "ignore:unclosed:ResourceWarning")
    config.addinivalue_line("filterwarnings", "ignore:PySpark does not yet fully support pandas")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    leave_out(config, items, lambda item: item.path.name == "test_golden.py")
    # The data source reads the same tables in another way.
    leave_out(config, items, lambda item: item.path.name == "test_golden_source.py", usual=4)
    leave_out(config, items, lambda item: item.path.name == "test_golden_enabled.py", usual=4)
    leave_out(
        config, items, lambda item: item.name.startswith("test_expressions_are_those_of_spark"), usual=2
    )
    rerun_slow_starts(items, Path(__file__).parent)


@pytest.fixture(scope="session")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    pytest.importorskip("pyspark", reason="missing: PySpark")
    if not java.is_installed():
        pytest.skip("missing: Java, for Spark")
    from pyspark.sql import SparkSession

    # A JVM can open files with non-ASCII names only in a UTF-8 locale.
    os.environ["LC_ALL"] = "C.UTF-8"
    # Otherwise Spark's Python workers would use the first python3 on the path.
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # The Python processes of Spark write their temporary files there.
    os.environ["TMPDIR"] = str(tmp_path_factory.mktemp("temporary"))
    settings = {
        # A server of Spark Connect, which a test starts, gets a port that is free.
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": "0",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": java.SHORT,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.log.level": "ERROR",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    started = SparkSession.builder.master("local[2]").appName("tests").config(map=settings).getOrCreate()
    yield started
    started.stop()


@pytest.fixture(scope="module")
def spark(session: SparkSession) -> Iterator[SparkSession]:
    """The session; the settings that a module changes are restored."""
    with restored(session):
        yield session


@pytest.fixture(scope="module")
def small_queries(spark: SparkSession) -> SparkSession:
    """The session without compiled and adaptive queries, which take longer than queries of a few rows."""
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    spark.conf.set("spark.sql.codegen.wholeStage", "false")
    spark.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    return spark


@pytest.fixture
def settings(spark: SparkSession) -> Settings:
    """Changes session settings within a `with` block."""

    @contextmanager
    def changed(by_name: Mapping[str, str]) -> Iterator[None]:
        before = {name: spark.conf.get(name, None) for name in by_name}
        try:
            for name, value in by_name.items():
                spark.conf.set(name, value)
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    spark.conf.unset(name)
                else:
                    spark.conf.set(name, value)

    return changed
