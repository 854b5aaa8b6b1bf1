"""Random merges by deltaic, delta-spark and a model: rows, changes, metrics and refusals are equal."""

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

import deltaic
from tests.programs import by_deltaic, by_spark
from tests.programs.comparisons import FEED, ROW_IDS, compare_changes, compare_rows, identified, same_rows
from tests.programs.definitions import Definition
from tests.programs.merges import by_deltaic as merges_by_deltaic
from tests.programs.merges import by_spark as merges_by_spark
from tests.programs.merges.effect import (
    MergeEffect,
    allows_multiple_matches,
    apply,
    compare_metrics,
    effect,
    matches_nothing,
    multiple_matches,
)
from tests.programs.merges.evolution import evolved, widens
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
        while is_left_out(self.model, merge := Merges(self.model, chance).merge()):
            pass
        self.merge = merge
        self.log.append(str(self.merge))

    @property
    def definition(self) -> Definition:
        return self.model.definition

    def run(self) -> None:
        """Runs the merge by both, on a copy each, and compares the tables with the model."""
        before = self.table.snapshot().version
        copy = self.root.with_name("copy")
        shutil.copytree(self.root, copy)
        try:
            merged = effect(self.model, self.merge)
        except Refused as refused:
            # deltaic computes with the wider type of a column that the merge widens.
            if not ("overflow" in str(refused) and widens(self.definition, self.merge)):
                with pytest.raises(by_deltaic.REFUSALS):
                    merges_by_deltaic.run(deltaic.Table(copy), self.merge)
                assert deltaic.Table(copy).snapshot().version == before
            self._refuse(refused, before)
            return
        self._compare_ours(copy, merged)
        rows = [*self.model.rows, *(known.row for known in merged.after), *self.merge.rows]
        loses = is_lost(rows) or "'-0.0'" in str(self.merge)
        self.spark.conf.set(PUSHDOWN, str(not loses).lower())
        try:
            outcome = merges_by_spark.run(self.spark, self.root, self.merge)
        except (PySparkException, Py4JJavaError) as error:
            # An internal error of delta-spark; deltaic's table was compared with the model.
            if "BETWEEN" in str(self.merge) and "did not match any merge clause" in str(error):
                self.log.append("  delta-spark: an internal error")
                return
            # Without the stack trace of the JVM.
            raise AssertionError(f"delta-spark: {str(error)[:MOST_SHOWN]}") from None
        self.log.append(f"  delta-spark: {outcome}")
        if outcome.version is None:
            assert merged.is_nothing
        else:
            # It does not read the source if the join condition is the same for all of its rows.
            inserts_nothing = self.merge.inserts_only and merged.is_nothing
            is_unread = inserts_nothing or matches_nothing(self.model.rows, self.merge)
            if outcome.metrics["numSourceRows"] == 0 and is_unread:
                merged.metrics["numSourceRows"] = 0
            compare_metrics(merged, outcome.metrics)
            changes = not merged.is_nothing or merged.definition is not None
            assert changes or rewrites_unchanged(self.merge)
        self._apply(merged, outcome)

    def _compare_ours(self, root: Path, merged: MergeEffect) -> None:
        """Compares the metrics and changes of deltaic with the model; delta-spark reads the same rows."""
        ours = deltaic.Table(root)
        outcome = merges_by_deltaic.run(ours, self.merge)
        self.log.append(f"  deltaic: {outcome}")
        assert (outcome.version is None) == (merged.is_nothing and merged.definition is None)
        schema = (merged.definition or self.definition).schema
        rows = [known.row for known in merged.after]
        for table in (ours.snapshot().scan().to_arrow(), by_spark.read(self.spark, root)):
            assert (found := same_rows(table, rows, schema)) is None, found
        if outcome.version is None:
            return
        compare_metrics(merged, outcome.metrics)
        if self.definition.has(FEED) and not merged.is_nothing:
            feed = ours.changes(outcome.version, outcome.version).to_arrow()
            compare_changes(feed, merged, schema)
            # delta-spark's feed passes rows through a calendar without ten days of this year.
            if "datetime.date(1582" not in repr(merged) and "datetime.datetime(1582" not in repr(merged):
                compare_changes(by_spark.read_changes(self.spark, root, outcome.version), merged, schema)
        assert ours.check(deep=True).is_healthy

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
        apply(self.model, found)
        schema = self.definition.schema
        compare_rows(self.table.snapshot(), self.model)
        if outcome.version is None:
            return
        if self.definition.has(FEED):
            compare_changes(self._feed(found, outcome.version), found, schema)
        if self.definition.has(ROW_IDS):
            ids = self.table.snapshot().scan(row_ids=True).to_arrow()
            self.model.known = identified(self.definition, ids, found.after, outcome.version)


def is_left_out(model: Model, merge: Merge) -> bool:
    """Whether delta-spark cannot run a merge as the model does."""
    if loses_rows(model, merge):
        return True
    # It does not add the feature of this type by itself.
    kinds = (model.definition.schema, evolved(model.definition, merge).schema)
    before, after = (has_local_time(pa.struct(list(schema))) for schema in kinds)
    return merge.evolves and after and not before


def has_local_time(kind: pa.DataType) -> bool:
    """Whether a type or a part of it is a timestamp without a zone."""
    if pa.types.is_nested(kind):
        return any(has_local_time(kind.field(index).type) for index in range(kind.num_fields))
    return pa.types.is_timestamp(kind) and kind.tz is None


def loses_rows(model: Model, merge: Merge) -> bool:
    """Whether delta-spark loses copied, updated or inserted rows.

    With a change data feed and clauses that insert, it identifies deleted rows that match several source rows
    by numbers that other rows have too.
    """
    inserts = bool(merge.of(Kind.NOT_MATCHED)) and not merge.inserts_only
    is_several = allows_multiple_matches(merge) and bool(multiple_matches(model.rows, merge))
    return model.definition.has(FEED) and inserts and is_several


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
