"""Programs of verbs by deltaic and delta-spark: both change copies of a table alike, and read each other's.

`make explore ONLY=interop-programs` searches. A failure prints the seed and the program that repeat it.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import deltaic
from tests.seed import current_seed, generator

from .programs import Program

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROGRAMS = int(os.environ.get("INTEROP_PROGRAMS") or 6)
STEPS = 3


@pytest.mark.parametrize("number", range(PROGRAMS))
def test_programs(spark: SparkSession, tmp_path: Path, number: int) -> None:
    program = Program(spark, tmp_path, generator("interop programs", number))
    try:
        program.step(program.steps.first())
        for _ in range(STEPS):
            program.step(program.next())
        assert deltaic.Table(program.path).check(deep=True).is_healthy
    except BaseException as error:
        test = f"tests/interop/test_programs.py::test_programs[{number}]"
        repeat = f"TEST_SEED={current_seed()} INTEROP_PROGRAMS={number + 1} .envs/interop/bin/pytest '{test}'"
        error.add_note("\n".join([*program.log, f"to repeat: {repeat}"]))
        raise
    finally:
        shutil.rmtree(tmp_path, ignore_errors=True)
