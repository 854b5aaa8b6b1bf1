"""Random merges by deltaic, delta-spark and a model: rows, changes, metrics and refusals are equal.

`make explore ONLY=interop-merges` searches. A failure prints the seed and the merge that repeat it.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.seed import current_seed, generator

from .merges import Program

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MERGES = int(os.environ.get("INTEROP_MERGES") or 4)


@pytest.mark.parametrize("number", range(MERGES))
def test_merges(spark: SparkSession, tmp_path: Path, number: int) -> None:
    program = Program(spark, tmp_path / "table", generator("interop merges", number))
    try:
        program.run()
        assert program.table.check(deep=True).is_healthy
    except BaseException as error:
        test = f"tests/interop/test_merges.py::test_merges[{number}]"
        repeat = f"TEST_SEED={current_seed()} INTEROP_MERGES={number + 1} .envs/interop/bin/pytest '{test}'"
        error.add_note("\n".join([*program.log, f"to repeat: {repeat}"]))
        raise
    finally:
        shutil.rmtree(tmp_path, ignore_errors=True)
