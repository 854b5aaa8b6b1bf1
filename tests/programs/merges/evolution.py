"""What a merge with `schema_mode="merge"` does to the columns of a table, and to its values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pyarrow as pa

from tests.programs.alterations import is_used
from tests.programs.definitions import Definition, nullable_everywhere
from tests.programs.values import INTEGERS, Row

from .assignments import are_alike, assigned, can_assign
from .verb import Insert, InsertAll, Kind, Merge, Update, UpdateAll

Path = tuple[str, ...]


def evolved(definition: Definition, merge: Merge) -> Definition:
    """Returns the table with the columns and fields of the source that clauses set, and with wider types."""
    assigned = _Assigned(merge)
    added = assigned.fields(merge.schema, ())
    widens = definition.has("delta.enableTypeWidening")
    fields = _grown(list(definition.schema), added, widens=widens)
    new = {field.name: [None] for field in fields if field.name not in definition.schema.names}
    return replace(definition, schema=pa.schema(fields), pools={**definition.pools, **new})


class _Assigned:
    """The columns and fields that clauses set, in lower case."""

    def __init__(self, merge: Merge) -> None:
        clauses = [clause for clause in merge.clauses if clause.kind is not Kind.NOT_MATCHED_BY_SOURCE]
        self.all = any(isinstance(clause.action, UpdateAll | InsertAll) for clause in clauses)
        self.paths: set[Path] = set()
        for clause in clauses:
            if isinstance(clause.action, Update):
                self.paths |= {tuple(name.lower() for name in path) for path in clause.action.values}
            elif isinstance(clause.action, Insert):
                self.paths |= {(name.lower(),) for name in clause.action.values}

    def fields(self, fields: Iterable[pa.Field], above: Path) -> list[pa.Field]:
        found: list[pa.Field] = []
        for field in fields:
            path = (*above, field.name.lower())
            is_within = any(other[: len(path)] == path for other in self.paths)
            if path in self.paths:
                found.append(field)
            elif pa.types.is_struct(field.type) and (self.all or is_within):
                found.append(field.with_type(pa.struct(self.fields(field.type, path))))
            elif self.all:
                found.append(field)
        return found


def _grown(known: list[pa.Field], given: Iterable[pa.Field], *, widens: bool) -> list[pa.Field]:
    """Returns fields with those that only the source has, which may be NULL."""
    fields = list(known)
    names = [field.name.lower() for field in known]
    for field in given:
        if field.name.lower() in names:
            index = names.index(field.name.lower())
            kind = _grown_type(fields[index].type, field.type, widens=widens)
            fields[index] = fields[index].with_type(kind)
        else:
            fields.append(nullable_everywhere(field))
    return fields


def _grown_type(known: pa.DataType, given: pa.DataType, *, widens: bool) -> pa.DataType:
    if pa.types.is_struct(known) and pa.types.is_struct(given):
        return pa.struct(_grown(list(known), given, widens=widens))
    if pa.types.is_list(known) and pa.types.is_list(given):
        item = _grown_type(known.value_type, given.value_type, widens=widens)
        return pa.list_(known.value_field.with_type(item))
    if widens and known in INTEGERS and given in INTEGERS and INTEGERS[given] > INTEGERS[known]:
        return given
    return known


def widens(definition: Definition, merge: Merge) -> bool:
    """Whether a merge widens the type of a column or field."""
    if not merge.evolves:
        return False
    before = replace(definition, properties={})
    return evolved(definition, merge).schema != evolved(before, merge).schema


def can_widen(definition: Definition, column: pa.Field, kind: pa.DataType) -> bool:
    """Whether a source may have a wider column: nothing else may use it."""
    return not (widens_type(definition, column.type, kind) and is_used(definition, column.name))


def widens_type(definition: Definition, column: pa.DataType, kind: pa.DataType) -> bool:
    """Whether values of a type widen a column of another type."""
    return _grown_type(column, kind, widens=definition.has("delta.enableTypeWidening")) != column


def can_fit(given: pa.DataType, column: pa.DataType) -> bool:
    """Whether a value can be assigned to a column that has all of its fields."""
    if pa.types.is_struct(given) and pa.types.is_struct(column):
        types = {field.name.lower(): field.type for field in column}
        fields = [(field.type, types.get(field.name.lower())) for field in given]
        return all(kind is not None and can_fit(of_field, kind) for of_field, kind in fields)
    if pa.types.is_list(given) and pa.types.is_list(column) and not are_alike(given, column):
        return can_fit(given.value_type, column.value_type)
    return can_assign(given, column)


def fitted(value: Any, given: pa.DataType, column: pa.DataType) -> Any:
    """Returns a value of a source as a value of a column: fields that it lacks are NULL."""
    if value is None or are_alike(given, column):
        return value
    if pa.types.is_struct(column):
        by_name = {field.name.lower(): field for field in given}
        return {
            field.name: None
            if (own := by_name.get(field.name.lower())) is None
            else fitted(value[own.name], own.type, field.type)
            for field in column
        }
    if pa.types.is_list(column):
        return [fitted(item, given.value_type, column.value_type) for item in value]
    return assigned(value, given, column)


def merged(before: Any, value: Any, given: pa.DataType, column: pa.DataType) -> Any:
    """Returns the value of a column that is set with all columns: fields that the source lacks are kept.

    As in delta-spark, NULL instead of such a struct sets the other fields to NULL.
    """
    if not (pa.types.is_struct(column) and _lacks_field(given, column)):
        return fitted(value, given, column)
    if before is None and value is None:
        return None
    by_name = {field.name.lower(): field for field in given}
    found: Row = {}
    for field in column:
        old = None if before is None else before[field.name]
        own = by_name.get(field.name.lower())
        if own is None:
            found[field.name] = old
        else:
            new = None if value is None else value[own.name]
            found[field.name] = merged(old, new, own.type, field.type)
    return found


def _lacks_field(given: pa.DataType, column: pa.DataType) -> bool:
    by_name = {field.name.lower(): field.type for field in given}
    for field in column:
        own = by_name.get(field.name.lower())
        if own is None:
            return True
        if pa.types.is_struct(field.type) and _lacks_field(own, field.type):
            return True
    return False


def extended(row: Row, before: pa.Schema, after: pa.Schema) -> Row:
    """Returns a row with NULL in new columns and fields."""
    return {
        column.name: None
        if column.name not in before.names
        else fitted(row[column.name], before.field(column.name).type, column.type)
        for column in after
    }
