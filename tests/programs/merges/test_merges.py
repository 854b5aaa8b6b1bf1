"""Random merges by deltaic and by a model: rows, changes, row ids, metrics and refusals are equal.

`make programs` runs more of them. A failure prints the merge, and the seed and `MERGE=…` that repeat it.
"""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest

from tests.programs import by_deltaic as verbs_by_deltaic
from tests.programs.comparisons import FEED, ROW_IDS, compare_changes, compare_rows, identified
from tests.programs.model import Effect, Model, Refused
from tests.programs.random_definition import random_definition
from tests.programs.steps import Steps
from tests.programs.test_programs import folder  # noqa: F401 - a fixture
from tests.seed import current_seed, generator

from . import by_deltaic
from .effect import MergeEffect, effect
from .random_merge import Merges
from .verb import Kind, Merge

MERGES = int(os.environ.get("MERGES") or 100)
GROUP = 25
APPENDS = 3


class Program:
    """A table of some files, its model, and a merge."""

    def __init__(self, root: Path, chance: random.Random) -> None:
        self.model = Model(random_definition(chance))
        self.table = verbs_by_deltaic.create(root, self.model.definition)
        self.log = [f"create {self.model.definition}"]
        steps = Steps(self.model, chance)
        for _ in range(chance.randint(1, APPENDS)):
            append = steps.first()
            self.log.append(str(append))
            try:
                found = self.model.effect(append)
            except Refused:
                continue
            verbs_by_deltaic.run(self.table, append, self.model.definition.schema)
            self._apply(found)
        self.merge = merge_of(self.model, chance)
        self.log.append(str(self.merge))

    def run(self) -> None:
        """Merges, and compares the table with the model."""
        before = self.table.snapshot().version
        try:
            merged = effect(self.model, self.merge)
        except Refused as refused:
            self.log.append(f"  must be refused: {refused}")
            with pytest.raises(verbs_by_deltaic.REFUSALS):
                by_deltaic.run(self.table, self.merge)
            assert self.table.snapshot().version == before
            return
        dry = by_deltaic.preview(self.table, self.merge)
        assert dry.rows == len(merged.preimages) + len(merged.deletes)
        assert dry.added_rows == len(merged.inserts)
        outcome = by_deltaic.run(self.table, self.merge)
        self.log.append(f"  deltaic: {outcome}")
        if outcome.version is None:
            assert merged.is_nothing
        else:
            assert outcome.version == before + 1
            compare_metrics(merged, outcome.metrics)
        self._apply(merged)
        assert self.table.check(deep=True).is_healthy

    def _apply(self, found: Effect) -> None:
        """Compares the rows, changes and row ids with those of the model, which then changes."""
        version = self.table.snapshot().version
        self.model.known, self.model.marks = found.after, found.marks
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


def merge_of(model: Model, chance: random.Random) -> Merge:
    """Returns a merge whose generated values are determined: clauses that insert rows take them in turn."""
    while True:
        merge = Merges(model, chance).merge()
        if not model.definition.identities or len(merge.of(Kind.NOT_MATCHED)) < 2:
            return merge


def compare_metrics(merged: MergeEffect, metrics: dict[str, int]) -> None:
    """Metrics about rows are those of the model."""
    assert {name: metrics[name] for name in merged.metrics} == merged.metrics
    written = len(merged.inserts) + len(merged.postimages)
    assert metrics["numOutputRows"] == written + metrics["numTargetRowsCopied"]


def chosen() -> list[range]:
    if only := os.environ.get("MERGE"):
        return [range(int(only), int(only) + 1)]
    return [range(first, min(first + GROUP, MERGES)) for first in range(0, MERGES, GROUP)]


@pytest.mark.parametrize("numbers", chosen(), ids=lambda numbers: f"{numbers.start}-{numbers.stop - 1}")
def test_merges(folder: Path, numbers: range) -> None:  # noqa: F811 - the fixture
    for number in numbers:
        root = folder / str(number)
        program = None
        try:
            program = Program(root, generator("merges", number))
            program.run()
        except Exception as error:
            error.add_note("\n".join(program.log if program else []))
            error.add_note(f"to repeat: TEST_SEED={current_seed()} MERGE={number}")
            raise
        shutil.rmtree(root)
