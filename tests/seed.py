"""The seed of every random test: a number from the committed files, so that each change tests new cases.

`TEST_SEED=…` repeats a run. The runner and pytest print the seed and export it to the processes they start;
the Rust tests read `TEST_SEED`, proptest reads `PROPTEST_RNG_SEED`.
"""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

VARIABLE = "TEST_SEED"
OF_PROPTEST = "PROPTEST_RNG_SEED"
# Outside a git checkout, such as in an unpacked source distribution.
DEFAULT = 20_261_121


def current_seed(folder: Path | None = None) -> int:
    """Returns `TEST_SEED` if set, otherwise the first 32 bits of the tree id of `HEAD`, otherwise `DEFAULT`.

    Commits with equal files have equal tree ids, so a rebased commit repeats the cases that its author ran.
    """
    if given := os.environ.get(VARIABLE):
        return int(given)
    folder = folder or Path(__file__).resolve().parent
    try:
        command = ["git", "rev-parse", "HEAD^{tree}"]
        tree = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return DEFAULT
    return int(tree[:8], 16)


def export_seed() -> int:
    """Sets the seed in the environment, for this process and its child processes."""
    seed = current_seed()
    os.environ[VARIABLE] = str(seed)
    os.environ.setdefault(OF_PROPTEST, str(seed))
    return seed


def generator(*labels: object) -> random.Random:
    """Returns a separate random generator for each combination of labels, reproducible from the seed."""
    return random.Random("/".join(map(str, (current_seed(), *labels))))
