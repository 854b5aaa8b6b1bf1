"""Reports a data file that was deleted after `load`, instead of Spark's advice to refresh."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from deltaic.exceptions import CorruptData
from deltaic.spark.native.report import report_of_file
from deltaic.spark.runtime.java_errors import causes, explain_errors, is_instance

__all__ = ["report_missing_files"]

_MISSING = "FAILED_READ_FILE.FILE_NOT_EXIST"
_THROWABLE = "org.apache.spark.SparkThrowable"


def report_missing_files() -> None:
    """Explains missing files of native scans in classic sessions."""
    explain_errors(_missing_file)


def _missing_file(error: Any) -> CorruptData | None:
    for each in causes(error):
        if is_instance(each, _THROWABLE) and each.getCondition() == _MISSING:
            return _missing_file_error(unquote(each.getMessageParameters().get("path")))
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
