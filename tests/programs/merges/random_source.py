"""Generates the sources of merges: columns and rows that often match rows of the table."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from typing import Any

import pyarrow as pa

from tests.programs.definitions import Definition, nullable_everywhere
from tests.programs.values import CONTEXT, INTEGERS, LEAVES, Row, random_kind, random_value, single

from .assignments import are_alike, other_types
from .evolution import can_widen, widens_type

MOST_ROWS = 8


class Sources:
    """Random sources for a table and its current rows."""

    def __init__(
        self, definition: Definition, rows: list[Row], chance: random.Random, *, evolves: bool = False
    ) -> None:
        self.definition = definition
        self.target = rows
        self.chance = chance
        self.evolves = evolves

    def schema(self) -> pa.Schema:
        """Returns columns of the table, some with other types, in any order and case, and other columns."""
        chance = self.chance
        fields = [self._column(column) for column in self.definition.schema]
        if chance.random() < 0.25:
            fields = chance.sample(fields, max(1, len(fields) - chance.choice([1, 1, 2])))
        elif chance.random() < 0.3:
            chance.shuffle(fields)
        if chance.random() < (0.6 if self.evolves else 0.25):
            kind = random_kind(chance, depth=2) if self.evolves else chance.choice(LEAVES)
            extra = nullable_everywhere(pa.field("extra", kind))
            fields.insert(chance.randint(0, len(fields)), extra)
        return pa.schema(fields)

    def _column(self, column: pa.Field) -> pa.Field:
        kinds = other_types(column.type)
        probability = 0.4 if self.evolves else 0.2
        if self.evolves:
            kinds = [kind for kind in kinds if can_widen(self.definition, column, kind)]
            if wider := [kind for kind in kinds if widens_type(self.definition, column.type, kind)]:
                # Few tables and columns can be widened.
                kinds, probability = wider, 0.8
            column = column.with_type(self._with_other_fields(column.type))
        column = nullable_everywhere(column)
        if kinds and self.chance.random() < probability:
            column = column.with_type(self.chance.choice(kinds))
        return column.with_name(column.name.upper()) if self.chance.random() < 0.05 else column

    def _with_other_fields(self, kind: pa.DataType) -> pa.DataType:
        """Returns a type of structs without some of the fields, with others, and in any order."""
        chance = self.chance
        if pa.types.is_list(kind):
            return pa.list_(kind.value_field.with_type(self._with_other_fields(kind.value_type)))
        if not pa.types.is_struct(kind):
            return kind
        fields = [field.with_type(self._with_other_fields(field.type)) for field in kind]
        if chance.random() < 0.4:
            # A field that is NOT NULL may be needed, though no row has a struct.
            dropped = chance.choice(fields)
            fields = [field for field in fields if field is not dropped or not field.nullable]
        if not fields or chance.random() < 0.4:
            fields.append(pa.field("more", chance.choice(LEAVES)))
        if chance.random() < 0.3:
            chance.shuffle(fields)
        return pa.struct(fields)

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
            elif pa.types.is_nested(column.type):
                found[column.name] = self._with_fields(row[target.name], target.type, column.type)
            else:
                value = self._converted(row[target.name], column.type)
                if target.type == pa.float64() and isinstance(value, int):
                    # deltaic refuses, and delta-spark rounds, an integer that no double is.
                    value = min(max(value, -(2**53)), 2**53)
                found[column.name] = value
        return found

    def _with_fields(self, value: Any, column: pa.DataType, kind: pa.DataType) -> Any:
        """Returns a value of a column with the fields of another type of structs."""
        if value is None or are_alike(column, kind):
            return value
        if pa.types.is_list(kind):
            return [self._with_fields(item, column.value_type, kind.value_type) for item in value]
        own = {field.name: field.type for field in column}
        return {
            field.name: self._with_fields(value[field.name], own[field.name], field.type)
            if field.name in own
            else random_value(field.type, self.chance)
            for field in kind
        }

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
