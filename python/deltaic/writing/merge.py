"""A merge of rows into a table, clause by clause."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from typing import TYPE_CHECKING, Literal, Protocol, cast, overload

from deltaic import _rust
from deltaic.commit import Commit
from deltaic.commit import announced as announced_commit
from deltaic.values.arguments import flag, text
from deltaic.values.capsule import ArrowArrayExportable, ArrowStreamExportable, checked_data
from deltaic.values.commit_options import CommitOptions, to_options
from deltaic.values.foreign_names import elsewhere, name_methods
from deltaic.values.pandas_index import with_index
from deltaic.values.predicates import Expression
from deltaic.values.read_once import again, kept
from deltaic.writing.assignments import NewValue, to_assignments
from deltaic.writing.dry_run import DryRun, dry_run_from_rust

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

__all__ = ["Merge", "MergeCondition", "StagedMerge", "start_merge"]

MergeCondition = str | Expression
"""A condition on rows of both sides: SQL text, or an expression of `deltaic.col`."""

_Clause = tuple[str, str, MergeCondition | None, list[tuple[str, str]] | None]


_with_set = elsewhere(updates="set={column: value}", predicate="condition=…")
_of_all = elsewhere(except_cols="the clause without _all, with the columns to set", predicate="condition=…")


class _Run(Protocol):
    """Merges rows in a commit, or returns what that would do."""

    def __call__(
        self, request: dict[str, object], options: dict[str, object], *, dry_run: bool
    ) -> _rust.Commit | DryRun: ...


class _Stage(Protocol):
    """Stages a merge and returns the number of rows that it changes."""

    def __call__(self, request: dict[str, object]) -> int: ...


class _Clauses:
    """The condition and the clauses of a merge that has not run yet."""

    __slots__ = ("_aliases", "_clauses", "_on", "_schema_mode")

    def __init__(self, on: MergeCondition, aliases: tuple[str, str], schema_mode: str) -> None:
        self._aliases = (text("target_alias", aliases[0]), text("source_alias", aliases[1]))
        self._on = _checked_on(on, self._aliases)
        self._schema_mode = text("schema_mode", schema_mode)
        self._clauses: tuple[_Clause, ...] = ()

    def __repr__(self) -> str:
        """The merge as SQL.

        >>> import deltaic, pyarrow
        >>> rows = pyarrow.table({"id": [1]})
        >>> table = deltaic.Table.create("ids", rows.schema)
        >>> print(table.merge(rows, "target.id = source.id").when_matched_delete("source.id > 3"))
        MERGE INTO target USING source ON target.id = source.id
        WHEN MATCHED AND source.id > 3 THEN DELETE
        """
        target, source = self._aliases
        evolves = " WITH SCHEMA EVOLUTION" if self._schema_mode == "merge" else ""
        lines = [f"MERGE{evolves} INTO {target} USING {source} ON {_sql(self._on)}"]
        for kind, action, condition, values in self._clauses:
            when = "WHEN " + kind.replace("_", " ").upper()
            if condition is not None:
                when += f" AND {_sql(condition)}"
            lines.append(f"{when} THEN {_then(action, values)}")
        return "\n".join(lines)

    @_with_set
    def when_matched_update(
        self,
        set: Mapping[str, NewValue],  # noqa: A002 - SQL's word
        condition: MergeCondition | None = None,
    ) -> Self:
        """Sets columns of rows of the table that match a row of the source."""
        return self._with("matched", "update", condition, to_assignments(set))

    @_of_all
    def when_matched_update_all(self, condition: MergeCondition | None = None) -> Self:
        """Sets all columns of rows that match to those of the source, by name: it must have all of them."""
        return self._with("matched", "update", condition, None)

    @elsewhere(predicate="condition=…")
    def when_matched_delete(self, condition: MergeCondition | None = None) -> Self:
        """Deletes rows of the table that match a row of the source."""
        return self._with("matched", "delete", condition, None)

    @elsewhere(updates="values={column: value}", predicate="condition=…")
    def when_not_matched_insert(
        self, values: Mapping[str, NewValue], condition: MergeCondition | None = None
    ) -> Self:
        """Inserts rows for those of the source that match no row of the table.

        Columns that are not given get their default, a generated value or NULL; without values all columns.
        """
        given = [] if values == {} else to_assignments(values)
        return self._with("not_matched", "insert", condition, given)

    @_of_all
    def when_not_matched_insert_all(self, condition: MergeCondition | None = None) -> Self:
        """Inserts rows of the source that match no row of the table, by name: it must have all columns."""
        return self._with("not_matched", "insert", condition, None)

    @_with_set
    def when_not_matched_by_source_update(
        self,
        set: Mapping[str, NewValue],  # noqa: A002 - SQL's word
        condition: MergeCondition | None = None,
    ) -> Self:
        """Sets columns of rows of the table that match no row of the source."""
        return self._with("not_matched_by_source", "update", condition, to_assignments(set))

    @elsewhere(predicate="condition=…")
    def when_not_matched_by_source_delete(self, condition: MergeCondition | None = None) -> Self:
        """Deletes rows of the table that match no row of the source."""
        return self._with("not_matched_by_source", "delete", condition, None)

    def _request(self) -> dict[str, object]:
        target, source = self._aliases
        return {
            "on": _sql(self._on),
            "target_alias": target,
            "source_alias": source,
            "clauses": [
                (kind, action, None if condition is None else _sql(condition), values)
                for kind, action, condition, values in self._clauses
            ],
            "schema_mode": self._schema_mode,
        }

    def _with(
        self,
        kind: str,
        action: str,
        condition: MergeCondition | None,
        values: list[tuple[str, str]] | None,
    ) -> Self:
        longer = copy(self)
        longer._clauses = (*self._clauses, (kind, action, condition, values))  # noqa: SLF001
        return longer


name_methods(_Clauses, "Merge")


class Merge(_Clauses):
    """A merge that has not run yet: `Table.merge` starts it, each method adds a clause, `execute` runs it.

    For each row, the first clause of its kind whose condition is true applies. Values and conditions are SQL
    text over both sides (``"source.price * 2"``), expressions of `deltaic.col`, or values of Python. Rows
    without a match have only the columns of their side.

    A row of the table that matches several rows of the source is an error, as in Spark, unless the only
    matched clause is `when_matched_delete` without a condition.
    """

    __slots__ = ("_run",)

    def __init__(
        self, run: _Run, on: MergeCondition, aliases: tuple[str, str], schema_mode: str = "keep"
    ) -> None:
        super().__init__(on, aliases, schema_mode)
        self._run = run

    @overload
    def execute(self, **options: Unpack[CommitOptions]) -> Commit: ...

    @overload
    def execute(self, *, dry_run: Literal[True], **options: Unpack[CommitOptions]) -> DryRun: ...

    @overload
    def execute(self, *, dry_run: bool, **options: Unpack[CommitOptions]) -> Commit | DryRun: ...

    def execute(self, *, dry_run: bool = False, **options: Unpack[CommitOptions]) -> Commit | DryRun:
        """Merges in one commit. After a conflict, the rows are matched again with the newest version.

        Args:
            dry_run: Whether to return only what would be done. The rows are read, validated and encoded;
                those of a stream are kept in memory for the call after it.
            options: How the commit is made: see `CommitOptions`.

        Returns:
            The commit, with Spark's metrics for MERGE. If nothing changes, nothing is committed and
            ``skipped`` is set.

        Raises:
            ValueError: There is no clause, a clause without a condition is not the last of its kind, or a
                column is unknown or set twice.
            InvalidPredicate: A condition or value does not parse, names an unknown column or one that both
                sides have, or fails for a row.
            UnsupportedExpression: It uses an expression that cannot be evaluated here.
            SchemaMismatch: A value does not have the type of its column, or the source lacks a column of the
                table where all are set.
            ConstraintViolation: A row of the table matches several rows of the source; a new row violates a
                constraint; or the table is append-only.
            UnsupportedFeature: The table requires a writer feature that is not implemented.
            CommitConflict: Other writers' commits conflict too often, or with `row_level` off.
            CommitUnknown: The store gave no definitive response to the commit request.
            CorruptData: A data file or deletion vector is missing or damaged.
            StorageError: The store cannot be written to.
        """
        given = to_options("merge", **options)
        ended = self._run(self._request(), given, dry_run=flag("dry_run", dry_run))
        return ended if isinstance(ended, DryRun) else announced_commit(ended, stacklevel=3)


class StagedMerge(_Clauses):
    """A merge of a transaction: `Transaction.merge` starts it, with the clauses of `Merge`."""

    __slots__ = ("_stage",)

    def __init__(
        self, stage: _Stage, on: MergeCondition, aliases: tuple[str, str], schema_mode: str = "keep"
    ) -> None:
        super().__init__(on, aliases, schema_mode)
        self._stage = stage

    def execute(self) -> int:
        """Stages the merge.

        Returns:
            The number of rows that it updates, deletes or inserts.

        Raises:
            ValueError: As for `Merge.execute`, or a file whose rows it changes is already staged to be
                removed or changed.
            InvalidPredicate, UnsupportedExpression, SchemaMismatch, ConstraintViolation, UnsupportedFeature,
            CorruptData, StorageError: As for `Merge.execute`.
        """
        return self._stage(self._request())


def start_merge(
    table: _rust.Table,
    refresh: Callable[[], _rust.Snapshot],
    source: ArrowStreamExportable | ArrowArrayExportable,
    on: MergeCondition,
    aliases: tuple[str, str],
    *,
    schema_mode: str,
) -> Merge:
    """Returns the merge of `Table.merge`, without clauses."""
    rows = checked_data(source)

    def run(
        request: dict[str, object], options: dict[str, object], *, dry_run: bool
    ) -> _rust.Commit | DryRun:
        known = refresh()
        given = with_index(again(rows), known, adds_columns=True)
        if dry_run:
            found = known.preview_merge(kept(given, options["memory"]), request=request, options=options)
            return dry_run_from_rust("MERGE", known.version, found)
        return table.merge(given, known, request=request, options=options)

    return Merge(run, on, aliases, schema_mode)


def _checked_on(on: object, aliases: tuple[str, str]) -> MergeCondition:
    """Validates the condition of a merge. Names of columns are no condition: the error writes it for them."""
    if isinstance(on, str | Expression):
        return on
    kind = type(on).__name__
    names = cast("Iterable[object]", on) if isinstance(on, list | tuple) else ()
    target, source = aliases
    columns = [name for name in names if isinstance(name, str)] or ["id"]
    condition = " AND ".join(f"{target}.{name} = {source}.{name}" for name in columns)
    raise TypeError(f'on must be a condition, not {kind}: write on="{condition}"')


def _sql(condition: MergeCondition) -> str:
    return condition.sql if isinstance(condition, Expression) else text("a condition of a merge", condition)


def _then(action: str, values: list[tuple[str, str]] | None) -> str:
    if action == "delete":
        return "DELETE"
    if values is None:
        return f"{'UPDATE SET' if action == 'update' else 'INSERT'} *"
    if action == "update":
        return f"UPDATE SET {', '.join(f'{column} = {value}' for column, value in values)}"
    columns = ", ".join(column for column, _ in values)
    given = ", ".join(value for _, value in values)
    return f"INSERT ({columns}) VALUES ({given})"  # noqa: S608 - shown, not run
