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

from .assignments import assigned
from .verb import SOURCE, TARGET, Clause, Delete, Insert, InsertAll, Kind, Merge, Pair, Update, UpdateAll


@dataclass
class MergeEffect(Effect):
    """What a merge changes, and the metrics that do not depend on files."""

    metrics: dict[str, int] = field(default_factory=dict)


def effect(model: Model, merge: Merge, marks: Marks | None = None) -> MergeEffect:
    """Returns what a merge changes, without changing the model; raises `Refused`.

    Given high-water marks move; by default, a copy of those of the model.
    """
    try:
        return _Run(model, merge, dict(model.marks) if marks is None else marks).effect()
    except Overflow as error:
        raise Refused(f"overflow: {error}") from error


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
                    if lacking:
                        raise Refused(f"the source lacks {lacking}")
                    is_update = isinstance(clause.action, UpdateAll)
                    if any(is_update or one.always for one in identities.values()):
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
        values = {name: value.of(pair) for name, value in given.items()}
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
        found = {path: value.of(pair) for path, value in self._assignments(clause).items()}
        for (name, *inner), value in found.items():
            kind = self.definition.schema.field(name).type
            row = {**row, name: _with_field(row[name], inner, kind, value) if inner else value}
        if not self.definition.generated.keys() & {path[0] for path in found}:
            row = self.definition.computed(row)
        return self.definition.stored(row)

    def _assignments(self, clause: Clause) -> dict[tuple[str, ...], Expression]:
        if isinstance(clause.action, Update):
            return clause.action.values
        return {(name,): value for name, value in self._of_source().items()}

    def _of_source(self) -> dict[str, Expression]:
        """Returns the columns of the source as values of the columns of the table."""
        by_name = {column.name.lower(): column for column in self.merge.schema}
        pairs = [(column, by_name[column.name.lower()]) for column in self.definition.schema]
        return {column.name: source_value(source, column) for column, source in pairs}


def source_value(source: pa.Field, column: pa.Field) -> Expression:
    """Returns a column of the source as the value of a column of the table."""
    name, kind = source.name, source.type
    return Expression(
        f"{SOURCE}.{quoted(name)}", column.type, lambda pair: assigned(pair[SOURCE][name], kind, column.type)
    )


def _with_field(value: Row | None, path: list[str], kind: pa.DataType, new: Any) -> Row:
    """Returns a struct with another value of a field; the other fields of a NULL struct are NULL."""
    name, *inner = path
    fields = {field.name: None for field in kind} if value is None else value
    if inner:
        new = _with_field(fields[name], inner, kind.field(name).type, new)
    return {**fields, name: new}
