"""The option that rewrites the expectations, the share of the tests that runs, and the counts at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from .share import leave_out

FOLDER = Path(__file__).parent
VERDICT = "golden verdict"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write what each golden table turned out to be to tests/golden/expectations.json",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    leave_out(config, items, is_for_one_table)


def is_for_one_table(item: pytest.Item) -> bool:
    """Tests without a parameter, such as those that count tables, always run."""
    return item.path.parent == FOLDER and hasattr(item, "callspec")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    counts = Counter(_verdicts(terminalreporter))
    if counts:
        terminalreporter.write_line(
            f"golden tables: {counts['read']} read, {counts['refused']} refused, {counts['error']} damaged"
        )


def _verdicts(terminalreporter: pytest.TerminalReporter) -> Iterator[str]:
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, value in getattr(report, "user_properties", ()):
                if name == VERDICT and report.when == "call":
                    yield str(value).partition(":")[0]
