"""The library that names the steps of verbs; it is compiled once."""

from __future__ import annotations

from pathlib import Path

import pytest

from .preload import STEPS, compiled


@pytest.fixture(scope="session")
def preloaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that kills or stalls a process at a step, and sets its clock."""
    return compiled(STEPS, tmp_path_factory.mktemp("steps"))
