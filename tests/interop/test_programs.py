"""Programs of verbs by deltaic and delta-spark: both change copies of a table alike, and read each other's.

Before each verb the table is copied. Each implementation runs the verb on a copy; rows, changes, row ids and
metrics are compared, and both must refuse the same rows. The program continues with one of the copies.
"""

from __future__ import annotations

import math
import os
import random
import shutil
from collections import Counter
from datetime import date
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
from tests.programs.identity import Marks
from tests.programs.model import Effect, Known, Model, Refused
from tests.programs.program import compare_metrics
from tests.programs.random_definition import random_definition
from tests.programs.steps import Steps
from tests.programs.verbs import Append, Delete, Outcome, Overwrite, Update
from tests.seed import current_seed, generator

from . import by_duckdb
from .test_delta_spark import PUSHDOWN, spark  # noqa: F401 - a fixture

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROGRAMS = int(os.environ.get("INTEROP_PROGRAMS") or 6)
STEPS = 3
# Of an UPDATE, delta-spark counts files that get a deletion vector as removed, and no removed vectors.
COUNTED_OTHERWISE = ["numRemovedFiles", "numDeletionVectorsRemoved"]
COUNTS_OF_ROWS = {"numDeletedRows", "numCopiedRows", "numOutputRows"}
MOST_SHOWN = 600
# Metrics that both have and that do not depend on how many files a writer writes.
SAME_METRICS = ["numDeletedRows", "numUpdatedRows", "numCopiedRows", "numOutputRows", "numRemovedFiles"]
SAME_METRICS += ["numDeletionVectorsAdded", "numDeletionVectorsRemoved", "numDeletionVectorsUpdated"]


class Program:
    """A table, its model, and the steps so far."""

    def __init__(self, spark: SparkSession, root: Path, chance: random.Random) -> None:  # noqa: F811
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
        self.counts: Counter[str] = Counter()

    @property
    def definition(self) -> Definition:
        """The table, whose columns may have changed."""
        return self.model.definition

    def next(self) -> by_spark.SparkVerb:
        """Returns a verb that Spark can run."""
        while True:
            verb = self.steps.next()
            # Spark fails with an internal error if BETWEEN is in the condition of an overwrite.
            is_internal_error = isinstance(verb, Overwrite) and "BETWEEN" in str(verb.where)
            raises = isinstance(verb, Append) and verb.raises_at_end
            # delta-spark enables the feature of this type only by ALTER TABLE.
            lacks_feature = any("timestamp[us]" in str(kind) for kind in _new_types(verb))
            # delta-spark does not replace an identity column by another column of its name.
            names = verb.columns if isinstance(verb, Overwrite) and verb.replaces is not None else []
            is_kept = not self.definition.identities.keys().isdisjoint(names)
            # delta-spark refuses to drop columns of a table with column mapping and a change feed.
            drops = isinstance(verb, Overwrite) and verb.replaces is not None and self._keeps_columns()
            is_spark_verb = isinstance(verb, Append | Overwrite | Delete | Update)
            if is_spark_verb and not (is_internal_error or raises or lacks_feature or is_kept or drops):
                return verb

    def _keeps_columns(self) -> bool:
        return self.definition.has(FEED) and "delta.columnMapping.mode" in self.definition.properties

    def step(self, verb: by_spark.SparkVerb) -> None:
        """Runs a verb by both, on a copy each."""
        self.log.append(str(verb))
        self.counts[type(verb).__name__] += 1
        number = self.counts.total()
        paths = [self.root / f"{number}-deltaic", self.root / f"{number}-delta-spark"]
        for path in paths:
            shutil.copytree(self.path, path)
        before, schema = deltaic.Table(self.path).snapshot().version, self.definition.schema
        try:
            effect = alterations.effect(self.model, verb, self.chance)
        except Refused as refused:
            self._refuse(verb, refused, paths, before)
            return
        rows = [*self.model.rows, *(known.row for known in effect.after)]
        loses = is_lost(rows) or "'-0.0'" in str(verb)
        self.spark.conf.set(PUSHDOWN, str(not loses).lower())
        ours = by_deltaic.run(deltaic.Table(paths[0]), verb, self.definition.schema)
        try:
            theirs = by_spark.run(self.spark, paths[1], verb, self.definition.schema)
        except (PySparkException, Py4JJavaError) as error:
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
        marks = [effect.marks, self._marks_of_spark(verb, effect)]
        assert [marks_of(deltaic.Table(path).snapshot()) for path in paths] == marks
        chosen = self.chance.choice([0, 1])
        self.path, self.model.known, self.model.marks = paths[chosen], known[chosen], marks[chosen]
        self.log.append(f"  continue with {self.path.name}")

    def _refuse(self, verb: by_spark.SparkVerb, refused: Refused, paths: list[Path], before: int) -> None:
        """Both raise, and both tables are as before."""
        self.log.append(f"  must be refused: {refused}")
        self.counts["refused"] += 1
        with pytest.raises(by_deltaic.REFUSALS):
            by_deltaic.run(deltaic.Table(paths[0]), verb, self.definition.schema)
        if "partition value of" not in str(refused):  # delta-spark writes NULL instead of an empty text
            with pytest.raises((PySparkException, Py4JJavaError)) as caught:
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
        has_vectors = self.definition.has("delta.enableDeletionVectors")
        if has_vectors and isinstance(verb, Overwrite):
            return  # delta-spark rewrites the files, deltaic deletes by deletion vectors
        # delta-spark counts no rows of an overwrite that writes no file; ours are compared with the model.
        uncounted = COUNTS_OF_ROWS if isinstance(verb, Overwrite) and theirs["numFiles"] == 0 else set[str]()
        for name in SAME_METRICS:
            if name in uncounted - theirs.keys():
                continue
            if has_vectors and isinstance(verb, Update) and name in COUNTED_OTHERWISE:
                continue
            assert ours.get(name) == theirs.get(name), name

    def _read(self, path: Path) -> pa.Table:
        return deltaic.Table(path).snapshot().scan().to_arrow()

    def _marks_of_spark(self, verb: by_spark.SparkVerb, effect: Effect) -> Marks:
        """Returns the high-water marks, which delta-spark does not move past values that rows contain."""
        if not isinstance(verb, Append | Overwrite):
            return effect.marks
        old = self.model.marks
        kept = {name: old.get(name) if name in verb.columns else mark for name, mark in effect.marks.items()}
        return {name: mark for name, mark in kept.items() if mark is not None}

    def _compare(self, path: Path, effect: Effect, outcome: Outcome, *, has_feed: bool) -> list[Known]:
        """Both read the rows, changes and row ids of the model; returns the rows with their ids."""
        schema = self.definition.schema
        rows = [known.row for known in effect.after]
        tables = {"deltaic": self._read(path), "delta-spark": by_spark.read(self.spark, path)}
        if by_duckdb.can_read(self.definition):
            tables["DuckDB"] = by_duckdb.read(path)
        for reader, table in tables.items():
            assert (found := same_rows(table, rows, schema)) is None, f"{path} by {reader}: {found}"
        version = outcome.version
        if version is None:
            return effect.after
        if has_feed and self.definition.has(FEED):
            feed = deltaic.Table(path).changes(version, version).to_arrow()
            compare_changes(feed, effect, schema)
            # delta-spark's feed passes rows through a calendar without ten days of this year.
            if "datetime.date(1582" not in repr(effect) and "datetime.datetime(1582" not in repr(effect):
                compare_changes(by_spark.read_changes(self.spark, path, version), effect, schema)
        if not self.definition.has(ROW_IDS):
            return effect.after
        snapshot = deltaic.Table(path).snapshot()
        identified(
            self.definition, by_spark.read_row_ids(self.spark, path, schema.names), effect.after, version
        )
        return identified(self.definition, snapshot.scan(row_ids=True).to_arrow(), effect.after, version)


def _new_types(verb: object) -> list[pa.DataType]:
    """Returns the types of the columns that a verb may add."""
    if isinstance(verb, Overwrite) and verb.replaces is not None:
        return [*verb.replaces.schema.types]
    return [verb.added.type] if isinstance(verb, Append) and verb.added is not None else []


def is_lost(value: object) -> bool:
    """Whether Spark's pushdown into Parquet loses rows with a value: -0.0, or a day of the calendar's gap."""
    if isinstance(value, dict):
        return any(map(is_lost, value.values()))
    if isinstance(value, list | tuple):
        return any(map(is_lost, value))
    if isinstance(value, date):
        return (value.year, value.month) == (1582, 10)
    return isinstance(value, float) and value == 0 and math.copysign(1, value) < 0


@pytest.mark.parametrize("number", range(PROGRAMS))
def test_programs(spark: SparkSession, tmp_path: Path, number: int) -> None:  # noqa: F811 - the fixture
    program = Program(spark, tmp_path, generator("interop programs", number))
    try:
        program.step(program.steps.first())
        for _ in range(STEPS):
            program.step(program.next())
        assert deltaic.Table(program.path).check(deep=True).is_healthy
    except BaseException as error:
        error.add_note("\n".join([*program.log, f"to repeat: TEST_SEED={current_seed()}, program {number}"]))
        raise
    finally:
        shutil.rmtree(tmp_path, ignore_errors=True)
