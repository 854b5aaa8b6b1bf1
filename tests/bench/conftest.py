"""The share of the benchmarks' tests that runs."""

from __future__ import annotations

import pytest

from tests.share import leave_out


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    # Each measurement compares the answers first.
    leave_out(config, items, lambda item: item.name.startswith("test_the_peer_answers_right"), usual=4)
