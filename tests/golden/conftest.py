"""The option that rewrites the expectations, and the counts printed at the end of the session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

VERDICT = "golden verdict"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write what each golden table turned out to be to tests/golden/expectations.json",
    )


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
