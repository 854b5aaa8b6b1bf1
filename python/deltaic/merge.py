"""A merge of rows into a table, clause by clause."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, Protocol, overload

from deltaic.arguments import flag, text
from deltaic.assignments import NewValue, to_assignments
from deltaic.commit import Commit
from deltaic.commit import announced as announced_commit
from deltaic.commit_options import CommitOptions, to_options
from deltaic.dry_run import DryRun
from deltaic.predicates import Expression

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from deltaic import _rust

__all__ = ["Merge", "MergeCondition"]

MergeCondition = str | Expression
"""A condition on rows of both sides: SQL text, or an expression of `deltaic.col`."""

_Clause = tuple[str, str, MergeCondition | None, list[tuple[str, str]] | None]


class _Run(Protocol):
    """Merges rows, or returns what that would do."""

    def __call__(
        self, request: dict[str, object], options: dict[str, object], *, dry_run: bool
    ) -> _rust.Commit | DryRun: ...


class Merge:
    """A merge that has not run yet: `Table.merge` starts it, each method adds a clause, `execute` runs it.

    For each row, the first clause of its kind whose condition is true applies. Values and conditions are SQL
    text over both sides (``"source.price * 2"``), expressions of `deltaic.col`, or values of Python. Rows
    without a match have only the columns of their side.

    A row of the table that matches several rows of the source is an error, as in Spark, unless the only
    matched clause is `when_matched_delete` without a condition.
    """

    __slots__ = ("_aliases", "_clauses", "_on", "_run")

    def __init__(
        self,
        run: _Run,
        on: MergeCondition,
        target_alias: str,
        source_alias: str,
        clauses: tuple[_Clause, ...] = (),
    ) -> None:
        self._run = run
        self._on = on
        self._aliases = (target_alias, source_alias)
        self._clauses = clauses

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
        lines = [f"MERGE INTO {target} USING {source} ON {_sql(self._on)}"]
        for kind, action, condition, values in self._clauses:
            when = "WHEN " + kind.replace("_", " ").upper()
            if condition is not None:
                when += f" AND {_sql(condition)}"
            lines.append(f"{when} THEN {_then(action, values)}")
        return "\n".join(lines)

    def when_matched_update(
        self,
        set: Mapping[str, NewValue],  # noqa: A002 - SQL's word
        condition: MergeCondition | None = None,
    ) -> Merge:
        """Sets columns of rows of the table that match a row of the source."""
        return self._with("matched", "update", condition, to_assignments(set))

    def when_matched_update_all(self, condition: MergeCondition | None = None) -> Merge:
        """Sets all columns of rows that match to those of the source, by name."""
        return self._with("matched", "update", condition, None)

    def when_matched_delete(self, condition: MergeCondition | None = None) -> Merge:
        """Deletes rows of the table that match a row of the source."""
        return self._with("matched", "delete", condition, None)

    def when_not_matched_insert(
        self, values: Mapping[str, NewValue], condition: MergeCondition | None = None
    ) -> Merge:
        """Inserts rows for those of the source that match no row of the table.

        Columns that are not given get their default, a generated value or NULL.
        """
        return self._with("not_matched", "insert", condition, to_assignments(values))

    def when_not_matched_insert_all(self, condition: MergeCondition | None = None) -> Merge:
        """Inserts the rows of the source that match no row of the table, by name."""
        return self._with("not_matched", "insert", condition, None)

    def when_not_matched_by_source_update(
        self,
        set: Mapping[str, NewValue],  # noqa: A002 - SQL's word
        condition: MergeCondition | None = None,
    ) -> Merge:
        """Sets columns of rows of the table that match no row of the source."""
        return self._with("not_matched_by_source", "update", condition, to_assignments(set))

    def when_not_matched_by_source_delete(self, condition: MergeCondition | None = None) -> Merge:
        """Deletes rows of the table that match no row of the source."""
        return self._with("not_matched_by_source", "delete", condition, None)

    @overload
    def execute(self, **options: Unpack[CommitOptions]) -> Commit: ...

    @overload
    def execute(self, *, dry_run: Literal[True], **options: Unpack[CommitOptions]) -> DryRun: ...

    @overload
    def execute(self, *, dry_run: bool, **options: Unpack[CommitOptions]) -> Commit | DryRun: ...

    def execute(self, *, dry_run: bool = False, **options: Unpack[CommitOptions]) -> Commit | DryRun:
        """Merges in one commit. After a conflict, the rows are matched again with the newest version.

        Args:
            dry_run: Whether to return only what would be done. The rows are read, validated and encoded.
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
        target, source = self._aliases
        request: dict[str, object] = {
            "on": _sql(self._on),
            "target_alias": target,
            "source_alias": source,
            "clauses": [
                (kind, action, None if condition is None else _sql(condition), values)
                for kind, action, condition, values in self._clauses
            ],
        }
        ended = self._run(request, given, dry_run=flag("dry_run", dry_run))
        return ended if isinstance(ended, DryRun) else announced_commit(ended, stacklevel=3)

    def _with(
        self,
        kind: str,
        action: str,
        condition: MergeCondition | None,
        values: list[tuple[str, str]] | None,
    ) -> Merge:
        clauses = (*self._clauses, (kind, action, condition, values))
        return Merge(self._run, self._on, *self._aliases, clauses)


def _sql(condition: MergeCondition) -> str:
    return condition.sql if isinstance(condition, Expression) else text("a condition of a merge", condition)


def _then(action: str, values: list[tuple[str, str]] | None) -> str:
    if action == "delete":
        return "DELETE"
    if values is None:
        return f"{'UPDATE SET' if action == 'update' else 'INSERT'} *"
    if action == "update":
        return f"UPDATE SET {', '.join(f'{column} = {value}' for column, value in values)}"
    columns, given = (", ".join(parts) for parts in zip(*values, strict=True))
    return f"INSERT ({columns}) VALUES ({given})"  # noqa: S608 - shown, not run
