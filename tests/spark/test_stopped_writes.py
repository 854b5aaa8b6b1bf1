"""A write that is stopped leaves no version, and no file of a task that had finished."""

from __future__ import annotations

from pathlib import Path

import pytest

from . import own_process

pytest.importorskip("pyspark", reason="missing: PySpark")


def test_nothing_of_a_stopped_write_remains(tmp_path: Path) -> None:
    """A process of its own, because Ctrl-C is a signal to a process. Version 0 is the empty table."""
    assert own_process.run("stopped_writer", str(tmp_path)) == {
        "group": ["Py4JJavaError", 0, 0, 0],
        "group, format": ["Py4JJavaError", 0, 0, 0],
        "interrupt": ["KeyboardInterrupt", 0, 0, 0],
        "in the end": [0, 0, 0],
    }
