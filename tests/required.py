"""What tests require of the machine: without it a test is skipped, in CI (`CI=true`) it fails.

A reason to skip that begins with `missing: ` names something that CI must provide, such as `../shared`, Java,
Maven or a server. Other reasons, such as the platform, are skips in CI too.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import Any, NoReturn

import pytest

MISSING = "missing: "
# A parameter list made from `../shared` is empty without it.
EMPTY_PARAMETERS = "got empty parameter set"
# Set where the tests run with an installed release wheel.
RELEASE_WHEEL = "DELTAIC_RELEASE_WHEEL"


def skip_without_development_build(feature: str) -> NoReturn:
    """Skips a test that needs a feature of the extension that only development builds have."""
    if os.environ.get(RELEASE_WHEEL):
        pytest.skip(f"expected: release wheels do not have the feature `{feature}`")
    pytest.skip(f"{MISSING}an extension with the feature `{feature}`, which `make develop` builds")


def is_required(reason: str) -> bool:
    """Whether CI must provide what a test was skipped for."""
    reason = reason.removeprefix("Skipped: ")
    return bool(os.environ.get("CI")) and reason.startswith((MISSING, EMPTY_PARAMETERS))


def _fail_if_required(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.outcome == "skipped" and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if is_required(reason):
            report.outcome = "failed"
            report.longrepr = f"CI requires it: {reason.removeprefix('Skipped: ')}"


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, Any, pytest.TestReport]:
    """Turns a skip for something that CI must provide into a failure."""
    report: pytest.TestReport = yield
    _fail_if_required(report)
    return report


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_make_collect_report() -> Generator[None, Any, pytest.CollectReport]:
    """The same for a module that is skipped as a whole."""
    report: pytest.CollectReport = yield
    _fail_if_required(report)
    return report
