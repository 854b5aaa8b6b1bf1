"""Errors of the tasks that write files, which reach the session as text of Spark's."""

from __future__ import annotations

import base64
import json
import re

from deltaic import exceptions
from deltaic.exceptions import DeltaicError, InternalError

__all__ = ["from_text", "to_text"]

_MARK = "deltaic-error:"


def to_text(error: DeltaicError, token: str) -> str:
    """Returns the message, and the whole error in a form that `from_text` finds.

    Example:
        >>> text = to_text(exceptions.SchemaMismatch("no", context={"row": 7}), "f00d")
        >>> found = from_text("Job aborted: " + text, "f00d")
        >>> type(found).__name__, found.message, found.context
        ('SchemaMismatch', 'no', {'row': 7})
    """
    parts = {
        "type": type(error).__name__,
        "message": error.message,
        "context": error.context,
        "hint": error.hint,
        "retryable": error.retryable,
    }
    encoded = base64.b64encode(json.dumps(parts, default=str).encode()).decode()
    return f"{error} [{_MARK}{token}:{encoded}]"


def from_text(text: str, token: str) -> DeltaicError | None:
    """Returns the error of the tasks with this token in a text; None if there is none."""
    found = re.search(rf"\[{_MARK}{token}:([A-Za-z0-9+/=]+)\]", text)
    if found is None:
        return None
    parts = json.loads(base64.b64decode(found[1]))
    kind = getattr(exceptions, parts.pop("type"), InternalError)
    return kind(parts.pop("message"), **parts)
