"""A table as a plain list of rows: what each verb changes, and which rows it refuses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from tests.golden.naive_predicate import key_of

from .definitions import Definition
from .expressions import Expression, Overflow
from .identity import Identities, Marks
from .merges.verb import Merge
from .values import Row
from .verbs import Append, Delete, Overwrite, RowVerb, Together, Update


class Refused(Exception):
    """The verb must raise an error and change nothing."""


@dataclass(frozen=True)
class Known:
    """A row, with the row id and row commit version that it had when it was last read."""

    row: Row
    row_id: int | None = None
    """None for a new row."""
    version: int | None = None
    """None for a new or updated row."""


@dataclass
class Effect:
    """What a verb changes."""

    after: list[Known]
    deletes: list[Row] = field(default_factory=list)
    inserts: list[Row] = field(default_factory=list)
    preimages: list[Row] = field(default_factory=list)
    postimages: list[Row] = field(default_factory=list)
    marks: Marks = field(default_factory=dict)
    """The high-water marks of identity columns after the verb."""

    @property
    def is_nothing(self) -> bool:
        """Whether no row is matched or added."""
        return not (self.deletes or self.inserts or self.preimages)


class Model:
    """The rows of a table."""

    def __init__(self, definition: Definition) -> None:
        self.definition = definition
        self.known: list[Known] = []
        self.marks: Marks = {}

    @property
    def rows(self) -> list[Row]:
        return [known.row for known in self.known]

    def effect(self, verb: RowVerb) -> Effect:
        """Returns what a verb changes, without changing the model; raises `Refused`."""
        marks = dict(self.marks)
        return replace(self._effect(verb, marks), marks=marks)

    def _effect(self, verb: RowVerb, marks: Marks) -> Effect:
        match verb:
            case Append():
                completed = self.completed(verb.rows, verb.columns, marks)
                rows = self.accepted(completed, empty_is_null=verb.empty_is_null)
                if verb.raises_at_end:
                    raise Refused("the source raises")
                return Effect([*self.known, *map(Known, rows)], inserts=rows)
            case Delete():
                return self._delete(verb.where)
            case Overwrite():
                return self._overwrite(verb, marks)
            case Update():
                return self._update(verb)
            case Merge():
                # It extends what this module defines.
                from .merges.effect import effect

                return effect(self, verb, marks)
            case Together():
                return self._together(verb, marks)

    def completed(self, rows: list[Row], columns: list[str], marks: Marks) -> list[Row]:
        """Returns new rows with the values of the columns that they lack; raises `Refused`."""
        defaults, identities = self.definition.defaults, self.definition.identities
        for name, identity in identities.items():
            if identity.always and name in columns:
                raise Refused(f"values of {name} are always generated")
        missing = [name for name in self.definition.schema.names if name not in columns]
        filled = {name: defaults[name][1] if name in defaults else None for name in missing}
        rows = [{**row, **filled} for row in rows]
        try:
            rows = Identities(identities, marks).complete(rows, columns)
        except Overflow as error:
            raise Refused(f"overflow: {error}") from error
        if any(name in missing for name in self.definition.generated):
            rows = [self.definition.computed(row) for row in rows]
        return rows

    def accepted(self, rows: Iterable[Row], *, empty_is_null: bool = False) -> list[Row]:
        """Returns new rows as they are stored; raises `Refused`."""
        stored = [self.definition.stored(row) for row in rows]
        if empty_is_null:
            by = self.definition.partition_by
            nulls = [{name: None for name in by if row[name] in ("", b"")} for row in stored]
            stored = [{**row, **changed} for row, changed in zip(stored, nulls, strict=True)]
        for row in stored:
            if (violated := self.definition.violation(row)) is not None:
                raise Refused(violated)
        return stored

    def _delete(self, where: Expression | None) -> Effect:
        deleted = [known.row for known in self.known if where is None or where.holds(known.row)]
        after = [known for known in self.known if where is not None and not where.holds(known.row)]
        return Effect(after, deletes=deleted)

    def _overwrite(self, verb: Overwrite, marks: Marks) -> Effect:
        rows = self.accepted(self.completed(verb.rows, verb.columns, marks))
        if verb.where is not None:
            for row in rows:
                if not verb.where.holds(row):
                    raise Refused(f"a new row does not match {verb.where}")
        if verb.is_dynamic and self.definition.partition_by:
            partitions = {self._partition(row) for row in rows}
            replaced = [known.row for known in self.known if self._partition(known.row) in partitions]
            after = [known for known in self.known if self._partition(known.row) not in partitions]
            effect = Effect(after, deletes=replaced)
        else:
            effect = self._delete(verb.where)
        return replace(effect, after=[*effect.after, *map(Known, rows)], inserts=rows)

    def _partition(self, row: Row) -> tuple[object, ...]:
        schema = self.definition.schema
        return tuple(key_of(row[name], schema.field(name).type) for name in self.definition.partition_by)

    def _update(self, verb: Update) -> Effect:
        if set_identities := self.definition.identities.keys() & verb.values.keys():
            raise Refused(f"update of {set_identities}")
        before: list[Row] = []
        updated: list[Row] = []
        after: list[Known] = []
        for known in self.known:
            if verb.where is not None and not verb.where.holds(known.row):
                after.append(known)
                continue
            try:
                values = {name: value.of(known.row) for name, value in verb.values.items()}
            except Overflow as error:
                raise Refused(f"overflow: {error}") from error
            row = {**known.row, **values}
            if not self.definition.generated.keys() & values.keys():
                row = self.definition.computed(row)
            row = self.definition.stored(row)
            before.append(known.row)
            updated.append(row)
            after.append(Known(row, known.row_id))
        self.accepted(updated)
        return Effect(after, preimages=before, postimages=updated)

    def _together(self, verb: Together, marks: Marks) -> Effect:
        """Each verb sees the rows before the transaction, so those of a transaction must be disjoint."""
        total = Effect(list(self.known))
        for one in verb.verbs:
            effect = self._effect(one, marks)
            before = {id(known) for known in self.known}
            kept = {id(known) for known in effect.after}
            total.after = [known for known in total.after if id(known) not in before or id(known) in kept]
            total.after += [known for known in effect.after if id(known) not in before]
            total.deletes += effect.deletes
            total.inserts += effect.inserts
            total.preimages += effect.preimages
            total.postimages += effect.postimages
        if verb.raises_at_end:
            raise Refused("the block raises")
        return total
