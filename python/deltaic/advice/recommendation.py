"""One finding of the advice on a table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

__all__ = ["Importance", "Recommendation", "literal"]

Importance = Literal["warning", "advice", "info"]
"""A large cost or a risk; an improvement; a fact to know, with little or no effect now."""


@dataclass(frozen=True)
class Recommendation:
    """One finding: what was measured, what to do, and what this changes.

    >>> print(Recommendation("LONG_LOG", "advice", "42 commits since the last checkpoint"))
    LONG_LOG: 42 commits since the last checkpoint
    """

    code: str
    """A stable code in upper snake case, for comparison in programs; `docs/guides/doctor.md` lists all."""

    severity: Importance
    """``"warning"``, ``"advice"`` or ``"info"``."""

    title: str
    """What was found, with the main figures."""

    detail: str = ""
    """What it means, in one or two sentences."""

    effect: str = ""
    """What the action changes, with figures."""

    action: str = ""
    """Lines of Python that run with ``table`` as the table and ``import deltaic``; empty if there is nothing
    to run."""

    command: str = ""
    """The same on the command line, with ``PATH`` for the table; empty if there is no such command."""

    figures: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """All figures, as plain values: sizes in bytes, times in milliseconds unless the name says otherwise."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the finding as plain values."""
        return {
            "code": self.code,
            "severity": self.severity,
            "title": self.title,
            "detail": self.detail,
            "effect": self.effect,
            "action": self.action,
            "command": self.command,
            "figures": dict(self.figures),
        }

    def __str__(self) -> str:
        return f"{self.code}: {self.title}"


def literal(text: str) -> str:
    """Returns a text as a literal of Python for an action, in double quotes.

    >>> print(literal("a 'b'"))
    "a 'b'"
    """
    return json.dumps(text, ensure_ascii=False)
