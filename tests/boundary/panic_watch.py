"""A pytest plugin that fails every test in which deltaic panicked, on any thread and however it was handled.

Otherwise a panic on a detached thread, or one mistaken for a damaged file, goes unnoticed. Needs the
development build; with another build it does nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from deltaic import _rust

MARKER = "breaks_off: deltaic breaks off in this test, by intent"
_seen = 0


def fresh() -> list[str]:
    """Returns the locations of panics since the last call."""
    global _seen  # noqa: PLW0603 (one list per process, like the extension's)
    panics = getattr(_rust, "panics", list)()
    found = panics[_seen:]
    _seen = len(panics)
    return found


def pytest_configure(config: pytest.Config) -> None:
    """Registers the marker."""
    config.addinivalue_line("markers", MARKER)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Checks a test after it has finished, including its fixtures."""
    outcome = yield
    report: pytest.TestReport = outcome.get_result()  # type: ignore[attr-defined]
    found = fresh()
    if found and item.get_closest_marker("breaks_off") is None:
        report.outcome = "failed"
        report.longrepr = f"deltaic broke off at {', '.join(found)}"
