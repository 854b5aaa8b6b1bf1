"""Random programs of verbs: after each step a table equals a plain model of its rows.

`make explore ONLY=programs` searches. A failure prints its shortest steps, and the seed and `PROGRAM=…` that
repeat it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from . import chosen, features, other_readers
from .plan import Step, planned
from .program import Program
from .shortest import run_steps


def numbers() -> Sequence[int]:
    """Returns the programs of a run, those of a search, or one."""
    if only := os.environ.get("PROGRAM"):
        return [int(only)]
    if count := os.environ.get("PROGRAMS"):
        return range(int(count))
    return chosen.PROGRAMS


@pytest.mark.parametrize("number", numbers())
def test_programs(folder: Path, number: int) -> None:
    plan = planned(number)

    def run(root: Path, steps: Sequence[Step], log: list[str]) -> None:
        program = Program(root, plan.definition, log)
        program.run(steps)
        if number % chosen.READ_BY_OTHERS == 0:
            other_readers.compare(root, program)

    run_steps(run, folder, plan.steps, f"PROGRAM={number} .venv/bin/pytest tests/programs/test_programs.py")


def test_the_programs_of_a_run_have_every_feature() -> None:
    """Otherwise `python -m tests.programs.choose` chooses others."""
    found = set[str]().union(*(planned(number).features for number in chosen.PROGRAMS))
    assert not {*features.OF_PROGRAMS} - found
