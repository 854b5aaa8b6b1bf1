"""Generates merges into a table."""

from __future__ import annotations

import random
from dataclasses import replace

from tests.programs.model import Model

from .effect import allows_multiple_matches, multiple_matches
from .random_clauses import Clauses
from .random_join import Joins
from .random_source import Sources
from .verb import Kind, Merge


class Merges:
    """Random merges into a table with the rows of a model."""

    def __init__(self, model: Model, chance: random.Random, *, evolves: float = 0.3) -> None:
        self.model = model
        self.chance = chance
        self.evolves = evolves
        """How often a merge changes the schema."""

    def merge(self) -> Merge:
        """Returns a merge, most of which the table accepts."""
        while True:
            merge = self._merge()
            # Clauses that insert rows take generated values in turn.
            if not self.model.definition.identities or len(merge.of(Kind.NOT_MATCHED)) < 2:
                return merge

    def _merge(self) -> Merge:
        chance = self.chance
        definition, rows = self.model.definition, self.model.rows
        evolves = chance.random() < self.evolves
        sources = Sources(definition, rows, chance, evolves=evolves)
        schema = sources.schema()
        joins = Joins(definition.schema, schema, chance, definition.chars)
        keys = joins.keys()
        source_rows = sources.rows(schema, [target.name for target, _ in keys])
        on = joins.condition(keys, rows, source_rows)
        clauses = Clauses(definition, schema, (rows, source_rows), chance, evolves=evolves).clauses()
        merge = Merge(schema, source_rows, on, clauses, chance.choice([1, 1, 3]), evolves)
        if allows_multiple_matches(merge) or chance.random() < 0.12:
            return merge
        dropped = multiple_matches(rows, merge)
        kept = [row for index, row in enumerate(source_rows) if index not in dropped]
        return replace(merge, rows=kept)
