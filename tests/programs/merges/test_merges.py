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
from .effect import apply, compare_metrics, effect
from .evolution import widens
from .random_merge import Merges
from .verb import InsertAll, UpdateAll

MERGES = int(os.environ.get("MERGES") or 100)
# The merges into a table, one after another.
EACH = 4
# The merges of a test.
GROUP = 25
APPENDS = 3


class Program:
    """A table of some files, its model, and merges."""

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
        self.chance = chance

    def run(self) -> None:
        """Merges, and compares the table with the model."""
        merge = Merges(self.model, self.chance).merge()
        # Generated identities are in the order of the rows, which temporary files do not keep.
        ordered = bool(self.model.definition.identities)
        # The column that makes rows large would be a new column of the table.
        takes_all = any(isinstance(clause.action, UpdateAll | InsertAll) for clause in merge.clauses)
        adds_it = merge.evolves and takes_all
        is_large = not (ordered or adds_it) and self.chance.random() < 0.5
        self.log.append(f"{merge}{' of large rows' if is_large else ''}")
        before = self.table.snapshot().version
        try:
            merged = effect(self.model, merge)
        except Refused as refused:
            self.log.append(f"  must be refused: {refused}")
            if "overflow" in str(refused) and widens(self.model.definition, merge):
                return  # delta-spark computes with the type that a column had, deltaic with the wider one
            with pytest.raises(verbs_by_deltaic.REFUSALS):
                by_deltaic.run(self.table, merge, is_large=is_large)
            assert self.table.snapshot().version == before
            return
        dry = by_deltaic.preview(self.table, merge)
        assert dry.rows == len(merged.preimages) + len(merged.deletes)
        assert dry.added_rows == len(merged.inserts)
        outcome = by_deltaic.run(self.table, merge, is_large=is_large)
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


def merge_into(root: Path, number: int) -> int:
    """Merges several times into a table; returns how often."""
    program = None
    try:
        program = Program(root, generator("merges", number))
        schema = program.model.definition.schema
        merges = 0
        # Merges are made for the types and columns that tables are created with.
        while merges < EACH and program.model.definition.schema == schema:
            program.run()
            merges += 1
    except Exception as error:
        error.add_note("\n".join(program.log if program else []))
        error.add_note(f"to repeat: TEST_SEED={current_seed()} MERGE={number}")
        raise
    shutil.rmtree(root)
    return merges


@pytest.mark.parametrize("first", range(0, MERGES, GROUP))
def test_merges(folder: Path, first: int) -> None:  # noqa: F811 - the fixture
    if only := os.environ.get("MERGE"):
        merge_into(folder / only, int(only))
        return
    # Each table is merged into at least once, so the numbers of the tables of all groups differ.
    left, number = min(GROUP, MERGES - first), first
    while left > 0:
        left -= merge_into(folder / str(number), number)
        number += 1
