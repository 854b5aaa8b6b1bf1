"""What a merge changes: nested loops over plain rows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from tests.programs.definitions import Definition
from tests.programs.expressions import Expression, Overflow
from tests.programs.identity import Marks
from tests.programs.model import Effect, Known, Model, Refused
from tests.programs.values import Row, quoted

from .evolution import evolved, extended, fitted, merged
from .verb import SOURCE, TARGET, Clause, Delete, Insert, InsertAll, Kind, Merge, Pair, Update, UpdateAll


@dataclass
class MergeEffect(Effect):
    """What a merge changes, and the metrics that do not depend on files."""

    metrics: dict[str, int] = field(default_factory=dict)
    definition: Definition | None = None
    """The table after the merge, if the schema changes."""


def effect(model: Model, merge: Merge, marks: Marks | None = None) -> MergeEffect:
    """Returns what a merge changes, without changing the model; raises `Refused`.

    Given high-water marks move; by default, a copy of those of the model.
    """
    marks = dict(model.marks) if marks is None else marks
    try:
        return _evolved(model, merge, marks) if merge.evolves else _Run(model, merge, marks).effect()
    except Overflow as error:
        raise Refused(f"overflow: {error}") from error


def apply(model: Model, found: Effect) -> None:
    """Changes the model."""
    model.known, model.marks = found.after, found.marks
    if isinstance(found, MergeEffect) and found.definition is not None:
        model.definition = found.definition


def compare_metrics(found: MergeEffect, metrics: dict[str, int]) -> None:
    """Metrics about rows are those of the model."""
    assert {name: metrics.get(name) for name in found.metrics} == found.metrics
    written = len(found.inserts) + len(found.postimages)
    assert metrics["numOutputRows"] == written + metrics["numTargetRowsCopied"]


def _evolved(model: Model, merge: Merge, marks: Marks) -> MergeEffect:
    """Returns the effect on the table with its new columns, which are NULL."""
    before = model.definition.schema
    definition = evolved(model.definition, merge)
    wider = Model(definition)
    wider.known = [
        replace(known, row=extended(known.row, before, definition.schema)) for known in model.known
    ]
    found = _Run(wider, merge, marks).effect()
    return found if definition.schema == before else replace(found, definition=definition)


def multiple_matches(rows: list[Row], merge: Merge) -> list[int]:
    """Returns the source rows that match a row of the table which an earlier source row matches."""
    found: set[int] = set()
    for row in rows:
        found.update(_matches(row, merge)[1:])
    return sorted(found)


def matches_nothing(rows: list[Row], merge: Merge) -> bool:
    """Whether no source row matches a row of the table."""
    return not any(_matches(row, merge) for row in rows)


def allows_multiple_matches(merge: Merge) -> bool:
    """Whether several source rows may match a row of the table, without regard to conditions of clauses.

    They may if all clauses insert, or if the only matched clause deletes without a condition.
    """
    matched = merge.of(Kind.MATCHED)
    is_only_delete = len(matched) == 1 and isinstance(matched[0].action, Delete)
    return merge.inserts_only or (is_only_delete and matched[0].condition is None)


def _matches(row: Row, merge: Merge) -> list[int]:
    return [index for index, other in enumerate(merge.rows) if merge.on.holds({TARGET: row, SOURCE: other})]


class _Run:
    """The rows of the table and of the source, each of which goes to at most one clause."""

    def __init__(self, model: Model, merge: Merge, marks: Marks) -> None:
        self.model = model
        self.merge = merge
        self.marks = marks
        self.total = MergeEffect([], marks=marks)
        kinds, changes = ("Matched", "NotMatchedBySource"), ("Updated", "Deleted")
        self.counts = {f"numTargetRows{kind}{change}": 0 for kind in kinds for change in changes}

    @property
    def definition(self) -> Definition:
        return self.model.definition

    def effect(self) -> MergeEffect:
        self._check_columns()
        if multiple_matches(self.model.rows, self.merge) and not allows_multiple_matches(self.merge):
            raise Refused("several source rows match a row")
        matched: set[int] = set()
        for known in self.model.known:
            found = _matches(known.row, self.merge)
            matched.update(found)
            self._change(known, self.merge.rows[found[0]] if found else None)
        for index, row in enumerate(self.merge.rows):
            if index not in matched:
                self._insert(row)
        total, counts = self.total, self.counts
        self.model.accepted(total.postimages)
        metrics = counts | {
            "numSourceRows": len(self.merge.rows),
            "numTargetRowsInserted": len(total.inserts),
            "numTargetRowsUpdated": len(total.postimages),
            "numTargetRowsDeleted": len(total.deletes),
        }
        return replace(total, metrics=metrics)

    def _check_columns(self) -> None:
        """Refuses what is wrong for all rows."""
        source = {name.lower() for name in self.merge.schema.names}
        identities = self.definition.identities
        for clause in self.merge.clauses:
            match clause.action:
                case UpdateAll() | InsertAll():
                    lacking = [name for name in self.definition.schema.names if name.lower() not in source]
                    if lacking and not self.merge.evolves:
                        raise Refused(f"the source lacks {lacking}")
                    is_update = isinstance(clause.action, UpdateAll)
                    given = [one for name, one in identities.items() if name.lower() in source]
                    if any(is_update or one.always for one in given):
                        raise Refused("values of identity columns")
                case Update(values):
                    if any(path[0] in identities for path in values):
                        raise Refused("update of identity columns")
                case Insert(values):
                    if any(one.always and name in values for name, one in identities.items()):
                        raise Refused("values that are always generated")
                case Delete():
                    pass

    def _change(self, known: Known, source: Row | None) -> None:
        """Updates, deletes or keeps a row of the table."""
        kind = Kind.NOT_MATCHED_BY_SOURCE if source is None else Kind.MATCHED
        pair = {TARGET: known.row, SOURCE: source}
        clause = self._clause(kind, pair)
        name = "numTargetRows" + ("NotMatchedBySource" if source is None else "Matched")
        total = self.total
        if clause is None:
            total.after.append(known)
        elif isinstance(clause.action, Delete):
            total.deletes.append(known.row)
            self.counts[f"{name}Deleted"] += 1
        else:
            row = self._updated(clause, pair)
            total.preimages.append(known.row)
            total.postimages.append(row)
            total.after.append(Known(row, known.row_id))
            self.counts[f"{name}Updated"] += 1

    def _insert(self, source: Row) -> None:
        pair = {TARGET: None, SOURCE: source}
        clause = self._clause(Kind.NOT_MATCHED, pair)
        if clause is None:
            return
        given = clause.action.values if isinstance(clause.action, Insert) else self._of_source()
        values = {name: self._value((name,), value, pair) for name, value in given.items()}
        [row] = self.model.completed([values], list(values), self.marks)
        [row] = self.model.accepted([row])
        self.total.inserts.append(row)
        self.total.after.append(Known(row))

    def _clause(self, kind: Kind, pair: Pair) -> Clause | None:
        """Returns the first clause of a kind that applies to a pair."""
        return next((clause for clause in self.merge.of(kind) if clause.applies(pair)), None)

    def _updated(self, clause: Clause, pair: Pair) -> Row:
        """Returns a row of the table with new values, as it is stored."""
        row = pair[TARGET]
        # Every value is computed from the row before.
        assignments = self._assignments(clause)
        found = {path: self._value(path, value, pair) for path, value in assignments.items()}
        for (name, *inner), value in found.items():
            kind = self.definition.schema.field(name).type
            row = {**row, name: _with_field(row[name], inner, kind, value) if inner else value}
        if not self.definition.generated.keys() & {path[0] for path in found}:
            row = self.definition.computed(row)
        return self.definition.stored(row)

    def _value(self, path: tuple[str, ...], value: Expression, pair: Pair) -> Any:
        """Returns a value with the fields that the column has after the merge."""
        kind = self.definition.schema.field(path[0]).type
        found = value.of(pair)
        return fitted(found, value.kind, kind) if len(path) == 1 and pa.types.is_nested(kind) else found

    def _assignments(self, clause: Clause) -> dict[tuple[str, ...], Expression]:
        if isinstance(clause.action, Update):
            return clause.action.values
        return {(name,): value for name, value in self._of_source(updates=True).items()}

    def _of_source(self, *, updates: bool = False) -> dict[str, Expression]:
        """Returns the columns of the source as values of the columns of the table."""
        by_name = {column.name.lower(): column for column in self.merge.schema}
        pairs = [(column, by_name.get(column.name.lower())) for column in self.definition.schema]
        value = merged_value if updates and self.merge.evolves else source_value
        return {column.name: value(source, column) for column, source in pairs if source is not None}


def source_value(source: pa.Field, column: pa.Field) -> Expression:
    """Returns a column of the source as the value of a column of the table."""
    name, kind = source.name, source.type
    return Expression(
        f"{SOURCE}.{quoted(name)}", column.type, lambda pair: fitted(pair[SOURCE][name], kind, column.type)
    )


def merged_value(source: pa.Field, column: pa.Field) -> Expression:
    """The same; fields of structs that the source lacks are those of the row of the table."""
    return replace(
        source_value(source, column),
        of=lambda pair: merged(
            pair[TARGET][column.name], pair[SOURCE][source.name], source.type, column.type
        ),
    )


def _with_field(value: Row | None, path: list[str], kind: pa.DataType, new: Any) -> Row:
    """Returns a struct with another value of a field; the other fields of a NULL struct are NULL."""
    name, *inner = path
    fields = {field.name: None for field in kind} if value is None else value
    if inner:
        new = _with_field(fields[name], inner, kind.field(name).type, new)
    return {**fields, name: new}
