"""A write that is stopped leaves no version, and no file of a task that had finished."""

from __future__ import annotations

from pathlib import Path

import pytest

from . import own_process

pytest.importorskip("pyspark", reason="missing: PySpark")

# The version of the empty table, no rows, and no files.
NOTHING = [0, 0, 0]


def test_nothing_of_a_stopped_write_remains(tmp_path: Path) -> None:
    """A process of its own, because Ctrl-C is a signal to a process."""
    told = own_process.run("stopped_writer", str(tmp_path))
    raised = {name: each.pop(0) for name, each in told.items() if name != "in the end"}
    # PySpark 4.0 replaces the exception of Ctrl-C by one of its own.
    assert raised.pop("interrupt") in ("KeyboardInterrupt", "Py4JError")
    groups = ("group", "group, format", "group, as Arrow data")
    assert raised == dict.fromkeys(groups, "Py4JJavaError")
    assert told == dict.fromkeys((*groups, "interrupt", "in the end"), NOTHING)
