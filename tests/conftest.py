"""Fixtures and hooks for all tests, such as the folder next to the project with tables of other writers."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from tests.random_suites import SHARE
from tests.seed import VARIABLE, export_seed
from tests.share import leave_out

# Checks that apply to every test of the suite.
pytest_plugins = ["tests.boundary.panic_watch", "tests.boundary.secret_watch", "tests.required"]

SHARED = Path(__file__).resolve().parent.parent.parent / "shared"


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Seeds every random test of this process from `tests/seed.py`, including Hypothesis."""
    seed = export_seed()
    # The environments for other versions of Spark do not have Hypothesis.
    if config.pluginmanager.hasplugin("hypothesispytest"):
        from tests import hypothesis_profile

        hypothesis_profile.load()
        if config.option.hypothesis_seed is None:
            config.option.hypothesis_seed = str(seed)


@pytest.fixture(scope="session")
def shared() -> Path:
    """Returns the folder `../shared` next to the project: requirements of the protocol and golden tables."""
    if not SHARED.is_dir():
        pytest.skip("missing: ../shared beside the project")
    return SHARED.resolve()


@pytest.fixture(scope="session")
def golden_root(shared: Path) -> Path:
    """Returns the folder of the golden tables; read only, a test that writes copies the table first."""
    root = shared / "golden"
    if not root.is_dir():
        pytest.skip("missing: ../shared/golden beside the project")
    return root


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Requires that an expected failure names its exception, so that no other failure is accepted.

    `make explore` runs a share of the parametrized tests.
    """
    leave_out(config, items, lambda item: hasattr(item, "callspec"), variable=SHARE)
    for item in items:
        for mark in item.iter_markers("xfail"):
            if "raises" not in mark.kwargs or mark.kwargs.get("strict") is False:
                raise pytest.UsageError(f"{item.nodeid}: xfail needs raises=, and must be strict")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints the seed, and counts the skips by reason: a hundred tests without Java are one line."""
    terminalreporter.line(f"{VARIABLE}={os.environ[VARIABLE]}")
    reasons: Counter[str] = Counter()
    for report in terminalreporter.getreports("skipped"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reasons[reason.removeprefix("Skipped: ")] += 1
    if reasons:
        terminalreporter.section("skipped")
        for reason, count in reasons.most_common():
            terminalreporter.line(f"{count:>5}  {reason}")
