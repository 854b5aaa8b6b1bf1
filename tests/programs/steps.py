"""Chooses the next verb of a program."""

from __future__ import annotations

import random

import pyarrow as pa

from .alterations import Alter, random_alteration, replacement
from .definitions import Definition
from .expressions import Conditions, Expression, Values
from .merges.random_merge import Merges
from .merges.verb import Merge
from .model import Model
from .values import LEAVES, Row, literal, quoted, random_value
from .verbs import Append, Delete, Maintain, Overwrite, RowVerb, Together, Update

MOST_ROWS = 8

MAINTENANCE = ["checkpoint", "compact_log", "clean_up", "optimize", "optimize", "purge"]
MAINTENANCE += ["statistics", "vacuum", "clone", "repair"]


class Steps:
    """Random verbs for a table and its current rows."""

    def __init__(self, model: Model, chance: random.Random) -> None:
        self.model = model
        self.chance = chance

    @property
    def definition(self) -> Definition:
        """The table, whose columns may have changed."""
        return self.model.definition

    def first(self) -> Append:
        """Returns the rows that a program starts with."""
        return self._append(valid=True)

    def next(self) -> RowVerb | Maintain | Alter:
        """Returns a verb."""
        if self.chance.random() < 0.1:
            alteration = random_alteration(self.definition, self.chance)
            if alteration is not None:
                return alteration
        makers = [self._append, self._overwrite, self._delete, self._delete, self._update, self._update]
        makers += [self._together, self._maintain, self._merge, self._merge]
        if "merged" not in self.definition.schema.names and self.chance.random() < 0.3:
            makers.append(self._append_with_new_column)
        return self.chance.choice(makers)()

    def condition(self) -> Expression:
        """Returns a condition that often selects some of the rows."""
        rows = self.model.rows or [self.definition.row(self.chance)]
        conditions = Conditions(self.definition.schema, rows, self.chance, self.definition.chars)
        for _ in range(self.chance.choice([1, 3, 3])):
            condition = conditions.condition()
            if any(condition.holds(row) for row in rows):
                break
        return condition

    def _rows(self, *, valid: bool) -> list[Row]:
        if valid:
            return self.definition.valid_rows(self.chance, MOST_ROWS)
        return [self.definition.row(self.chance) for _ in range(self.chance.randint(1, MOST_ROWS))]

    def _columns(self, misuse: float = 0.0) -> list[str]:
        """Returns columns of new data, with a probability of values that a table always generates."""

        def is_given(name: str) -> bool:
            identity = self.definition.identities.get(name)
            return identity is None or self.chance.random() < (misuse if identity.always else 0.4)

        return [name for name in self.definition.schema.names if is_given(name)]

    def _append(self, *, valid: bool | None = None) -> Append:
        is_alone = valid is None
        schema = self.definition.schema
        columns = self._columns(misuse=0.2 if is_alone else 0.0)
        if self.chance.random() < 0.3:
            self.chance.shuffle(columns)
        if self.chance.random() < 0.3 and valid is None:
            defaults, identities = self.definition.defaults, self.definition.identities
            optional = [f.name for f in schema if f.nullable or f.name in defaults]
            optional = [name for name in optional if name in columns and name not in identities]
            absent = self.chance.sample(optional, min(len(optional), len(columns) - 1, 1))
            columns = [name for name in columns if name not in absent]
        if valid is None:
            valid = self.chance.random() < 0.8
        raises = is_alone and self.chance.random() < 0.05
        empty_is_null = is_alone and self.chance.random() < 0.3
        rows = self._rows(valid=valid and not empty_is_null)
        return Append(rows, columns, self.chance.choice([1, 1, 3]), raises, empty_is_null)

    def _append_with_new_column(self) -> Append:
        added = pa.field("merged", self.chance.choice(LEAVES))
        rows = [{**row, "merged": random_value(added.type, self.chance)} for row in self._rows(valid=True)]
        columns = [*self._columns(), "merged"]
        self.chance.shuffle(columns)
        return Append(rows, columns, added=added)

    def _replace(self) -> Overwrite:
        new = replacement(self.definition, self.chance)
        return Overwrite(new.valid_rows(self.chance, MOST_ROWS), new.schema.names, replaces=new)

    def _overwrite(self, *, is_alone: bool = True) -> Overwrite:
        shape = self.chance.choice(["all", "where", "where", "where", "dynamic"])
        if is_alone and self.chance.random() < 0.15:
            return self._replace()
        rows = self._rows(valid=self.chance.random() < 0.85)
        columns = self._columns(misuse=0.2)
        if shape == "all":
            return Overwrite(rows, columns)
        if shape == "dynamic":
            return Overwrite(rows, columns, is_dynamic=True)
        where = self.condition()
        if self.chance.random() < 0.85:
            rows = [row for row in rows if where.holds(self.definition.stored(row))]
        return Overwrite(rows, columns, where)

    def _delete(self) -> Delete:
        return Delete(None if self.chance.random() < 0.05 else self.condition())

    def _update(self) -> Update:
        schema = self.definition.schema

        def from_pool(name: str) -> object:
            return self.chance.choice(self.definition.pools[name])

        values = Values(schema, from_pool, self.chance)
        is_misused = self.chance.random() < 0.05
        settable = [f for f in schema if is_misused or f.name not in self.definition.identities]
        columns = self.chance.sample(settable, min(len(settable), self.chance.choice([1, 1, 2])))
        where = None if self.chance.random() < 0.1 else self.condition()
        return Update({column.name: values.value(column) for column in columns}, where)

    def _merge(self) -> Merge:
        return Merges(self.model, self.chance, evolves=0).merge()

    def _together(self) -> Together:
        verbs: list[Append | Overwrite | Delete | Update] = []
        parts = [f for f in self.definition.schema if f.name in self.definition.partition_by]
        parts = [f for f in parts if f.type in LEAVES and f.type not in (pa.float32(), pa.float64())]
        if parts and self.chance.random() < 0.5:
            # Conditions on partitions select different files, which one transaction may change.
            verbs += self._of_partitions(self.chance.choice(parts))
        else:
            makers = [self._delete, self._update, lambda: self._overwrite(is_alone=False)]
            verbs.append(self.chance.choice(makers)())
        for _ in range(self.chance.choice([0, 1, 1, 2])):
            verbs.append(self._append(valid=self.chance.random() < 0.9))
        self.chance.shuffle(verbs)
        return Together(verbs, raises_at_end=self.chance.random() < 0.1)

    def _of_partitions(self, column: pa.Field) -> list[Append | Overwrite | Delete | Update]:
        found = {row[column.name] for row in self.model.rows} or {None}
        values = self.chance.sample(sorted(found, key=repr), min(len(found), 2))
        verbs: list[Append | Overwrite | Delete | Update] = []
        for value in values:
            where = Expression(
                f"{quoted(column.name)} <=> {literal(value, column.type)}",
                pa.bool_(),
                lambda row, value=value: row[column.name] == value,
            )
            both = self.condition()
            if self.chance.random() < 0.5:
                where = Expression(
                    f"({where} AND {both})",
                    pa.bool_(),
                    lambda row, one=where, other=both: one.holds(row) and other.holds(row),
                )
            update = self._update()
            rows = [row for row in self._rows(valid=True) if where.holds(self.definition.stored(row))]
            changes = [Delete(where), Update(update.values, where), Overwrite(rows, self._columns(), where)]
            verbs.append(self.chance.choice(changes))
        return verbs

    def _maintain(self) -> Maintain:
        return Maintain(self.chance.choice(MAINTENANCE))
