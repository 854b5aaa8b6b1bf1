"""Generates merges into a table."""

from __future__ import annotations

import random
from dataclasses import replace

from tests.programs.model import Model

from .effect import allows_multiple_matches, multiple_matches
from .random_clauses import Clauses
from .random_join import Joins
from .random_source import Sources
from .verb import Merge


class Merges:
    """Random merges into a table with the rows of a model."""

    def __init__(self, model: Model, chance: random.Random) -> None:
        self.model = model
        self.chance = chance

    def merge(self) -> Merge:
        """Returns a merge, most of which the table accepts."""
        chance = self.chance
        definition, rows = self.model.definition, self.model.rows
        sources = Sources(definition, rows, chance)
        schema = sources.schema()
        joins = Joins(definition.schema, schema, chance)
        keys = joins.keys()
        source_rows = sources.rows(schema, [target.name for target, _ in keys])
        on = joins.condition(keys, rows, source_rows)
        clauses = Clauses(definition, schema, rows, source_rows, chance).clauses()
        merge = Merge(schema, source_rows, on, clauses, chance.choice([1, 1, 3]))
        if allows_multiple_matches(merge) or chance.random() < 0.12:
            return merge
        dropped = multiple_matches(rows, merge)
        kept = [row for index, row in enumerate(source_rows) if index not in dropped]
        return replace(merge, rows=kept)
