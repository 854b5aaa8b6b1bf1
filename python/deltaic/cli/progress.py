"""The progress of a command, as one line on stderr."""

from __future__ import annotations

import sys
from collections.abc import Mapping

__all__ = ["ProgressLine"]


class ProgressLine:
    """A progress line on stderr, if stderr is a terminal; erased at the end.

    Args:
        stages: The display name of each stage.
    """

    def __init__(self, stages: Mapping[str, str]) -> None:
        self._stages = stages
        self._shown = 0

    def show(self, stage: str, done: int, total: int) -> None:
        """Shows the number of completed steps and the total."""
        # If the process was started without a stderr, sys.stderr is None.
        if sys.stderr is None or not sys.stderr.isatty():
            return
        text = f"{self._stages.get(stage, stage)}: {done:,} of {total:,}"
        sys.stderr.write("\r" + text.ljust(self._shown))
        sys.stderr.flush()
        self._shown = len(text)

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            sys.stderr.write("\r" + " " * self._shown + "\r")
            sys.stderr.flush()
