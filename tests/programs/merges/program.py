"""Runs merges into a table by deltaic and by the model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.programs import by_deltaic as verbs_by_deltaic
from tests.programs.comparisons import FEED, ROW_IDS, compare_changes, compare_rows, identified
from tests.programs.definitions import Definition
from tests.programs.model import Effect, Model, Refused
from tests.programs.verbs import Append

from . import by_deltaic
from .effect import apply, compare_metrics, effect
from .evolution import widens
from .plan import Step
from .verb import Merge


class Program:
    """A table, its model, and what was done to them."""

    def __init__(self, root: Path, definition: Definition, log: list[str]) -> None:
        self.model = Model(definition)
        self.log = log
        self.log.append(f"create {definition}")
        self.table = verbs_by_deltaic.create(root, definition)

    def run(self, steps: Sequence[Step]) -> None:
        """Runs the steps, and compares the table with the model after each."""
        for step in steps:
            self.log.append(str(step))
            if isinstance(step.verb, Append):
                self._append(step.verb)
            else:
                self._merge(step.verb, memory=step.memory)

    def _append(self, append: Append) -> None:
        try:
            found = self.model.effect(append)
        except Refused:
            return
        verbs_by_deltaic.run(self.table, append, self.model.definition.schema)
        self._apply(found)

    def _merge(self, merge: Merge, *, memory: int | None) -> None:
        before = self.table.snapshot().version
        try:
            merged = effect(self.model, merge)
        except Refused as refused:
            self.log.append(f"  must be refused: {refused}")
            if "overflow" in str(refused) and widens(self.model.definition, merge):
                return  # delta-spark computes with the type that a column had, deltaic with the wider one
            with pytest.raises(verbs_by_deltaic.REFUSALS):
                by_deltaic.run(self.table, merge, memory=memory)
            assert self.table.snapshot().version == before
            return
        dry = by_deltaic.preview(self.table, merge)
        assert dry.rows == len(merged.preimages) + len(merged.deletes)
        assert dry.added_rows == len(merged.inserts)
        outcome = by_deltaic.run(self.table, merge, memory=memory)
        self.log.append(f"  deltaic: {outcome}")
        if outcome.version is None:
            assert merged.is_nothing
            assert merged.definition is None
        else:
            assert outcome.version == before + 1
            assert not merged.is_nothing or merged.definition is not None
            compare_metrics(merged, outcome.metrics)
        self._apply(merged)
        assert self.table.check(deep=True).is_healthy

    def _apply(self, found: Effect) -> None:
        """Compares the rows, changes and row ids with those of the model, which then changes."""
        version = self.table.snapshot().version
        apply(self.model, found)
        snapshot = self.table.snapshot()
        compare_rows(snapshot, self.model)
        if found.is_nothing:
            return
        if self.model.definition.has(FEED):
            changes = self.table.changes(version, version).to_arrow()
            compare_changes(changes, found, self.model.definition.schema)
        if self.model.definition.has(ROW_IDS):
            ids = snapshot.scan(row_ids=True).to_arrow()
            self.model.known = identified(self.model.definition, ids, found.after, version)
