"""Runs a program: its steps change a table and its model alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa

import deltaic
from tests.seed import generator

from . import alterations, by_deltaic
from .alterations import Alter
from .comparisons import (
    FEED,
    ROW_IDS,
    compare_changes,
    compare_net_changes,
    compare_predicate,
    compare_rows,
    identified,
    marks_of,
)
from .definitions import Definition
from .merges.effect import MergeEffect
from .merges.effect import compare_metrics as compare_merge_metrics
from .model import Effect, Model, Refused
from .plan import Step
from .verbs import Append, Delete, Maintain, Outcome, Overwrite, RowVerb, Update

Run = Callable[[deltaic.Table, RowVerb, pa.Schema], Outcome]
"""Runs a verb on a table with these columns."""


class Program:
    """A table, its model, and what was done to them."""

    def __init__(self, root: Path, definition: Definition, log: list[str], run: Run = by_deltaic.run) -> None:
        self.root = root
        self._run_verb = run
        self.model = Model(definition)
        self.log = log
        self.log.append(f"create {definition}")
        self.table = by_deltaic.create(root, definition)
        # The values of a new column were drawn when the steps were.
        self.chance = generator("new columns of programs")
        self.versions: dict[int, Model] = {}
        """Earlier versions."""

    @property
    def definition(self) -> Definition:
        """The table, whose columns may have changed."""
        return self.model.definition

    def run(self, steps: Sequence[Step]) -> None:
        """Runs the steps, and compares the table with the model after each."""
        for step in steps:
            self.log.append(str(step))
            self._run(step)
        self._end()

    def _run(self, step: Step) -> None:
        verb = step.verb
        if isinstance(verb, Maintain):
            self._maintain(verb, step)
            return
        before, schema = self.table.snapshot().version, self.definition.schema
        if isinstance(verb, Alter):
            assert alterations.run(self.table, verb).version == before + 1
            alterations.apply(self.model, verb, self.chance)
            self._compare(step)
            return
        try:
            effect = alterations.effect(self.model, verb, self.chance)
        except Refused as refused:
            self._refuse(verb, refused, before)
            self._compare(step)
            return
        found = by_deltaic.preview(self.table, verb, self.definition.schema)
        if found is not None:
            assert found.rows in (None, len(effect.deletes) + len(effect.preimages))
            assert found.added_rows == len(effect.inserts)
        outcome = self._run_verb(self.table, verb, self.definition.schema)
        has_feed = alterations.fit_one_schema(schema, self.definition.schema)
        self._apply(step, effect, outcome, before, has_feed=has_feed)

    def _maintain(self, verb: Maintain, step: Step) -> None:
        """The rows are the same, with the same row ids, and no change is reported."""
        before = self.table.snapshot()
        if verb.how == "clone":
            self._clone()
            return
        by_deltaic.maintain(self.table, verb, self.versions)
        if verb.how == "vacuum":
            self._compare_files()
        self._compare(step)
        after = self.table.snapshot()
        if self.definition.has(ROW_IDS):
            names = ["_row_id", "_row_commit_version"]
            ids = [version.scan(row_ids=True).to_arrow().select(names) for version in (before, after)]
            assert ids[0].sort_by("_row_id").equals(ids[1].sort_by("_row_id"))
        for infer in (False, True) if self.definition.has(FEED) else (True,):
            for version in range(before.version + 1, after.version + 1):
                assert not self.table.changes(version, version, infer=infer).to_arrow().num_rows

    def _clone(self) -> None:
        """A clone has the rows, with row ids of its own, and can be changed."""
        root = self.root.with_name(f"clone of version {self.table.snapshot().version}")
        clone = self.table.clone(root, if_exists="replace").table
        compare_rows(clone.snapshot(), self.model)
        assert clone.check(deep=True).is_healthy
        if self.model.rows and not self.definition.properties.get("delta.appendOnly"):
            clone.delete()
            assert clone.snapshot().scan().count() == 0
            compare_rows(self.table.snapshot(), self.model)

    def _compare_files(self) -> None:
        """A vacuum has left the files of the newest version and of those that it kept."""
        versions = [self.table.snapshot(), *map(self.table.snapshot, self.versions)]
        needed = {file for version in versions for file in version.files().to_arrow()["path"].to_pylist()}
        left = {str(path.relative_to(self.root)) for path in self.root.rglob("*.parquet")}
        assert {path for path in left if not path.startswith("_")} <= {unquote(path) for path in needed}

    def _refuse(self, verb: RowVerb, refused: Refused, before: int) -> None:
        """The verb raises, and the table is as before."""
        self.log.append(f"  must be refused: {refused}")
        try:
            outcome = self._run_verb(self.table, verb, self.definition.schema)
        except (*by_deltaic.REFUSALS, by_deltaic.BlockRaised) as error:
            self.log.append(f"  refused: {type(error).__name__}")
        else:
            raise AssertionError(f"not refused ({refused}): {outcome}")
        assert self.table.snapshot().version == before

    def _apply(self, step: Step, effect: Effect, outcome: Outcome, before: int, *, has_feed: bool) -> None:
        compare_metrics(step.verb, effect, outcome)
        if outcome.version is not None:
            assert outcome.version == before + 1
        else:
            assert effect.is_nothing
        if step.reopens:
            self.table = deltaic.Table(self.root)
        snapshot = self.table.snapshot()
        assert snapshot.version == (before if outcome.version is None else outcome.version)
        self.model.known, self.model.marks = effect.after, effect.marks
        self._compare(step)
        if outcome.version is None:
            return
        version = outcome.version
        self.versions[version] = Model(self.definition)
        self.versions[version].known = effect.after
        if self.definition.has(ROW_IDS):
            found = snapshot.scan(row_ids=True).to_arrow()
            self.model.known = identified(self.definition, found, effect.after, version)
        if not has_feed:
            return
        if self.definition.has(FEED):
            feed = self.table.changes(version, version).to_arrow()
            compare_changes(feed, effect, self.definition.schema)
        inferred = self.table.changes(version, version, infer=True).to_arrow()
        compare_net_changes(inferred, effect, self.definition.schema)

    def _compare(self, step: Step) -> None:
        snapshot = self.table.snapshot()
        compare_rows(snapshot, self.model)
        assert marks_of(snapshot) == self.model.marks
        for where in step.conditions:
            self.log.append(f"    scan {where}")
            compare_predicate(snapshot, self.model, where)
            self.log.pop()

    def _end(self) -> None:
        """The table is healthy, and the earlier versions still have their rows."""
        report = self.table.check(deep=True)
        assert report.is_healthy, str(report)
        for version, model in self.versions.items():
            compare_rows(self.table.snapshot(version=version), model)


def compare_metrics(verb: object, effect: Effect, outcome: Outcome) -> None:
    """Metrics about rows are those of the model."""
    if outcome.version is None:
        return
    if isinstance(effect, MergeEffect):
        compare_merge_metrics(effect, outcome.metrics)
    match verb:
        case Delete() if "numDeletedRows" in outcome.metrics:
            assert outcome.metrics["numDeletedRows"] == len(effect.deletes)
        case Update():
            assert outcome.metrics["numUpdatedRows"] == len(effect.preimages)
        case Append():
            assert outcome.metrics["numOutputRows"] == len(effect.inserts)
        case Overwrite():
            copied = outcome.metrics.get("numCopiedRows", 0)
            # delta-spark omits the metric if it writes no file.
            assert outcome.metrics.get("numOutputRows", 0) == len(effect.inserts) + copied
            if "numDeletedRows" in outcome.metrics:
                assert outcome.metrics["numDeletedRows"] == len(effect.deletes)
        case _:
            pass
