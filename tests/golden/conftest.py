"""The option that rewrites the expectations, the share of the tests that runs, and the counts at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.share import leave_out

FOLDER = Path(__file__).parent
# Of the tests of these files, one of so many runs; `make test-spark-matrix` and `make explore` run all.
USUAL = {
    "test_append_to_all.py": 2,
    "test_compactions.py": 3,
    "test_history.py": 2,
    "test_last_checkpoint_forms.py": 3,
    "test_predicates.py": 2,
    "test_refreshed.py": 3,
    "test_version_checksums.py": 3,
}
OUTCOME = "golden outcome"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write what each golden table turned out to be to tests/golden/expectations.json",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for name in {item.path.name for item in items if is_for_one_table(item)}:
        leave_out(config, items, partial(is_in, name), usual=USUAL.get(name, 1))


def is_in(name: str, item: pytest.Item) -> bool:
    return is_for_one_table(item) and item.path.name == name


def is_for_one_table(item: pytest.Item) -> bool:
    """Tests without a parameter, such as those that count tables, always run."""
    return item.path.parent == FOLDER and hasattr(item, "callspec")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    counts = Counter(_outcomes(terminalreporter))
    if counts:
        terminalreporter.write_line(
            f"golden tables: {counts['read']} read, {counts['refused']} refused, {counts['error']} damaged"
        )


def _outcomes(terminalreporter: pytest.TerminalReporter) -> Iterator[str]:
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, value in getattr(report, "user_properties", ()):
                if name == OUTCOME and report.when == "call":
                    yield str(value).partition(":")[0]
