"""A known fault of delta-spark: the smallest program that shows it, and what is right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """Something that delta-spark 4.4 does wrong, or otherwise than the model; `{t}` is a new table."""

    name: str
    does: str
    """What delta-spark does."""
    right: str
    """What is right by the protocol, or by Spark's own rules."""
    avoided: Callable[..., object]
    """How generated tests avoid it."""
    program: tuple[str, ...] = ()
    """Statements; empty if a short one cannot show it."""
    error: str = ""
    """What the last statement raises."""
    query: str = ""
    """What shows the fault after the program, if it raises nothing."""
    column: str = "*"
    """What is selected of the query."""
    rows: tuple[tuple[object, ...], ...] = ()
    """The rows that the query should have, and does not have."""
