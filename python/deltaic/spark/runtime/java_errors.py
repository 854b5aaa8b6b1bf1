"""Errors of the JVM that deltaic reports with errors of its own.

PySpark converts some JVM errors to Python errors in one function, and leaves others to Py4J: the user would
see the failed call. There is no hook for custom errors, so that function is wrapped.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from pyspark.errors.exceptions import captured

__all__ = ["causes", "explain_errors", "is_instance"]

# Maximum length of the chain of causes that is searched.
_DEPTH = 20

Explainer = Callable[[Any], "Exception | None"]
"""Returns the error to raise instead of a JVM error; None if it is of another kind."""


def explain_errors(explainer: Explainer) -> None:
    """Adds an explainer to PySpark's error converter, once per process."""
    converter: Any = captured.convert_exception
    if not isinstance(converter, _Converter):
        converter = _Converter(converter)
        captured.convert_exception = converter
    if explainer not in converter.explainers:
        converter.explainers.append(explainer)


class _Converter:
    """PySpark's converter, extended by errors that deltaic can explain."""

    def __init__(self, original: Callable[[Any], Any]) -> None:
        self._original = original
        self.explainers: list[Explainer] = []

    def __call__(self, error: Any) -> Any:
        for explain in self.explainers:
            if (found := explain(error)) is not None:
                return found
        return self._original(error)


def causes(error: Any) -> list[Any]:
    """Returns a JVM error and its causes."""
    found: list[Any] = []
    while error is not None and len(found) < _DEPTH:
        found.append(error)
        error = error.getCause()
    return found


def is_instance(error: Any, name: str) -> bool:
    """Whether a JVM object is an instance of a class."""
    from pyspark import SparkContext

    is_instance_of: Any = import_module("py4j.java_gateway").is_instance_of  # py4j has no types
    gateway = SparkContext._gateway  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] - no public way
    return gateway is not None and is_instance_of(gateway, error, name)
