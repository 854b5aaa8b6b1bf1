"""Whether a condition's meaning depends on ANSI mode, without which Spark converts values otherwise."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["depends_on_ansi", "is_ansi"]

# Functions and CASE, whose arguments of several types have another common type without ANSI mode.
_MIXES_TYPES = re.compile(r"\b(?!(?:in|and|or|not)\b)\w+\s*\(|\bcase\b", re.IGNORECASE)


def is_ansi(session: SparkSession) -> bool:
    """Whether a session is in ANSI mode, as it is by default."""
    return str(session.conf.get("spark.sql.ansi.enabled", "true")).lower() == "true"


def depends_on_ansi(condition: str) -> bool:
    """Whether a condition may be true for other rows without ANSI mode.

    >>> [depends_on_ansi(text) for text in ("id IN (1, 2)", "COALESCE(id, '7') = 7")]
    [False, True]
    """
    return _MIXES_TYPES.search(condition) is not None
