"""The progress of an operation: a function of the caller, or a line on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType

__all__ = ["Progress", "ProgressLine", "to_progress"]

Progress = Callable[[str, int, int], object]
"""Called with the stage, the number of its completed steps, and the total."""

_STAGES = MappingProxyType(
    {
        "log": "reading the log",
        "files": "reading data files",
        "rows": "writing rows",
        "deletions": "deleting files",
    }
)
_BAR = 24


def to_progress(progress: object) -> tuple[Progress, Callable[[], object] | None] | None:
    """Returns the function that gets the progress and the one that is called at the end, or None.

    Raises:
        TypeError: The progress is neither a function nor a bool.

    >>> to_progress(print)
    (<built-in function print>, None)
    """
    if progress is None or progress is False:
        return None
    if progress is True:
        line = ProgressLine()
        return line.show, line.erase
    if not callable(progress):
        given = type(progress).__name__
        raise TypeError(f"progress must be a function of three arguments, or True, not {given}")
    return progress, None


class ProgressLine:
    """A progress line on stderr, if stderr is a terminal; erased at the end.

    Args:
        stages: The display name of each stage.
    """

    def __init__(self, stages: Mapping[str, str] = _STAGES) -> None:
        self._stages = stages
        self._shown = 0

    def show(self, stage: str, done: int, total: int) -> None:
        """Shows the number of completed steps, and the total with a bar if it is known."""
        # If the process was started without a stderr, sys.stderr is None.
        if sys.stderr is None or not sys.stderr.isatty():
            return
        text = f"{self._stages.get(stage, stage)}: {done:,}"
        if total:
            filled = min(_BAR, _BAR * done // total)
            text += f" of {total:,} [{'#' * filled}{' ' * (_BAR - filled)}]"
        sys.stderr.write("\r" + text.ljust(self._shown))
        sys.stderr.flush()
        self._shown = len(text)

    def erase(self) -> None:
        """Erases the line."""
        if self._shown:
            sys.stderr.write("\r" + " " * self._shown + "\r")
            sys.stderr.flush()
            self._shown = 0

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: object) -> None:
        self.erase()
