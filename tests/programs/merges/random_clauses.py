"""Generates the clauses of merges."""

from __future__ import annotations

import random

import pyarrow as pa

from tests.programs.definitions import Definition
from tests.programs.expressions import Expression
from tests.programs.values import Row

from .assignments import can_assign
from .both_sides import PairConditions, PairValues, Sides, field_of, of_side
from .effect import source_value
from .verb import (
    SOURCE,
    TARGET,
    Action,
    Clause,
    Delete,
    Insert,
    InsertAll,
    Kind,
    Pair,
    Update,
    UpdateAll,
)

COUNTS = [(1, 1, 0), (1, 1, 0), (2, 1, 0), (0, 1, 0), (1, 0, 0), (3, 0, 0), (2, 2, 0)]
COUNTS += [(1, 1, 1), (2, 2, 2), (0, 1, 1), (1, 0, 1), (0, 0, 2)]
"""How many clauses of each kind a merge has."""


class Clauses:
    """Random clauses for a table and a source, with their current rows."""

    def __init__(
        self,
        definition: Definition,
        schema: pa.Schema,
        rows: tuple[list[Row], list[Row]],
        chance: random.Random,
        *,
        evolves: bool = False,
    ) -> None:
        self.definition = definition
        self.schema = schema
        self.target, self.source = rows
        self.chance = chance
        self.evolves = evolves
        names = {name.lower() for name in schema.names}
        self.has_all = evolves or all(name.lower() in names for name in definition.schema.names)
        """Whether the source has all columns of the table."""

    def clauses(self) -> list[Clause]:
        """Returns at least one clause; the kinds are in any order."""
        chance = self.chance
        matched, new, rest = chance.choice(COUNTS)
        if self.definition.identities:
            # Rows of several clauses may be numbered in any order.
            new = min(new, 1)
        clauses = [
            *self._of(Kind.MATCHED, matched),
            *self._of(Kind.NOT_MATCHED, new),
            *self._of(Kind.NOT_MATCHED_BY_SOURCE, rest),
        ]
        if chance.random() < 0.3:
            # The order of the kinds is free, that of the clauses of a kind is not.
            order = [clause.kind for clause in clauses]
            chance.shuffle(order)
            left = {kind: [clause for clause in clauses if clause.kind is kind] for kind in Kind}
            clauses = [left[kind].pop(0) for kind in order]
        return clauses

    def _of(self, kind: Kind, count: int) -> list[Clause]:
        sides = self._sides(kind)
        found: list[Clause] = []
        for number in range(count):
            is_last = number == count - 1
            condition = None if is_last and self.chance.random() < 0.55 else self._condition(sides)
            found.append(Clause(kind, self._action(kind, sides), condition))
        return found

    def _sides(self, kind: Kind) -> Sides:
        both = {TARGET: self.definition.schema, SOURCE: self.schema}
        if kind is Kind.MATCHED:
            return both
        side = SOURCE if kind is Kind.NOT_MATCHED else TARGET
        return {side: both[side]}

    def _condition(self, sides: Sides) -> Expression:
        """Returns a condition that often holds for some of the pairs."""
        chance = self.chance
        rows = {TARGET: self.target or [self.definition.row(chance)], SOURCE: self.source}
        if not self.source:
            rows[SOURCE] = [dict.fromkeys(self.schema.names)]
        pairs: list[Pair] = [{side: chance.choice(rows[side]) for side in sides} for _ in range(10)]
        conditions = PairConditions(sides, pairs, chance, self.definition.chars)
        for _ in range(4):
            condition = conditions.condition(chance.choice([0, 1, 2]))
            if any(condition.holds(pair) for pair in pairs):
                break
        return condition

    def _action(self, kind: Kind, sides: Sides) -> Action:
        chance = self.chance
        # Now and then a source lacks columns that are needed.
        can_use_all = chance.random() < (0.04 if self.definition.identities or not self.has_all else 1)
        if kind is Kind.NOT_MATCHED:
            return InsertAll() if can_use_all and chance.random() < 0.5 else self._insert(sides)
        if chance.random() < 0.3:
            return Delete()
        if kind is Kind.MATCHED and can_use_all and chance.random() < 0.45:
            return UpdateAll()
        return self._update(sides)

    def _update(self, sides: Sides) -> Update:
        chance = self.chance
        values = PairValues(sides, self.definition.pools, chance)
        is_misuse = chance.random() < 0.04
        computed = self.definition.identities.keys() | self.definition.generated.keys()
        settable = [column for column in self.definition.schema if is_misuse or column.name not in computed]
        assignments: dict[tuple[str, ...], Expression] = {}
        for column in chance.sample(settable, min(len(settable), chance.choice([1, 1, 2, 3]))):
            if pa.types.is_struct(column.type) and chance.random() < 0.5:
                inner = chance.choice(list(column.type))
                assignments[column.name, inner.name] = values.field_value(inner)
            else:
                assignments[(column.name,)] = values.value(column)
        if self.evolves and SOURCE in sides:
            self._add_new(assignments)
        return Update(assignments)

    def _add_new(self, assignments: dict[tuple[str, ...], Expression]) -> None:
        """Adds assignments of columns and fields that only the source has, and of structs."""
        own = {column.name.lower(): column for column in self.definition.schema}
        for source in self.schema:
            if self.chance.random() < 0.5:
                continue
            column = own.get(source.name.lower())
            if column is None:
                assignments[(source.name,)] = source_value(source, source)
            elif not pa.types.is_struct(source.type) or any(path[0] == column.name for path in assignments):
                continue
            elif self.chance.random() < 0.5:
                assignments[(column.name,)] = source_value(source, source)
            elif "more" in [field.name for field in source.type]:
                more = source.type.field("more")
                assignments[column.name, "more"] = of_side(SOURCE, field_of(source, more))

    def _insert(self, sides: Sides) -> Insert:
        """Returns an insert, most of whose values are those of the source's columns of the same names."""
        chance = self.chance
        values = PairValues(sides, self.definition.pools, chance)
        by_name = {column.name.lower(): column for column in self.schema}
        found: dict[str, Expression] = {}
        for column in self.definition.schema:
            identity = self.definition.identities.get(column.name)
            if identity is not None and chance.random() > (0.03 if identity.always else 0.3):
                continue
            is_generated = column.name in self.definition.generated
            is_optional = column.nullable or column.name in self.definition.defaults
            if chance.random() < (0.7 if is_generated else 0.25 if is_optional else 0.02):
                continue
            source = by_name.get(column.name.lower())
            if source is not None and can_assign(source.type, column.type) and chance.random() < 0.8:
                found[column.name] = source_value(source, column)
            elif source is not None and self.evolves and pa.types.is_nested(source.type):
                found[column.name] = source_value(source, source)
            elif not is_generated:
                found[column.name] = values.value(column)
        if not found:
            column = self.definition.schema.field(0)
            found[column.name] = values.value(column)
        extra = by_name.get("extra")
        if self.evolves and extra is not None and chance.random() < 0.6:
            found["extra"] = source_value(extra, extra)
        if chance.random() < 0.3:
            found = dict(chance.sample(list(found.items()), len(found)))
        return Insert(found)
