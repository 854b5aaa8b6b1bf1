"""Lines that fit in the width of a terminal."""

from __future__ import annotations

import textwrap

__all__ = ["fitted"]

_CUT = "…"
_INDENT = "    "


def fitted(text: str, width: int) -> str:
    r"""Wraps sentences, and shortens the longest word of an indented line, such as a path, in its middle.

    >>> print(fitted("RESTORE of version 2 to version 1 would leave 1 file:\n  1 file added again", 30))
    RESTORE of version 2 to
        version 1 would leave 1
        file:
      1 file added again
    >>> fitted("  day=2026-11-30/part-00000-0a7113ed.zstd.parquet  2.0 KiB", 40)
    '  day=2026-11…13ed.zstd.parquet  2.0 KiB'
    """
    return "\n".join(_fitted_line(line, width) for line in text.splitlines())


def _fitted_line(line: str, width: int) -> str:
    if len(line) <= width:
        return line
    if not line.startswith(" "):
        return textwrap.fill(
            line,
            max(width, 2 * len(_INDENT)),
            subsequent_indent=_INDENT,
            break_long_words=False,
            break_on_hyphens=False,
        )
    word = max(line.split(), key=len)
    left = len(word) - (len(line) - width) - len(_CUT)
    if left < len(_INDENT):
        return line
    # The end of a path names the file, so it gets more.
    start = left * 2 // 5
    return line.replace(word, word[:start] + _CUT + word[len(word) - (left - start) :], 1)
