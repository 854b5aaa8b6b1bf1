"""The share of tests that runs, of those that ask one question of many tables or that another part has."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from tests.seed import generator

VARIABLE = "GOLDEN_SHARE"


def leave_out(
    config: pytest.Config,
    items: list[pytest.Item],
    is_one: Callable[[pytest.Item], bool],
    usual: int = 1,
    variable: str = VARIABLE,
) -> None:
    """Deselects tests, so that one of `GOLDEN_SHARE`, or of `usual`, runs; the seed decides which."""
    share = int(os.environ.get(variable) or usual)
    left_out = [item for item in items if is_one(item) and generator(item.nodeid).randrange(share) != 0]
    names = {item.nodeid for item in left_out}
    items[:] = [item for item in items if item.nodeid not in names]
    config.hook.pytest_deselected(items=left_out)
