"""Generates the conditions that join the rows of a source to those of the table."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

import pyarrow as pa

from tests.programs.expressions import Expression, compared, conjunction
from tests.programs.values import INTEGERS, Row, is_leaf, literal, quoted, random_value

from .both_sides import PairConditions, of_side
from .verb import SOURCE, TARGET

Key = tuple[pa.Field, pa.Field]
"""A column of the table and a column of the source that must be equal."""


class Joins:
    """Random join conditions of two sides."""

    def __init__(
        self, target: pa.Schema, source: pa.Schema, chance: random.Random, chars: Collection[str] = ()
    ) -> None:
        self.sides = {TARGET: target, SOURCE: source}
        self.chance = chance
        self.chars = chars

    def keys(self) -> list[Key]:
        """Returns the keys; no key for a join without equality."""
        target, source = self.sides.values()
        possible = [
            (column, other) for column in target for other in source if can_compare(column.type, other.type)
        ]
        same = [(column, other) for column, other in possible if column.name.lower() == other.name.lower()]
        if not possible or self.chance.random() < 0.05:
            return []
        if not same or self.chance.random() < 0.05:
            return [self.chance.choice(possible)]
        return self.chance.sample(same, min(len(same), self.chance.choice([1, 1, 1, 2, 2, 3])))

    def condition(self, keys: list[Key], target: list[Row], source: list[Row]) -> Expression:
        """Returns the condition: equal keys, and maybe a condition on both rows."""
        chance = self.chance
        if not keys and chance.random() < 0.5:
            value = chance.random() < 0.3
            return Expression(str(value).upper(), pa.bool_(), lambda _: value)
        parts = [self._equality(key) for key in keys]
        if not keys or chance.random() < 0.2:
            pairs = [{TARGET: row, SOURCE: other} for row in target for other in source]
            sample = chance.sample(pairs, min(len(pairs), 10))
            parts.append(
                PairConditions(self.sides, sample, chance, self.chars).condition(chance.choice([0, 0, 1]))
            )
        chance.shuffle(parts)
        on = parts[0]
        for part in parts[1:]:
            on = _both(on, part)
        return on

    def _equality(self, key: Key) -> Expression:
        chance = self.chance
        target, source = key
        kind = pa.float64() if pa.types.is_floating(target.type) else target.type
        left, right = _column(TARGET, target), _column(SOURCE, source)
        if chance.random() < 0.15:
            wrap = self._wrapper(target.type, source.type)
            left, right = wrap(left), wrap(right)
        if chance.random() < 0.3:
            left, right = right, left
        op = chance.choice(["=", "=", "=", "<=>"])
        return Expression(
            f"{left} {op} {right}", pa.bool_(), lambda pair: compared(op, left.of(pair), right.of(pair), kind)
        )

    def _wrapper(self, one: pa.DataType, other: pa.DataType) -> Callable[[Expression], Expression]:
        """Returns a function of keys that cannot fail."""
        chance = self.chance

        def wrapped(sql: str, of: Callable[[Any], Any]) -> Callable[[Expression], Expression]:
            return lambda key: replace(key, sql=sql.format(key), of=lambda pair: of(key.of(pair)))

        def null_safe(of: Callable[[Any], Any]) -> Callable[[Any], Any]:
            return lambda value: None if value is None else of(value)

        if pa.types.is_string(one) and chance.random() < 0.6:
            sql, of = chance.choice(
                [("substring({}, 1, 1)", lambda text: text[:1]), ("concat({}, 'x')", lambda text: text + "x")]
            )
            return wrapped(sql, null_safe(of))
        if {one, other} <= INTEGERS.keys() - {pa.int64()} and chance.random() < 0.6:
            return wrapped("CAST({} AS BIGINT) + 1", null_safe(lambda number: number + 1))
        kind = one if one == other else pa.int8() if one in INTEGERS else pa.float32()
        instead = random_value(kind, chance, nulls=0.0)
        text = literal(instead, kind).replace("{", "{{").replace("}", "}}")
        return wrapped(f"coalesce({{}}, {text})", lambda value: instead if value is None else value)


def can_compare(one: pa.DataType, other: pa.DataType) -> bool:
    """Whether keys of two types can be compared without loss."""
    if one == other:
        return is_leaf(one)
    both = {one, other}
    return both <= INTEGERS.keys() or both == {pa.float32(), pa.float64()}


def _column(side: str, column: pa.Field) -> Expression:
    return of_side(side, Expression(quoted(column.name), column.type, lambda row: row[column.name]))


def _both(left: Expression, right: Expression) -> Expression:
    return Expression(
        f"{left} AND {right}", pa.bool_(), lambda pair: conjunction(left.of(pair), right.of(pair))
    )
