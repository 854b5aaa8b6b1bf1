"""A program of verbs that deltaic and delta-spark run on copies of a table.

Before each verb the table is copied. Each implementation runs the verb on a copy; rows, changes, row ids and
metrics are compared, and both must refuse the same rows. The program continues with one of the copies.
"""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

import deltaic
from tests.programs import alterations, by_deltaic, by_spark
from tests.programs.comparisons import FEED, ROW_IDS, compare_changes, identified, marks_of, same_rows
from tests.programs.definitions import Definition
from tests.programs.model import Effect, Known, Model, Refused
from tests.programs.program import compare_metrics
from tests.programs.random_definition import random_definition
from tests.programs.reader_limits import can_read
from tests.programs.steps import Steps
from tests.programs.verbs import Outcome

from . import by_duckdb
from .delta_spark import PUSHDOWN
from .known_faults import of_verbs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ERRORS = (PySparkException, Py4JJavaError)
MOST_SHOWN = 600
# Metrics that both have and that do not depend on how many files a writer writes.
SAME_METRICS = ["numDeletedRows", "numUpdatedRows", "numCopiedRows", "numOutputRows", "numRemovedFiles"]
SAME_METRICS += ["numDeletionVectorsAdded", "numDeletionVectorsRemoved", "numDeletionVectorsUpdated"]


class Program:
    """A table, its model, and the steps so far."""

    def __init__(self, spark: SparkSession, root: Path, chance: random.Random) -> None:
        self.spark = spark
        self.chance = chance
        self.root = root
        self.model = Model(random_definition(chance, for_spark=True))
        self.path = root / "created"
        if by_spark.can_create(self.definition) and chance.random() < 0.5:
            by_spark.create(spark, self.path, self.definition)
            self.log = [f"create by delta-spark {self.definition}"]
        else:
            by_deltaic.create(self.path, self.definition)
            self.log = [f"create {self.definition}"]
        self.steps = Steps(self.model, chance)
        self.number = 0

    @property
    def definition(self) -> Definition:
        """The table, whose columns may have changed."""
        return self.model.definition

    def next(self) -> by_spark.SparkVerb:
        """Returns a verb that delta-spark runs as the model does."""
        while not of_verbs.can_run(verb := self.steps.next(), self.definition):
            pass
        return verb

    def step(self, verb: by_spark.SparkVerb) -> None:
        """Runs a verb by both, on a copy each."""
        self.log.append(str(verb))
        self.number += 1
        paths = [self.root / f"{self.number}-deltaic", self.root / f"{self.number}-delta-spark"]
        for path in paths:
            shutil.copytree(self.path, path)
        before, schema = deltaic.Table(self.path).snapshot().version, self.definition.schema
        try:
            effect = alterations.effect(self.model, verb, self.chance)
        except Refused as refused:
            self._refuse(verb, refused, paths, before)
            return
        rows = [*self.model.rows, *(known.row for known in effect.after)]
        self.spark.conf.set(PUSHDOWN, str(not of_verbs.loses_in_pushdown(rows, verb)).lower())
        ours = by_deltaic.run(deltaic.Table(paths[0]), verb, self.definition.schema)
        try:
            theirs = by_spark.run(self.spark, paths[1], verb, self.definition.schema)
        except ERRORS as error:
            # Without the stack trace of the JVM.
            raise AssertionError(f"delta-spark: {str(error)[:MOST_SHOWN]}") from None
        self.log.append(f"  deltaic: {ours}\n  delta-spark: {theirs}")
        for outcome in (ours, theirs):
            compare_metrics(verb, effect, outcome)
        if ours.version is not None and theirs.version is not None:
            self._compare_metrics(verb, ours.metrics, theirs.metrics)
        has_feed = alterations.fit_one_schema(schema, self.definition.schema)
        known = [
            self._compare(path, effect, outcome, has_feed=has_feed)
            for path, outcome in zip(paths, (ours, theirs), strict=True)
        ]
        marks = [effect.marks, of_verbs.marks(self.model.marks, effect.marks, verb)]
        assert [marks_of(deltaic.Table(path).snapshot()) for path in paths] == marks
        chosen = self.chance.choice([0, 1])
        self.path, self.model.known, self.model.marks = paths[chosen], known[chosen], marks[chosen]
        self.log.append(f"  continue with {self.path.name}")

    def _refuse(self, verb: by_spark.SparkVerb, refused: Refused, paths: list[Path], before: int) -> None:
        """Both raise, and both tables are as before."""
        self.log.append(f"  must be refused: {refused}")
        with pytest.raises(by_deltaic.REFUSALS):
            by_deltaic.run(deltaic.Table(paths[0]), verb, self.definition.schema)
        if not of_verbs.writes_null_instead(refused):
            with pytest.raises(ERRORS) as caught:
                by_spark.run(self.spark, paths[1], verb, self.definition.schema)
            self.log.append(f"  delta-spark: {str(caught.value)[:200]}")
            assert deltaic.Table(paths[1]).snapshot().version == before
        assert deltaic.Table(paths[0]).snapshot().version == before
        found = same_rows(self._read(paths[0]), self.model.rows, self.definition.schema)
        assert found is None, found

    def _compare_metrics(
        self, verb: by_spark.SparkVerb, ours: dict[str, int], theirs: dict[str, int]
    ) -> None:
        """Each metric of delta-spark exists, with the same value if it does not depend on files."""
        assert not theirs.keys() - ours.keys()
        for name in SAME_METRICS:
            if not of_verbs.counts_otherwise(name, verb, theirs, self.definition):
                assert ours.get(name) == theirs.get(name), name

    def _read(self, path: Path) -> pa.Table:
        return deltaic.Table(path).snapshot().scan().to_arrow()

    def _compare(self, path: Path, effect: Effect, outcome: Outcome, *, has_feed: bool) -> list[Known]:
        """Both read the rows, changes and row ids of the model; returns the rows with their ids."""
        schema = self.definition.schema
        rows = [known.row for known in effect.after]
        tables = {"deltaic": self._read(path), "delta-spark": by_spark.read(self.spark, path)}
        if can_read("DuckDB", self.definition):
            tables["DuckDB"] = by_duckdb.read(path)
        for reader, table in tables.items():
            assert (found := same_rows(table, rows, schema)) is None, f"{path} by {reader}: {found}"
        version = outcome.version
        if version is None:
            return effect.after
        if has_feed and self.definition.has(FEED):
            feed = deltaic.Table(path).changes(version, version).to_arrow()
            compare_changes(feed, effect, schema)
            if of_verbs.feed_is_exact(effect):
                compare_changes(by_spark.read_changes(self.spark, path, version), effect, schema)
        if not self.definition.has(ROW_IDS):
            return effect.after
        snapshot = deltaic.Table(path).snapshot()
        identified(
            self.definition, by_spark.read_row_ids(self.spark, path, schema.names), effect.after, version
        )
        return identified(self.definition, snapshot.scan(row_ids=True).to_arrow(), effect.after, version)
