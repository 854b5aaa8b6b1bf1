"""Changes of columns between verbs: what deltaic does, and what becomes of the rows of the model."""

from __future__ import annotations

import dataclasses
import random
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

import deltaic
from deltaic import alter

from .definitions import Definition, nullable_everywhere, random_pool
from .model import Effect, Known, Model, Refused
from .values import INTEGERS, LEAVES, Row, quoted, random_kind
from .verbs import Append, Overwrite, RowVerb

WIDER: dict[pa.DataType, list[pa.DataType]] = {
    pa.int8(): [pa.int16(), pa.int32(), pa.int64()],
    pa.int16(): [pa.int32(), pa.int64()],
    pa.int32(): [pa.int64()],
    pa.float32(): [pa.float64()],
}


@dataclass(frozen=True)
class Alter:
    """Adds, renames, drops or widens a column."""

    how: str
    column: str
    to: Any = None
    """The new name, or the type."""

    def __str__(self) -> str:
        return f"alter: {self.how} {self.column} {self.to or ''}"


def random_alteration(definition: Definition, chance: random.Random) -> Alter | None:
    """Returns a change that the table supports; None if there is none."""
    names = definition.schema.names
    free = [name for name in names if not is_used(definition, name)]
    has_data = len(names) > len(definition.partition_by) + 1
    possible: list[Alter] = []
    if "added" not in names:
        possible.append(Alter("add", "added", chance.choice(LEAVES)))
    for name in free:
        if "delta.columnMapping.mode" in definition.properties:
            possible.append(Alter("rename", name, f"{name}2"))
            possible += [Alter("drop", name)] if has_data else []
        kind = definition.schema.field(name).type
        if definition.has("delta.enableTypeWidening") and kind in WIDER:
            possible += [Alter("widen", name, chance.choice(WIDER[kind]))] * 3
    return chance.choice(possible) if possible else None


def is_used(definition: Definition, name: str) -> bool:
    """Whether partitions, conditions, lengths or defaults use a column."""
    conditions = [*definition.constraints.values(), *definition.invariants.values()]
    others = [*definition.partition_by, *definition.cluster_by, *definition.invariants]
    others += [*definition.lengths, *definition.defaults, *definition.generated, *definition.identities]
    conditions += definition.generated.values()
    return name in others or any(quoted(name) in str(condition) for condition in conditions)


def run(table: deltaic.Table, verb: Alter) -> deltaic.Commit:
    """Changes the table."""
    column = quoted(verb.column)
    match verb.how:
        case "add":
            return table.alter(alter.AddColumn(verb.column, verb.to))
        case "rename":
            return table.alter(alter.RenameColumn(column, verb.to))
        case "drop":
            return table.alter(alter.DropColumn(column))
        case _:
            return table.alter(alter.ChangeType(column, verb.to))


def effect(model: Model, verb: RowVerb, chance: random.Random) -> Effect:
    """Returns what a verb changes; if it adds a column or replaces the schema, the model's schema changes."""
    before = model.definition, model.known, model.marks
    if isinstance(verb, Append) and verb.added is not None:
        apply(model, Alter("add", verb.added.name, verb.added.type), chance)
    if isinstance(verb, Overwrite) and verb.replaces is not None:
        model.definition, model.marks = verb.replaces, {}
    try:
        return model.effect(verb)
    except Refused:
        model.definition, model.known, model.marks = before
        raise


def replacement(definition: Definition, chance: random.Random) -> Definition:
    """Returns the table with another schema: columns are kept, dropped, changed and added.

    Partitioning and constraints remain, and with them their columns.
    """
    conditions = " ".join(map(str, definition.constraints.values()))
    fields: list[pa.Field] = []
    for column in definition.schema:
        by = [*definition.partition_by, *definition.cluster_by]
        is_used = column.name in by or quoted(column.name) in conditions
        how = "keep" if is_used else chance.choice(["keep", "keep", "drop", "change"])
        if how != "drop":
            kind = column.type if how == "keep" else chance.choice(LEAVES)
            fields.append(pa.field(column.name, kind))
    if "replaced" not in [column.name for column in fields]:
        fields.append(nullable_everywhere(pa.field("replaced", random_kind(chance))))
    pools = {
        one.name: random_pool(one, chance, is_partition=one.name in definition.partition_by) for one in fields
    }
    kept = {name: values for name, values in definition.pools.items() if name in definition.partition_by}
    return Definition(
        pa.schema(fields),
        definition.partition_by,
        definition.cluster_by,
        definition.properties,
        pools | kept,
        constraints=definition.constraints,
    )


def fit_one_schema(old: pa.Schema, new: pa.Schema) -> bool:
    """Whether a change feed can include rows of both: they share columns, and these have the same types."""
    shared = {*old.names} & {*new.names}
    return bool(shared) and all(new.field(name).type == old.field(name).type for name in shared)


def apply(model: Model, verb: Alter, chance: random.Random) -> None:
    """Changes the model in the same way."""
    old = model.definition
    fields, pools = list(old.schema), dict(old.pools)
    index = old.schema.get_field_index(verb.column)
    match verb.how:
        case "add":
            fields.append(pa.field(verb.column, verb.to))
            pools[verb.column] = random_pool(fields[-1], chance, is_partition=False)
        case "rename":
            fields[index] = fields[index].with_name(verb.to)
            pools[verb.to] = pools.pop(verb.column)
        case "drop":
            del fields[index], pools[verb.column]
        case _:
            fields[index] = fields[index].with_type(verb.to)
            if verb.to in INTEGERS:
                pools[verb.column] = [*pools[verb.column], 2 ** (INTEGERS[verb.to] - 1) - 1]
    model.definition = dataclasses.replace(old, schema=pa.schema(fields), pools=pools)
    model.known = [Known(_row(one.row, verb), one.row_id, one.version) for one in model.known]


def _row(row: Row, verb: Alter) -> Row:
    match verb.how:
        case "add":
            return {**row, verb.column: None}
        case "rename":
            return {verb.to if name == verb.column else name: value for name, value in row.items()}
        case "drop":
            return {name: value for name, value in row.items() if name != verb.column}
        case _:
            return row
