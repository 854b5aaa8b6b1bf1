"""Runs the steps of a random test; if one fails, finds the fewest of them that fail in the same way."""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from tests.seed import current_seed

T = TypeVar("T")
Run = Callable[[Path, Sequence[T], list[str]], None]
"""Runs steps in a folder that does not exist yet, and appends to a list what it does."""


def run_steps(run: Run[T], folder: Path, steps: Sequence[T], repeat: str) -> None:
    """Runs steps. A failure has the shortest steps and the variable that repeats it as notes."""
    places = (folder / str(number) for number in itertools.count())
    error, log = _attempt(run, next(places), steps)
    if error is None:
        return
    way, length, total = _way(error), len(steps) + 1, len(steps)
    # Leaves out one step after another, the last first, until no step can be left out.
    while len(steps) < length:
        length = len(steps)
        for index in reversed(range(length)):
            rest = [*steps[:index], *steps[index + 1 :]]
            other, shorter = _attempt(run, next(places), rest)
            if other is not None and _way(other) == way:
                steps, log = rest, shorter
    error.add_note("\n".join([f"{len(steps)} of {total} steps fail in this way:", *log]))
    error.add_note(f"to repeat: TEST_SEED={current_seed()} {repeat}")
    raise error


def _attempt(run: Run[T], folder: Path, steps: Sequence[T]) -> tuple[BaseException | None, list[str]]:
    log: list[str] = []
    try:
        run(folder, steps, log)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001 - also a panic, which is no `Exception`
        return error, log
    return None, log


def _way(error: BaseException) -> tuple[object, ...]:
    """Returns the kind of an error and the place that raised it."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return type(error), place.filename, place.lineno
