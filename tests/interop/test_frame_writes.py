"""Random programs of DataFrame writes: `deltaic.spark.write` makes the tables that delta-spark makes.

`make explore ONLY=interop-frames` searches.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import deltaic
import deltaic.spark as ds
from tests.seed import generator

from .frame_programs import Program, Step, program

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


PROGRAMS = int(os.environ.get("INTEROP_FRAMES") or 8)


def outcome(step: Step, spark: SparkSession, made: Program, path: Path, by: str) -> str:
    """Writes a step; returns whether it was refused."""
    frame = step.frame(spark)
    writer = ds.write(frame) if by == "deltaic" else frame.write.format("delta")
    try:
        step.of(writer, made, str(path))
    except Exception as error:  # noqa: BLE001 - each has its own errors
        return f"refused ({str(error)[:200]})"
    return "written"


def rows(frame: DataFrame) -> list[str]:
    """Returns the rows of a frame, with columns in the order of their names."""
    names = sorted(frame.columns)
    return sorted(str([row[name] for name in names]) for row in frame.collect())


def changes(spark: SparkSession, path: Path) -> list[str]:
    """Returns the feed of a table, without versions and times: a write without rows makes no version here."""
    options = {"readChangeFeed": "true", "startingVersion": "0"}
    feed = spark.read.format("delta").options(**options).load(str(path))
    return rows(feed.drop("_commit_version", "_commit_timestamp"))


@pytest.mark.parametrize("number", range(PROGRAMS))
def test_programs_of_frames(spark: SparkSession, tmp_path: Path, number: int) -> None:
    made = program(generator("frame programs", number))
    ours, theirs = tmp_path / "deltaic", tmp_path / "delta-spark"
    for index, step in enumerate(made.steps):
        found = [outcome(step, spark, made, path, path.name) for path in (ours, theirs)]
        assert found[0].split()[0] == found[1].split()[0], (index, step, found)
        read: list[Any] = [rows(spark.read.format("delta").load(str(path))) for path in (ours, theirs)]
        assert read[0] == read[1], (index, step, found)
        assert rows(ds.read(spark).load(ours)) == read[0]
    if made.has_feed and not any("overwriteSchema" in step.options for step in made.steps):
        assert changes(spark, ours) == changes(spark, theirs)
    assert deltaic.Table(ours).check(deep=True).is_healthy
