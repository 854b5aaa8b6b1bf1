"""The definition of a table, and the rows that it accepts."""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from deltaic import Identity
from tests.golden.naive_predicate import key_of

from .expressions import Expression, Overflow
from .values import Row, random_value


@dataclass
class Definition:
    """A table that does not exist yet."""

    schema: pa.Schema
    partition_by: list[str]
    cluster_by: list[str]
    properties: dict[str, str]
    pools: dict[str, list[Any]]
    """For each column, the values that most rows have."""
    constraints: dict[str, Expression] = field(default_factory=dict)
    invariants: dict[str, Expression] = field(default_factory=dict)
    """Column invariants, by column."""
    lengths: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Columns of the types char(n) and varchar(n)."""
    defaults: dict[str, tuple[str, Any]] = field(default_factory=dict)
    """The default of a column, as SQL and as a value."""
    generated: dict[str, Expression] = field(default_factory=dict)
    """The expressions that compute columns from others."""
    identities: dict[str, Identity] = field(default_factory=dict)
    """The columns of unique numbers."""
    is_created_by_columns: bool = False
    """Whether the table is created by a list of `deltaic.Column`; otherwise by an Arrow schema."""

    def __str__(self) -> str:
        columns = ", ".join(f"{f.name} {f.type}{'' if f.nullable else ' not null'}" for f in self.schema)
        parts = [f"({columns})", f"by {self.partition_by or self.cluster_by}", str(self.properties)]
        promises = {"constraints": self.constraints, "invariants": self.invariants}
        promises |= {"lengths": self.lengths, "defaults": self.defaults}
        promises |= {"generated": self.generated, "identities": self.identities}
        for what, found in promises.items():
            texts = {name: str(value) for name, value in found.items()}
            parts += [f"{what} {texts}"] if texts else []
        return " ".join(parts)

    @property
    def chars(self) -> list[str]:
        """The columns of the type char(n)."""
        return [name for name, (kind, _) in self.lengths.items() if kind == "char"]

    @property
    def sources(self) -> str:
        """The expressions of all generated columns."""
        return " ".join(map(str, self.generated.values()))

    def has(self, name: str) -> bool:
        """Whether a boolean property is set."""
        return self.properties.get(name) == "true"

    def row(self, chance: random.Random) -> Row:
        """Returns a row that may violate what the table requires."""
        row = {name: chance.choice(pool) for name, pool in self.pools.items()}
        return row if chance.random() < 0.1 else self.computed(row)

    def computed(self, row: Row) -> Row:
        """Returns the row with the values of its generated columns; one that overflows is kept."""
        for name, expression in self.generated.items():
            with suppress(Overflow):
                row = {**row, name: expression.of(self.stored(row))}
        return row

    def valid_rows(self, chance: random.Random, most: int) -> list[Row]:
        """Returns rows that satisfy what the table requires."""
        candidates = [self.row(chance) for _ in range(4 * most)]
        valid = [row for row in candidates if self.violation(self.stored(row)) is None]
        return valid[: chance.randint(1, most)]

    def stored(self, row: Row) -> Row:
        """Returns the row with the texts that are stored for char(n) and varchar(n)."""
        row = dict(row)
        for name, (kind, length) in self.lengths.items():
            text = row[name]
            if text is None:
                continue
            if len(text) > length and not text[length:].strip(" "):
                text = text[:length]
            row[name] = text.ljust(length) if kind == "char" else text
        return row

    def violation(self, row: Row) -> str | None:
        """Returns what a stored row violates."""
        for column in self.schema:
            if _lacks_value(row[column.name], column):
                return f"{column.name} NOT NULL"
        for name, (_, length) in self.lengths.items():
            if row[name] is not None and len(row[name]) > length:
                return f"length of {name}"
        for name, condition in {**self.constraints, **self.invariants}.items():
            if not condition.holds(row):
                return f"{name}: {condition}"
        for name, expression in self.generated.items():
            kind = self.schema.field(name).type
            try:
                if key_of(expression.of(row), kind) != key_of(row[name], kind):
                    return f"generated value of {name}"
            except Overflow:
                return f"overflow of generated column {name}"
        for name in self.partition_by:
            if not _can_be_partition(row[name]):
                return f"partition value of {name}"
        return None


def _can_be_partition(value: Any) -> bool:
    """Whether readers can distinguish a partition value's text from NULL, and decode it."""
    if isinstance(value, bytes):
        try:
            value = value.decode()
        except UnicodeDecodeError:
            return False
    return value not in ("", "__HIVE_DEFAULT_PARTITION__")


def _lacks_value(value: Any, column: pa.Field) -> bool:
    """Whether a value, or a part of it, is NULL and may not be."""
    if value is None:
        return not column.nullable
    kind = column.type
    if pa.types.is_struct(kind):
        return any(_lacks_value(value[inner.name], inner) for inner in kind)
    if pa.types.is_list(kind):
        return any(_lacks_value(item, kind.value_field) for item in value)
    return False


def nullable_everywhere(column: pa.Field) -> pa.Field:
    """Returns the column with NULL allowed in it and in its parts."""
    kind = column.type
    if pa.types.is_struct(kind):
        kind = pa.struct([nullable_everywhere(inner) for inner in kind])
    elif pa.types.is_list(kind):
        kind = pa.list_(nullable_everywhere(kind.value_field))
    elif pa.types.is_map(kind):
        kind = pa.map_(kind.key_type, nullable_everywhere(kind.item_field).type)
    return pa.field(column.name, kind)


def random_pool(column: pa.Field, chance: random.Random, *, is_partition: bool) -> list[Any]:
    """Returns the values that most rows have in a column."""
    nulls = 0.2 if column.nullable else 0.0
    count = 3 if is_partition else chance.choice([3, 6, 10])
    values = [random_value(column.type, chance, nulls) for _ in range(count)]
    if is_partition and chance.random() < 0.9:
        ordinary = b"a" if column.type == pa.binary() else "a"
        values = [value if _can_be_partition(value) else ordinary for value in values]
    # Now and then a value that the column may not have.
    if not column.nullable and chance.random() < 0.5:
        values += [*values, *values, None]
    return values
