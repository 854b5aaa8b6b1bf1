"""Plants secrets for the whole session and fails every test that leaks one.

A pytest plugin for all parts of the Python tests. It checks every error and warning of deltaic on creation,
every exception that a test expects, every log record, every repr of a table and its objects, the output of
subprocesses, and each report with captured output and traceback. Findings are reported without the secret.
A credential that it cannot recognize is a failure too.
"""

from __future__ import annotations

import functools
import logging
import os
import re
import subprocess
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping

import pytest

import deltaic
from deltaic import exceptions

from .planted import ENVIRONMENT, found_in

# Option names with a credential as their value, and names that only refer to its location.
CREDENTIAL = re.compile(r"secret|(access|account|customer|encryption)_key|key_id|token|sas\b|_sas_|password")
PLACE = re.compile(r"_(file|endpoint|provider|uri|type|host)\b")
# A shorter value would be found in any text.
SHORTEST = 6

_found: list[str] = []


def look_into(text: object, where: str) -> None:
    """Records each secret in a text."""
    text = text.decode(errors="replace") if isinstance(text, bytes) else str(text)
    _found.extend(f"{what} stands in {where}" for what in found_in(text))


def look_into_error(error: BaseException, where: str) -> None:
    """Checks all texts of an error: message, repr, hint, context, notes and causes."""
    told = [str(error), repr(error), *(getattr(error, "__notes__", []))]
    told += [repr(getattr(error, name, "")) for name in ("hint", "context")]
    told += traceback.TracebackException.from_exception(error).format_exception_only()
    look_into("\n".join(told), f"{where} ({type(error).__name__})")
    for other in (error.__cause__, error.__context__):
        if other is not None and other is not error:
            look_into_error(other, f"what {where} comes from")


def look_into_options(options: object) -> None:
    """Records each credential that the watch could not detect: no test may use one."""
    if not isinstance(options, Mapping):
        return
    for name, value in options.items():
        plain = str(name).lower().replace(".", "_")
        is_credential = CREDENTIAL.search(plain) and not PLACE.search(plain)
        if is_credential and len(str(value)) >= SHORTEST and not found_in(str(value)):
            _found.append(f"the option {name} of a test has a value that this watch does not know")


class _Records(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        look_into(record.getMessage(), f"a log record of {record.name}")
        if record.exc_info and record.exc_info[1] is not None:
            look_into_error(record.exc_info[1], f"a log record of {record.name}")


def _after(method: Callable[..., object], look: Callable[..., object]) -> Callable[..., object]:
    @functools.wraps(method)
    def both(self: object, *args: object, **named: object) -> object:
        answer = method(self, *args, **named)
        look(self, answer)
        return answer

    return both


def _before(opening: Callable[..., object], look: Callable[[object], None]) -> Callable[..., object]:
    @functools.wraps(opening)
    def both(uri: object, storage_options: object = None, **named: object) -> object:
        look(storage_options)
        return opening(uri, storage_options, **named)

    return both


def pytest_configure() -> None:
    """Plants the secrets and hooks all outputs."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    logging.getLogger().addHandler(_Records())
    patches = [
        (exceptions.DeltaicError, "__init__", lambda self, _: look_into_error(self, "an error")),
        (exceptions.DeltaicWarning, "__init__", lambda self, _: look_into(self, "a warning")),
        (subprocess.CompletedProcess, "__init__", _look_into_process),
        (pytest.ExceptionInfo, "fill_unfilled", lambda self, _: look_into_error(self.value, "an exception")),
        (deltaic.Snapshot, "__repr__", lambda _, text: look_into(text, "a snapshot's repr")),
    ]
    patches += [
        (made, "__init__", lambda self, _: look_into(repr(self), f"the repr of a {type(self).__name__}"))
        for made in (deltaic.Table, deltaic.Scan, deltaic.ScanTask)
    ]
    for owner, name, look in patches:
        setattr(owner, name, _after(getattr(owner, name), look))
    # The only function that opens a store, for tables and for calls without a table.
    for module in (deltaic.table, deltaic.writing.create):
        module.open_location = _before(module.open_location, look_into_options)


def _look_into_process(self: subprocess.CompletedProcess[object], _: object) -> None:
    look_into(self.stdout, "what a subprocess printed")
    look_into(self.stderr, "what a subprocess printed")


def pytest_warning_recorded(warning_message: warnings.WarningMessage) -> None:
    """Checks a warning from any source."""
    look_into(warning_message.message, "a warning")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    """Checks the texts of a test and its fixtures so far."""
    outcome = yield
    report: pytest.TestReport = outcome.get_result()  # type: ignore[attr-defined]
    for name, text in report.sections:
        look_into(text, name.lower())
    if report.failed:
        look_into(report.longreprtext, "the traceback")
    if _found:
        report.outcome = "failed"
        report.longrepr = "a secret was told:\n" + "\n".join(dict.fromkeys(_found))
        report.sections = []
        _found.clear()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Findings after the last test count too."""
    if _found:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        _found.clear()
