"""Optional packages, imported on first use."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["require"]


def require(package: str, purpose: str) -> Any:  # Any: pyarrow and pandas ship no types
    """Imports an optional package; the error names what to install.

    Args:
        package: The name of the module, which is also the name of the package to install.
        purpose: What requires it, as the subject of a sentence: ``"Scan.to_polars()"``.

    Raises:
        ImportError: The package is not installed.
    """
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise ImportError(
            f"{purpose} needs the package {package}, which is not installed: pip install {package}",
            name=package,
        ) from error
