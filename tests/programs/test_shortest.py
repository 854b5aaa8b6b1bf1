"""A failure of random steps names the fewest of them that fail in the same way."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from .shortest import run_steps


def run(folder: Path, steps: Sequence[int], log: list[str]) -> None:
    """Fails if 3 is before 5; without 1, in another way."""
    folder.mkdir()
    before: set[int] = set()
    for step in steps:
        log.append(f"step {step}")
        assert step != 3 or 1 in before
        if step == 5 and 3 in before:
            raise ValueError
        before.add(step)


def test_only_the_steps_that_are_needed_are_left(tmp_path: Path) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the failure of the steps
        run_steps(run, tmp_path, [0, 1, 2, 3, 4, 5, 6], "STEP=7")
    steps, repeat = caught.value.__notes__
    assert steps == "3 of 7 steps fail in this way:\nstep 1\nstep 3\nstep 5"
    assert repeat.endswith(" STEP=7")


def test_steps_that_pass_run_once(tmp_path: Path) -> None:
    run_steps(run, tmp_path, [1, 3, 4], "")
    assert [path.name for path in tmp_path.iterdir()] == ["0"]
