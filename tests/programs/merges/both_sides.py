"""Random conditions and values over the two sides of a merge."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from tests.programs import expressions
from tests.programs.expressions import Conditions, Expression, exact, floating
from tests.programs.values import INTEGERS, is_leaf, literal, quoted, random_value

from .assignments import assigned, can_assign
from .verb import TARGET, Pair

Sides = Mapping[str, pa.Schema]
"""The columns of the sides that an expression may use."""


def leaves_of(sides: Sides, chars: Collection[str]) -> list[Expression]:
    """Returns the primitive columns and fields of structs, of all sides."""
    return [
        of_side(side, leaf)
        for side, schema in sides.items()
        for leaf in expressions.leaves_of(schema, chars if side == TARGET else ())
    ]


def field_of(column: pa.Field, field: pa.Field) -> Expression:
    """Returns a field of a column of structs."""
    name, part = column.name, field.name
    return Expression(f"{quoted(name)}.{quoted(part)}", field.type, lambda row: (row[name] or {}).get(part))


def of_side(side: str, expression: Expression) -> Expression:
    """Returns a column as a function of pairs, qualified by the alias of its side."""
    return replace(expression, sql=f"{side}.{expression}", of=lambda pair: expression.of(pair[side]))


class PairConditions(Conditions):
    """Generates conditions on pairs, with values of the given pairs and their neighbours."""

    def __init__(
        self, sides: Sides, pairs: list[Pair], chance: random.Random, chars: Collection[str] = ()
    ) -> None:
        super().__init__(pa.schema([]), pairs, chance)
        self.sides = sides
        self.leaves = leaves_of(sides, chars)

    def _null(self) -> Expression:
        side = self.chance.choice(list(self.sides))
        name = self.chance.choice(self.sides[side].names)
        negated = self.chance.random() < 0.5
        sql = f"{side}.{quoted(name)} IS {'NOT ' if negated else ''}NULL"
        return Expression(sql, pa.bool_(), lambda pair: (pair[side][name] is None) != negated)


class PairValues:
    """Generates new values for columns of the table, from the given sides."""

    def __init__(self, sides: Sides, pools: Mapping[str, list[Any]], chance: random.Random) -> None:
        self.sides = sides
        self.pools = pools
        self.chance = chance

    def value(self, column: pa.Field) -> Expression:
        """Returns a value that can be assigned to a column; it may violate what the table requires."""
        return self._value(column, self.pools[column.name])

    def field_value(self, field: pa.Field) -> Expression:
        """Returns a value that can be assigned to a field of a struct."""
        return self._value(field, [random_value(field.type, self.chance)])

    def _value(self, column: pa.Field, pool: list[Any]) -> Expression:
        kind = column.type
        choice = self.chance.random()
        if choice < 0.1:
            return _null(kind)
        if choice < 0.3 and is_leaf(kind):
            value = self.chance.choice(pool)
            return Expression(literal(value, kind), kind, lambda _: value)
        if choice < 0.6 and (kind in INTEGERS or pa.types.is_floating(kind)):
            return self._computed(column)
        return self._column(column)

    def _column(self, column: pa.Field) -> Expression:
        """Returns a column of a side, or NULL if none can be assigned; often the one of the same name."""
        possible = [
            (side, other)
            for side, schema in self.sides.items()
            for other in schema
            if can_assign(other.type, column.type)
        ]
        same = [(side, other) for side, other in possible if other.name.lower() == column.name.lower()]
        if same and self.chance.random() < 0.6:
            possible = same
        if not possible:
            return _null(column.type)
        side, other = self.chance.choice(possible)
        return Expression(
            f"{side}.{quoted(other.name)}",
            column.type,
            lambda pair: assigned(pair[side][other.name], other.type, column.type),
        )

    def _computed(self, column: pa.Field) -> Expression:
        """Returns a sum or a product, which may overflow."""
        kind = column.type
        found = [
            (side, other.name)
            for side, schema in self.sides.items()
            for other in schema
            if other.type == kind
        ]
        if not found:
            return _null(kind)
        side, name = self.chance.choice(found)
        op, number = self.chance.choice("+-*"), self.chance.choice([0, 1, 2, 3, 100])
        text = f"{side}.{quoted(name)}"
        if pa.types.is_floating(kind):
            sql = f"{text} {op} {number}.5D"
            sql = f"CAST({sql} AS FLOAT)" if kind == pa.float32() else sql
            return Expression(sql, kind, lambda pair: floating(op, pair[side][name], number + 0.5, kind))
        return Expression(
            f"{text} {op} {number}", kind, lambda pair: exact(op, pair[side][name], number, kind)
        )


def _null(kind: pa.DataType) -> Expression:
    return Expression("NULL", kind, lambda _: None)
