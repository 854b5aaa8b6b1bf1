"""Generates the sources of merges: columns and rows that often match rows of the table."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from typing import Any

import pyarrow as pa

from tests.programs.definitions import Definition, nullable_everywhere
from tests.programs.values import CONTEXT, INTEGERS, LEAVES, Row, random_value, single

from .assignments import are_alike, other_types

MOST_ROWS = 8


class Sources:
    """Random sources for a table and its current rows."""

    def __init__(self, definition: Definition, rows: list[Row], chance: random.Random) -> None:
        self.definition = definition
        self.target = rows
        self.chance = chance

    def schema(self) -> pa.Schema:
        """Returns columns of the table, some with other types, in any order and case, and other columns."""
        chance = self.chance
        fields = [self._column(column) for column in self.definition.schema]
        if chance.random() < 0.25:
            fields = chance.sample(fields, max(1, len(fields) - chance.choice([1, 1, 2])))
        elif chance.random() < 0.3:
            chance.shuffle(fields)
        if chance.random() < 0.25:
            fields.insert(chance.randint(0, len(fields)), pa.field("extra", chance.choice(LEAVES)))
        return pa.schema(fields)

    def _column(self, column: pa.Field) -> pa.Field:
        column = nullable_everywhere(column)
        if (kinds := other_types(column.type)) and self.chance.random() < 0.2:
            column = column.with_type(self.chance.choice(kinds))
        return column.with_name(column.name.upper()) if self.chance.random() < 0.05 else column

    def rows(self, schema: pa.Schema, keys: list[str]) -> list[Row]:
        """Returns rows of a source, with a given schema and the columns of the table that are keys."""
        count = self.chance.choice([0, 1, *range(2, MOST_ROWS + 1)])
        rows = [self._row(keys) for _ in range(count)]
        if rows and self.chance.random() < 0.1:
            rows.append(self.chance.choice(rows))
        return [self._of_source(row, schema) for row in rows]

    def _row(self, keys: list[str]) -> Row:
        """Returns a row of the table that may have the keys, or all values, of an existing row."""
        chance, definition = self.chance, self.definition
        valid = definition.valid_rows(chance, 4) if chance.random() < 0.9 else []
        row = chance.choice(valid) if valid else definition.row(chance)
        if self.target and chance.random() < 0.6:
            known = chance.choice(self.target)
            row = known if chance.random() < 0.2 else {**row, **{name: known[name] for name in keys}}
        return definition.computed(row) if chance.random() < 0.9 else row

    def _of_source(self, row: Row, schema: pa.Schema) -> Row:
        by_name = {column.name.lower(): column for column in self.definition.schema}
        found: Row = {}
        for column in schema:
            target = by_name.get(column.name.lower())
            if target is None:
                found[column.name] = random_value(column.type, self.chance)
            elif are_alike(target.type, column.type):
                found[column.name] = row[target.name]
            else:
                found[column.name] = self._converted(row[target.name], column.type)
        return found

    def _converted(self, value: Any, kind: pa.DataType) -> Any:
        """Returns a value of another column type that is near, or any value."""
        if value is None or self.chance.random() < 0.1:
            return random_value(kind, self.chance)
        if pa.types.is_date(kind):
            return value.date()
        if kind == pa.float32():
            return single(value)
        if isinstance(value, float) and not math.isfinite(value):
            return random_value(kind, self.chance)
        if kind in INTEGERS:
            limit = 2 ** (INTEGERS[kind] - 1)
            return min(max(int(value), -limit), limit - 1)
        number = Decimal(value)
        fits = abs(number) < CONTEXT.scaleb(Decimal(1), kind.precision - kind.scale - 1)
        return CONTEXT.quantize(number if fits else Decimal(1), CONTEXT.scaleb(Decimal(1), -kind.scale))
