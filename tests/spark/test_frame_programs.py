"""Programs of verbs, whose appends and overwrites are writes of DataFrames: tables equal the model.

Both ways to write, tasks and the data source, write the same files. `make explore ONLY=frames` searches.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pyspark", reason="missing: PySpark")

from deltaic.spark.source.registration import active
from tests.programs import chosen
from tests.programs.by_frames import Frames
from tests.programs.plan import Step, planned
from tests.programs.program import Program
from tests.programs.shortest import run_steps
from tests.programs.verbs import Append, Overwrite

from .python_source import in_python

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from .conftest import Settings

# One of so many programs runs.
SHARE = 2


def numbers() -> Sequence[int]:
    """Returns the programs of a run, those of a search, or one."""
    if only := os.environ.get("PROGRAM"):
        return [int(only)]
    if count := os.environ.get("PROGRAMS"):
        return range(int(count))
    return chosen.PROGRAMS[::SHARE]


@pytest.mark.parametrize("number", numbers())
def test_programs(spark: SparkSession, settings: Settings, tmp_path: Path, number: int) -> None:
    """In a session whose zone is not UTC, without ANSI mode unless expressions of the table may overflow."""
    plan = planned(number)
    definition = plan.definition
    computes = definition.generated or definition.constraints or definition.invariants
    ansi = {"spark.sql.ansi.enabled": "true" if computes else "false"}

    def run(root: Path, steps: Sequence[Step], log: list[str]) -> None:
        Program(root, definition, log, Frames(spark, source).run).run(steps)

    with settings({"spark.sql.session.timeZone": "Asia/Tokyo", **ansi}), active(spark):
        source = in_python(spark)
        repeat = f"PROGRAM={number} .venv/bin/pytest tests/spark/test_frame_programs.py"
        run_steps(run, tmp_path, plan.steps, repeat)


def test_the_programs_of_a_run_write_frames() -> None:
    verbs = [step.verb for number in chosen.PROGRAMS[::SHARE] for step in planned(number).steps]
    assert sum(isinstance(verb, Append) for verb in verbs) >= 10
    assert sum(isinstance(verb, Overwrite) for verb in verbs) >= 3
