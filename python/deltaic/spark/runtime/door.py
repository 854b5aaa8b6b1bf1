"""The operations that Spark asks of Python, and their errors.

An exception of an operation stays in this process: Java gets a token, and what PySpark raises in the end is
the exception itself.
"""

from __future__ import annotations

import uuid
from collections import OrderedDict
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

from deltaic.spark.runtime.java_errors import causes, explain_errors

__all__ = ["Door"]

_MARK = "\0"
# Exceptions that Spark has not yet handed back; older ones are forgotten.
_MOST = 1000


class Door:
    """Operations by name, as a `java.util.function.Function` of a list of the name and its arguments."""

    class Java:
        """How py4j knows what it implements."""

        implements = ("java.util.function.Function",)

    def __init__(self, operations: Mapping[str, Callable[..., Any]]) -> None:
        self._operations = operations
        self._errors: OrderedDict[str, Exception] = OrderedDict()
        self._lock = Lock()

    def connect(self, classes: Any) -> None:
        """Lets the classes of a JVM call the operations, and PySpark raise their exceptions."""
        classes.Door.connect(self)
        explain_errors(self._raised)

    def apply(self, arguments: Any) -> Any:
        """Runs an operation. An exception must not reach py4j, which would print it and answer text."""
        operation, *rest = (arguments[index] for index in range(arguments.size()))
        try:
            return self._operations[operation](*rest)
        except Exception as error:  # noqa: BLE001
            token = uuid.uuid4().hex
            with self._lock:
                self._errors[token] = error
                while len(self._errors) > _MOST:
                    self._errors.popitem(last=False)
            return f"{_MARK}{token}{_MARK}{type(error).__name__}: {error}"

    def _raised(self, error: Any) -> Exception | None:
        for each in causes(error):
            if each.getClass().getSimpleName() == "DeltaicError":
                with self._lock:
                    # Spark may raise one error several times.
                    return self._errors.get(each.getToken())
        return None
