"""Log records: which there are, their times, and that they can fail nothing."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic

ROWS = pa.table({"id": [1, 2, 3]})
TIMED = re.compile(r" \((\d+\.\d ms|\d+\.\d\d s)\)$")


@pytest.fixture(autouse=True)
def disabled() -> Iterator[None]:
    logger = logging.getLogger("deltaic")
    yield
    deltaic.disable_logging()
    logger.setLevel(logging.NOTSET)
    logger.handlers.clear()


def names(records: list[logging.LogRecord]) -> set[tuple[str, str]]:
    """The logger and the operation of each record."""
    return {(record.name, record.getMessage().split(" table=")[0]) for record in records}


def test_each_operation_is_recorded_with_its_time(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    table = deltaic.Table.create(tmp_path, ROWS.schema)
    deltaic.enable_logging("INFO")
    table.append(ROWS)
    assert table.snapshot().scan(predicate="id > 1").to_arrow().num_rows == 2
    table.checkpoint()
    found = names(caplog.records)
    assert {("deltaic.commit", "commit"), ("deltaic.scan", "plan scan")} <= found
    assert {name for name, _ in found} == {
        "deltaic.commit",
        "deltaic.log",
        "deltaic.maintenance",
        "deltaic.scan",
    }
    for record in caplog.records:
        assert record.levelno == logging.INFO
        assert TIMED.search(record.getMessage()), record.getMessage()
    [planned] = [r.getMessage() for r in caplog.records if r.getMessage().startswith("plan scan")]
    assert "version=1 files=1 after_partitions=1 after_statistics=1" in planned
    [scanned] = [r.getMessage() for r in caplog.records if r.getMessage().startswith("scan ")]
    assert "files=1 rows=2 batches=1" in scanned


def test_debug_adds_the_steps(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    table = deltaic.Table.create(tmp_path, ROWS.schema)
    deltaic.enable_logging("DEBUG")
    table.append(ROWS)
    deltaic.Table(tmp_path).snapshot().scan().to_arrow()
    messages = [record.getMessage() for record in caplog.records if record.levelno == logging.DEBUG]
    assert any(message.startswith("proposed version 1 outcome=Committed") for message in messages)
    assert any(message.startswith("replay log version=1") for message in messages)
    assert any(message.startswith("open file path=") for message in messages)


def test_the_level_is_that_of_the_logger(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("deltaic").setLevel(logging.DEBUG)
    deltaic.enable_logging()
    deltaic.Table.create(tmp_path, ROWS.schema)
    assert any(record.levelno == logging.DEBUG for record in caplog.records)
    with pytest.raises(ValueError, match="LOUD"):
        deltaic.enable_logging("LOUD")


def test_nothing_is_recorded_unless_it_is_enabled(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("deltaic").setLevel(logging.DEBUG)
    table = deltaic.Table.create(tmp_path, ROWS.schema)
    deltaic.enable_logging("DEBUG")
    deltaic.disable_logging()
    table.append(ROWS)
    assert not caplog.records


class Failing(logging.Handler):
    """A handler that raises."""

    def emit(self, record: logging.LogRecord) -> None:
        raise OSError(record.getMessage())


def test_a_failing_handler_does_not_fail_a_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unraisable: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda hook: unraisable.append(hook.exc_value))
    table = deltaic.Table.create(tmp_path, ROWS.schema)
    logging.getLogger("deltaic").addHandler(Failing())
    deltaic.enable_logging("INFO")
    assert table.append(ROWS).version == 1
    assert all(isinstance(error, OSError) for error in unraisable)
    assert unraisable


def test_without_a_handler_records_go_to_standard_error(tmp_path: Path) -> None:
    program = (
        "import deltaic, pyarrow, sys\n"
        "deltaic.enable_logging()\n"
        "deltaic.Table.create(sys.argv[1], pyarrow.schema([('id', pyarrow.int64())]))\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert ended.stdout == ""
    assert re.search(r" INFO  deltaic\.commit: commit table=file:///\S+ version=0 \(", ended.stderr), (
        ended.stderr
    )
