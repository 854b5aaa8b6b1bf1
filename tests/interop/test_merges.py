"""Random merges by delta-spark and by a model: rows, changes, row ids, metrics and refusals are equal."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from tests.programs import by_deltaic, by_spark
from tests.programs.comparisons import FEED, ROW_IDS, compare_changes, compare_rows, identified
from tests.programs.definitions import Definition
from tests.programs.merges import by_spark as merges_by_spark
from tests.programs.merges.effect import (
    MergeEffect,
    allows_multiple_matches,
    effect,
    matches_nothing,
    multiple_matches,
)
from tests.programs.merges.random_merge import Merges
from tests.programs.merges.verb import Kind, Merge
from tests.programs.model import Effect, Model, Refused
from tests.programs.random_definition import random_definition
from tests.programs.steps import Steps
from tests.programs.verbs import Outcome
from tests.seed import current_seed, generator

from .test_delta_spark import PUSHDOWN, spark  # noqa: F401 - a fixture
from .test_programs import MOST_SHOWN, is_lost

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MERGES = int(os.environ.get("INTEROP_MERGES") or 4)
APPENDS = 3


@pytest.fixture(scope="module", autouse=True)
def without_code_generation(spark: SparkSession) -> None:  # noqa: F811 - the fixture
    """Compiling each query takes longer than running it on a few rows."""
    spark.conf.set("spark.sql.codegen.wholeStage", "false")
    spark.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")


def definition_for(chance: random.Random) -> Definition:
    """Returns a table that delta-spark merges into as the model does."""
    while True:
        definition = random_definition(chance, for_spark=True)
        # Its tasks generate identity values in any order. It does not quote names of partition columns.
        if not (definition.identities or any("." in name for name in definition.partition_by)):
            return definition


class Program:
    """A table of a few files, its model, and a merge."""

    def __init__(self, spark: SparkSession, root: Path, chance: random.Random) -> None:  # noqa: F811
        self.spark = spark
        self.root = root
        self.model = Model(definition_for(chance))
        self.table = by_deltaic.create(root, self.definition)
        self.log = [f"create {self.definition}"]
        steps = Steps(self.model, chance)
        for _ in range(chance.randint(1, APPENDS)):
            append = steps.first()
            self.log.append(str(append))
            self._apply(self.model.effect(append), by_deltaic.run(self.table, append, self.definition.schema))
        while loses_rows(self.model, merge := Merges(self.model, chance).merge()):
            pass
        self.merge = merge
        self.log.append(str(self.merge))

    @property
    def definition(self) -> Definition:
        return self.model.definition

    def run(self) -> None:
        """Runs the merge by delta-spark, and compares the table with the model."""
        before = self.table.snapshot().version
        try:
            merged = effect(self.model, self.merge)
        except Refused as refused:
            self._refuse(refused, before)
            return
        rows = [*self.model.rows, *(known.row for known in merged.after), *self.merge.rows]
        loses = is_lost(rows) or "'-0.0'" in str(self.merge)
        self.spark.conf.set(PUSHDOWN, str(not loses).lower())
        try:
            outcome = merges_by_spark.run(self.spark, self.root, self.merge)
        except (PySparkException, Py4JJavaError) as error:
            # Without the stack trace of the JVM.
            raise AssertionError(f"delta-spark: {str(error)[:MOST_SHOWN]}") from None
        self.log.append(f"  delta-spark: {outcome}")
        if outcome.version is None:
            assert merged.is_nothing
        else:
            # It does not read the source if the join condition is a contradiction.
            if outcome.metrics["numSourceRows"] == 0 and matches_nothing(self.model.rows, self.merge):
                merged.metrics["numSourceRows"] = 0
            compare_metrics(merged, outcome)
            assert not merged.is_nothing or rewrites_unchanged(self.merge)
        self._apply(merged, outcome)

    def _refuse(self, refused: Refused, before: int) -> None:
        self.log.append(f"  must be refused: {refused}")
        if "partition value of" in str(refused):
            return  # delta-spark writes NULL instead of an empty text
        with pytest.raises((PySparkException, Py4JJavaError)) as caught:
            merges_by_spark.run(self.spark, self.root, self.merge)
        self.log.append(f"  delta-spark: {str(caught.value)[:200]}")
        assert self.table.snapshot().version == before

    def _feed(self, found: Effect, version: int) -> pa.Table:
        if found.is_nothing:
            # By the metrics, delta-spark knows that rows are only written again.
            return by_spark.read_changes(self.spark, self.root, version)
        return self.table.changes(version, version).to_arrow()

    def _apply(self, found: Effect, outcome: Outcome) -> None:
        """Compares the rows, changes and row ids with those of the model, which then changes."""
        schema = self.definition.schema
        self.model.known, self.model.marks = found.after, found.marks
        compare_rows(self.table.snapshot(), self.model)
        if outcome.version is None:
            return
        if self.definition.has(FEED):
            compare_changes(self._feed(found, outcome.version), found, schema)
        if self.definition.has(ROW_IDS):
            ids = self.table.snapshot().scan(row_ids=True).to_arrow()
            self.model.known = identified(self.definition, ids, found.after, outcome.version)


def loses_rows(model: Model, merge: Merge) -> bool:
    """Whether delta-spark loses copied, updated or inserted rows.

    With a change data feed and clauses that insert, it identifies deleted rows that match several source rows
    by numbers that other rows have too.
    """
    inserts = bool(merge.of(Kind.NOT_MATCHED)) and not merge.inserts_only
    is_several = allows_multiple_matches(merge) and bool(multiple_matches(model.rows, merge))
    return model.definition.has(FEED) and inserts and is_several


def compare_metrics(merged: MergeEffect, outcome: Outcome) -> None:
    """Metrics about rows are those of the model."""
    metrics = outcome.metrics
    assert {name: metrics.get(name) for name in merged.metrics} == merged.metrics
    written = len(merged.inserts) + len(merged.postimages)
    assert metrics["numOutputRows"] == written + metrics["numTargetRowsCopied"]


def rewrites_unchanged(merge: Merge) -> bool:
    """Whether delta-spark may commit a merge that changes nothing, with all rows written again.

    It judges by the join condition alone whether a file changes, if some clause is not a matched one.
    """
    return not merge.inserts_only and len(merge.of(Kind.MATCHED)) < len(merge.clauses)


@pytest.mark.parametrize("number", range(MERGES))
def test_merges(spark: SparkSession, tmp_path: Path, number: int) -> None:  # noqa: F811 - the fixture
    program = Program(spark, tmp_path / "table", generator("interop merges", number))
    try:
        program.run()
        assert program.table.check(deep=True).is_healthy
    except BaseException as error:
        error.add_note("\n".join([*program.log, f"to repeat: TEST_SEED={current_seed()}, merge {number}"]))
        raise
    finally:
        shutil.rmtree(tmp_path, ignore_errors=True)
