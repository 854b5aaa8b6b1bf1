"""Tests that run again because Spark waited too short a time for a Python process."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

# Spark waits 10 s until a Python process that it started has connected, and no setting changes that. What a
# busy machine does in that time is no answer about deltaic.
ERROR = "Python worker failed to connect back"


def rerun_slow_starts(items: Iterable[pytest.Item], folder: Path) -> None:
    """Run a test of the folder up to three times if it ends with this error."""
    for item in items:
        if folder in item.path.parents:
            item.add_marker(pytest.mark.flaky(reruns=2, only_rerun=[ERROR]))
