"""Errors of a Python worker, as the user of the session gets to see them."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager

from deltaic.exceptions import DeltaicError, InternalError

__all__ = ["told_plainly"]

# Spark starts each of its Python workers with this in the environment.
_OF_A_WORKER = "SPARK_BUFFER_SIZE"
# What the worker asks, when an exception has come out of it, before it writes down the text for the JVM.
_WITHOUT_TRACEBACK = "SPARK_HIDE_TRACEBACK"


@contextmanager
def told_plainly() -> Generator[None]:
    """Lets the message of an error that speaks for itself come first, with no traceback before it.

    A worker that raised is done: nothing else is told in its way.
    """
    try:
        yield
    except InternalError:
        raise
    except (DeltaicError, ValueError):
        if _OF_A_WORKER in os.environ:
            os.environ[_WITHOUT_TRACEBACK] = "1"
        raise
