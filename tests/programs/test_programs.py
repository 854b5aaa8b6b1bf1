"""Random programs of verbs: after each step a table equals a plain model of its rows.

`make programs` runs more of them. A failure prints its steps, and the seed and `PROGRAM=…` that repeat it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.seed import current_seed, generator

from . import other_readers
from .program import Program

PROGRAMS = int(os.environ.get("PROGRAMS") or 100)
GROUP = 25
STEPS = 5
MEMORY = Path("/dev/shm")  # noqa: S108 - a file system in memory, where syncing is cheap


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory if the system has one."""
    if not MEMORY.is_dir():
        yield tmp_path
        return
    path = Path(tempfile.mkdtemp(dir=MEMORY, prefix="deltaic-programs-"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


def chosen() -> list[range]:
    if only := os.environ.get("PROGRAM"):
        return [range(int(only), int(only) + 1)]
    return [range(first, min(first + GROUP, PROGRAMS)) for first in range(0, PROGRAMS, GROUP)]


@pytest.mark.parametrize("numbers", chosen(), ids=lambda numbers: f"{numbers.start}-{numbers.stop - 1}")
def test_programs(folder: Path, numbers: range) -> None:
    counts: Counter[str] = Counter()
    for number in numbers:
        chance = generator("programs", number)
        try:
            program = Program(folder / str(number), chance)
            program.run(chance.randint(1, STEPS))
            read_by = other_readers.compare(folder / str(number), program)
        except Exception as error:
            error.add_note(f"to repeat: TEST_SEED={current_seed()} PROGRAM={number}")
            raise
        counts.update(program.counts)
        counts.update(read_by)
        shutil.rmtree(folder / str(number))
    print(dict(counts))
