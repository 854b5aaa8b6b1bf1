"""Spark's Python workers, which need this package for the data source: their Python, and its absence."""

from __future__ import annotations

import os
import re
import sys
from typing import Any

from deltaic.spark.runtime.java_errors import causes, explain_errors

__all__ = ["explain_missing_package", "use_python_of_driver"]

_PYTHON = "PYSPARK_PYTHON"
_MISSING = re.compile(r"ModuleNotFoundError: No module named 'deltaic'")


def use_python_of_driver(context: Any) -> None:
    """Lets workers on the driver's machine run its Python, unless the user has named another.

    PySpark runs the first ``python3`` of the path, which is seldom the one of a virtual environment, and
    reads the variable only when a context starts.
    """
    if str(context.master).startswith("local") and _PYTHON not in os.environ:
        context.pythonExec = sys.executable


def explain_missing_package() -> None:
    """Explains that workers lack the package, in classic sessions."""
    explain_errors(_missing_package)


def _missing_package(error: Any) -> ImportError | None:
    if not any(_MISSING.search(str(each.getMessage())) for each in causes(error)):
        return None
    return ImportError(
        "Spark's Python workers have no package deltaic: install it in the Python that they run, and set "
        "PYSPARK_PYTHON to that Python before the session starts",
        name="deltaic",
    )
