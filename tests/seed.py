"""The seed of every random test: one number, so that every run of the same files tests the same cases.

`TEST_SEED=…` searches other cases. The runner and pytest print the seed and export it to the processes they
start; the Rust tests read `TEST_SEED`, proptest reads `PROPTEST_RNG_SEED`.
"""

from __future__ import annotations

import os
import random

VARIABLE = "TEST_SEED"
OF_PROPTEST = "PROPTEST_RNG_SEED"
DEFAULT = 3_328_923_093


def current_seed() -> int:
    """Returns `TEST_SEED` if set, otherwise `DEFAULT`."""
    return int(os.environ.get(VARIABLE) or DEFAULT)


def export_seed() -> int:
    """Sets the seed in the environment, for this process and its child processes."""
    seed = current_seed()
    os.environ[VARIABLE] = str(seed)
    os.environ.setdefault(OF_PROPTEST, str(seed))
    return seed


def generator(*labels: object) -> random.Random:
    """Returns a separate random generator for each combination of labels, reproducible from the seed."""
    return random.Random("/".join(map(str, (current_seed(), *labels))))
