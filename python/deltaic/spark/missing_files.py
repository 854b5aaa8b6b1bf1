"""A data file that went after `load`, told by deltaic's own error where Spark's reader finds it missing.

PySpark makes Python errors of a few of the JVM's, in one function for all calls, and none of this one: the
user would see which call failed, and Spark's advice to refresh a table. It has no door for an error of one's
own, so that function is put inside another one.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any
from urllib.parse import unquote

from pyspark.errors.exceptions import captured

from deltaic.exceptions import CorruptData
from deltaic.spark.report import report_of_file

__all__ = ["tell_missing_files"]

_MISSING = "FAILED_READ_FILE.FILE_NOT_EXIST"
_THROWABLE = "org.apache.spark.SparkThrowable"
# Causes that are looked at, one within the other.
_DEPTH = 20


def tell_missing_files() -> None:
    """Lets a classic session tell of files of tables that are read natively; once for a process."""
    # PySpark says that its own function is all that can stand there.
    if not isinstance(captured.convert_exception, _Converter):  # pyright: ignore[reportUnnecessaryIsInstance]
        captured.convert_exception = _Converter(captured.convert_exception)


class _Converter:
    """PySpark's own converter, but for what it leaves to Py4J and deltaic can tell."""

    def __init__(self, original: Callable[[Any], Any]) -> None:
        self._original = original

    def __call__(self, error: Any) -> Any:
        converted = self._original(error)
        if isinstance(converted, captured.UnknownException):
            return _missing(error) or converted
        return converted


def _missing(error: Any) -> CorruptData | None:
    from pyspark import SparkContext

    is_instance_of: Any = import_module("py4j.java_gateway").is_instance_of  # py4j has no types
    gateway = SparkContext._gateway  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - no public way
    for _ in range(_DEPTH):
        if error is None or gateway is None:
            return None
        if is_instance_of(gateway, error, _THROWABLE) and error.getCondition() == _MISSING:
            return _told(unquote(error.getMessageParameters().get("path")))
        error = error.getCause()
    return None


def _told(path: str) -> CorruptData | None:
    report = report_of_file(path)
    if report is None:
        return None
    return CorruptData(
        f"a data file is missing: the log names it, and it is not there: {path}",
        context={"path": path, "table": report.table, "version": report.version},
        hint="restore the file; if a vacuum removed it, load the table again",
    )
