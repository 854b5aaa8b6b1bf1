"""Random merges by deltaic and by a model: rows, changes, row ids, metrics and refusals are equal.

`make explore ONLY=merges` searches. A failure prints its shortest steps, and the seed and `MERGE=…` that
repeat it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.programs import chosen
from tests.programs.shortest import run_steps

from . import features
from .plan import Step, planned
from .program import Program


def numbers() -> Sequence[int]:
    """Returns the tables of a run, those of a search, or one; each is merged into several times."""
    if only := os.environ.get("MERGE"):
        return [int(only)]
    if count := os.environ.get("MERGES"):
        return range(int(count))
    return chosen.MERGES


@pytest.mark.parametrize("number", numbers())
def test_merges(folder: Path, number: int) -> None:
    plan = planned(number)

    def run(root: Path, steps: Sequence[Step], log: list[str]) -> None:
        Program(root, plan.definition, log).run(steps)

    run_steps(
        run, folder, plan.steps, f"MERGE={number} .venv/bin/pytest tests/programs/merges/test_merges.py"
    )


def test_the_merges_of_a_run_have_every_feature() -> None:
    """Otherwise `python -m tests.programs.choose` chooses others."""
    found = set[str]().union(*(planned(number).features for number in chosen.MERGES))
    assert not {*features.OF_PROGRAMS} - found
