"""Errors of a Python worker, as shown to the user of the session."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager

from deltaic.exceptions import DeltaicError, InternalError

__all__ = ["readable_errors"]

# Set in the environment of each of Spark's Python workers.
_OF_A_WORKER = "SPARK_BUFFER_SIZE"
# Read by the worker after an exception, before it writes the text for the JVM.
_WITHOUT_TRACEBACK = "SPARK_HIDE_TRACEBACK"


@contextmanager
def readable_errors() -> Generator[None]:
    """Hides the traceback before the message of an expected error.

    A worker that raised ends, so the setting affects no other error.
    """
    try:
        yield
    except InternalError:
        raise
    except (DeltaicError, ValueError):
        if _OF_A_WORKER in os.environ:
            os.environ[_WITHOUT_TRACEBACK] = "1"
        raise
