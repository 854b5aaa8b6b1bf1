"""Reports a data file that was deleted after `load` with deltaic's own error.

PySpark converts some JVM errors to Python errors in one function, but not this one: the user would see the
failed call, and Spark's advice to refresh a table. There is no hook for custom errors, so that function is
wrapped.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any
from urllib.parse import unquote

from pyspark.errors.exceptions import captured

from deltaic.exceptions import CorruptData
from deltaic.spark.native.report import report_of_file

__all__ = ["report_missing_files"]

_MISSING = "FAILED_READ_FILE.FILE_NOT_EXIST"
_THROWABLE = "org.apache.spark.SparkThrowable"
# Maximum length of the chain of causes that is searched.
_DEPTH = 20


def report_missing_files() -> None:
    """Wraps PySpark's error converter for native scans in classic sessions; once per process."""
    # PySpark's type declares only its own function here.
    if not isinstance(captured.convert_exception, _Converter):  # pyright: ignore[reportUnnecessaryIsInstance]
        captured.convert_exception = _Converter(captured.convert_exception)


class _Converter:
    """PySpark's converter, extended by errors that it leaves to Py4J and deltaic can explain."""

    def __init__(self, original: Callable[[Any], Any]) -> None:
        self._original = original

    def __call__(self, error: Any) -> Any:
        converted = self._original(error)
        if isinstance(converted, captured.UnknownException):
            return _missing_file_in_causes(error) or converted
        return converted


def _missing_file_in_causes(error: Any) -> CorruptData | None:
    from pyspark import SparkContext

    is_instance_of: Any = import_module("py4j.java_gateway").is_instance_of  # py4j has no types
    gateway = SparkContext._gateway  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - no public way
    for _ in range(_DEPTH):
        if error is None or gateway is None:
            return None
        if is_instance_of(gateway, error, _THROWABLE) and error.getCondition() == _MISSING:
            return _missing_file_error(unquote(error.getMessageParameters().get("path")))
        error = error.getCause()
    return None


def _missing_file_error(path: str) -> CorruptData | None:
    report = report_of_file(path)
    if report is None:
        return None
    return CorruptData(
        f"a data file is missing, but the log references it: {path}",
        context={"path": path, "table": report.table, "version": report.version},
        hint="restore the file; if a vacuum removed it, load the table again",
    )
