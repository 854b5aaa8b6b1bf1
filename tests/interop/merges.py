"""A random merge that deltaic, delta-spark and the model run on copies of a table."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import deltaic
from tests.programs import by_deltaic, by_spark
from tests.programs.comparisons import FEED, ROW_IDS, compare_changes, compare_rows, identified, same_rows
from tests.programs.definitions import Definition
from tests.programs.merges import by_deltaic as merges_by_deltaic
from tests.programs.merges import by_spark as merges_by_spark
from tests.programs.merges.effect import MergeEffect, apply, compare_metrics, effect
from tests.programs.model import Effect, Model, Refused
from tests.programs.steps import Steps
from tests.programs.verbs import Outcome

from .delta_spark import PUSHDOWN
from .known_faults import of_merges, of_verbs
from .programs import ERRORS, MOST_SHOWN

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

APPENDS = 3


class Program:
    """A table of a few files, its model, and a merge."""

    def __init__(self, spark: SparkSession, root: Path, chance: random.Random) -> None:
        self.spark = spark
        self.root = root
        self.model = Model(of_merges.random_table(chance))
        self.table = by_deltaic.create(root, self.definition)
        self.log = [f"create {self.definition}"]
        steps = Steps(self.model, chance)
        for _ in range(chance.randint(1, APPENDS)):
            append = steps.first()
            self.log.append(str(append))
            self._apply(self.model.effect(append), by_deltaic.run(self.table, append, self.definition.schema))
        self.merge = of_merges.random_merge(self.model, chance)
        self.log.append(str(self.merge))
        # Generated identities are in the order of the rows, which temporary files do not keep.
        spills = not self.definition.identities and chance.random() < 0.5
        self.memory = chance.choice(merges_by_deltaic.MEMORY) if spills else None

    @property
    def definition(self) -> Definition:
        """The table, whose columns may have changed."""
        return self.model.definition

    def run(self) -> None:
        """Runs the merge by both, on a copy each, and compares the tables with the model."""
        before = self.table.snapshot().version
        copy = self.root.with_name("copy")
        shutil.copytree(self.root, copy)
        try:
            merged = effect(self.model, self.merge)
        except Refused as refused:
            if not of_merges.computes_narrower(self.definition, self.merge, refused):
                with pytest.raises(by_deltaic.REFUSALS):
                    merges_by_deltaic.run(deltaic.Table(copy), self.merge, memory=self.memory)
                assert deltaic.Table(copy).snapshot().version == before
            self._refuse(refused, before)
            return
        self._compare_ours(copy, merged)
        rows = [*self.model.rows, *(known.row for known in merged.after), *self.merge.rows]
        self.spark.conf.set(PUSHDOWN, str(not of_verbs.loses_in_pushdown(rows, self.merge)).lower())
        try:
            outcome = merges_by_spark.run(self.spark, self.root, self.merge)
        except ERRORS as error:
            # deltaic's table was compared with the model.
            if of_merges.is_internal_error(self.merge, str(error)):
                self.log.append("  delta-spark: an internal error")
                return
            # Without the stack trace of the JVM.
            raise AssertionError(f"delta-spark: {str(error)[:MOST_SHOWN]}") from None
        self.log.append(f"  delta-spark: {outcome}")
        if outcome.version is None:
            assert merged.is_nothing
        else:
            is_unread = of_merges.reads_no_source(self.model, self.merge, merged)
            if outcome.metrics["numSourceRows"] == 0 and is_unread:
                merged.metrics["numSourceRows"] = 0
            compare_metrics(merged, outcome.metrics)
            changes = not merged.is_nothing or merged.definition is not None
            assert changes or of_merges.rewrites_unchanged(self.merge)
        self._apply(merged, outcome)

    def _compare_ours(self, root: Path, merged: MergeEffect) -> None:
        """Compares the metrics and changes of deltaic with the model; delta-spark reads the same rows."""
        ours = deltaic.Table(root)
        outcome = merges_by_deltaic.run(ours, self.merge, memory=self.memory)
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
            if of_verbs.feed_is_exact(merged):
                compare_changes(by_spark.read_changes(self.spark, root, outcome.version), merged, schema)
        assert ours.check(deep=True).is_healthy

    def _refuse(self, refused: Refused, before: int) -> None:
        self.log.append(f"  must be refused: {refused}")
        if of_verbs.writes_null_instead(refused):
            return
        with pytest.raises(ERRORS) as caught:
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
