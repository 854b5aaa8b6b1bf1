"""Chooses the programs and merges of a run, so that together they have every feature: writes `chosen.py`.

`python -m tests.programs.choose` runs it, after the generators have changed; then `make format`.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path

from . import features, plan
from .merges import features as features_of_merges
from .merges import plan as plan_of_merges
from .reader_limits import can_read

# So many numbers are searched, and more until each feature has occurred.
SEARCHED = 600
PROGRAMS, MERGES = 40, 20
# Other implementations read the tables of every fifth program.
FIFTH = 5
FILE = Path(__file__).with_name("chosen.py")
TEXT = '''"""The programs and merges of a run: `python -m tests.programs.choose` chose and wrote them."""

PROGRAMS = {programs}
MERGES = {merges}
READ_BY_OTHERS = {fifth}
"""Other implementations read the tables of the programs whose numbers are multiples of it."""
'''

Plan = plan.Plan | plan_of_merges.Plan


def search(planned: Callable[[int], Plan], needed: set[str]) -> dict[int, Plan]:
    """Returns plans by their numbers."""
    found: dict[int, Plan] = {}
    while needed or len(found) < SEARCHED:
        number = len(found)
        found[number] = planned(number)
        needed = needed - found[number].features
        if number >= SEARCHED and number % 100 == 0:
            print(f"{number}: {sorted(needed)} did not occur yet", flush=True)
    return found


def cover(plans: dict[int, Plan], needed: set[str], most: int) -> list[int]:
    """Returns numbers that together have as many of the needed features as possible, and of their pairs."""
    left = {number: _singles_and_pairs(one.features & needed) for number, one in plans.items()}
    chosen: list[int] = []
    for _ in range(most):
        best = max(left, key=lambda number: sum(1000 if len(one) == 1 else 1 for one in left[number]))
        covered = left.pop(best)
        chosen.append(best)
        left = {number: has - covered for number, has in left.items()}
    return sorted(chosen)


def _singles_and_pairs(names: set[str]) -> set[tuple[str, ...]]:
    return {*combinations(sorted(names), 1), *combinations(sorted(names), 2)}


def programs() -> list[int]:
    """Returns the programs of a run; a fifth of them are tables that other implementations can read."""
    needed = {*features.OF_PROGRAMS}
    plans = search(plan.planned, needed)
    fifth = PROGRAMS // FIFTH
    read = {
        number: one
        for number, one in plans.items()
        if number % FIFTH == 0 and all(can_read(name, one.last) for name in ("deltalake", "polars"))
    }
    rest = {number: one for number, one in plans.items() if number % FIFTH or number not in read}
    return [*cover(read, needed, fifth), *cover(rest, needed, PROGRAMS - fifth)]


def merges() -> list[int]:
    """Returns the tables of a run that are merged into."""
    needed = {*features_of_merges.OF_PROGRAMS}
    return cover(search(plan_of_merges.planned, needed), needed, MERGES)


if __name__ == "__main__":
    FILE.write_text(TEXT.format(programs=programs(), merges=merges(), fifth=FIFTH))
