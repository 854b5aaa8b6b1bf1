"""Fails every test in which deltaic broke off, wherever that was and whatever became of it.

A pytest plugin. A panic on a thread that nobody waits for, or one that was taken for a damaged file, is
told to nobody else. Needs the development build; with another one it watches nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from deltaic import _rust

MARKER = "breaks_off: deltaic breaks off in this test, by intent"
_seen = 0


def fresh() -> list[str]:
    """Where deltaic broke off since this was last asked."""
    global _seen  # noqa: PLW0603 (one list for the whole process, as the extension has it)
    panics = getattr(_rust, "panics", list)()
    found = panics[_seen:]
    _seen = len(panics)
    return found


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", MARKER)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Judge a test when it is over, and its fixtures too."""
    outcome = yield
    report: pytest.TestReport = outcome.get_result()  # type: ignore[attr-defined]
    found = fresh()
    if found and item.get_closest_marker("breaks_off") is None:
        report.outcome = "failed"
        report.longrepr = f"deltaic broke off at {', '.join(found)}"
