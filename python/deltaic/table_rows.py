"""The methods of a table that change its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, overload

from deltaic import _rust
from deltaic.commit import Commit
from deltaic.commit import announced as announced_commit
from deltaic.engines.predicate_sql import Predicate, to_sql
from deltaic.handle import Handle
from deltaic.reading.snapshot import Snapshot
from deltaic.values.arguments import flag, names, text
from deltaic.values.capsule import ArrowArrayExportable, ArrowStreamExportable, checked_data
from deltaic.values.commit_options import CommitOptions, to_options
from deltaic.values.foreign_names import elsewhere
from deltaic.values.pandas_index import with_index
from deltaic.values.read_once import again, kept
from deltaic.writing.assignments import NewValue, to_assignments
from deltaic.writing.dry_run import DryRun, dry_run_from_rust
from deltaic.writing.identity_conflicts import with_new_identities
from deltaic.writing.merge import Merge, MergeCondition

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["TableRows"]


class TableRows(Handle):
    """The methods of `Table` that change its rows."""

    __slots__ = ()

    @overload
    def append(
        self,
        data: ArrowStreamExportable | ArrowArrayExportable,
        *,
        schema_mode: Literal["keep", "merge"] = "keep",
        **options: Unpack[CommitOptions],
    ) -> Commit: ...

    @overload
    def append(
        self,
        data: ArrowStreamExportable | ArrowArrayExportable,
        *,
        schema_mode: Literal["keep", "merge"] = "keep",
        dry_run: Literal[True],
        **options: Unpack[CommitOptions],
    ) -> DryRun: ...

    @overload
    def append(
        self,
        data: ArrowStreamExportable | ArrowArrayExportable,
        *,
        schema_mode: Literal["keep", "merge"] = "keep",
        dry_run: bool,
        **options: Unpack[CommitOptions],
    ) -> Commit | DryRun: ...

    def append(
        self,
        data: ArrowStreamExportable | ArrowArrayExportable,
        *,
        schema_mode: Literal["keep", "merge"] = "keep",
        dry_run: bool = False,
        **options: Unpack[CommitOptions],
    ) -> Commit | DryRun:
        """Appends rows in one commit: all of them or none.

        Columns are matched by name, in any order. Columns that the data lacks are filled with NULL if the
        table allows NULL. If another writer commits first and changes neither schema nor protocol, the commit
        is retried at the next version.

        Args:
            data: The rows: anything with ``__arrow_c_stream__`` or ``__arrow_c_array__``, such as a
                `pyarrow.Table`, a polars or pandas data frame, a DuckDB relation, a scan, a snapshot or
                another table; or a dataset or scanner of pyarrow. A stream is read once: its second use
                raises a `ValueError`.
                The index of a pandas frame is written if the table has a column of its name; an unnamed range
                index is dropped.
            schema_mode: ``"merge"`` adds columns and fields of structs that the table does not have, with
                NULL in existing rows, and widens types if ``delta.enableTypeWidening`` is set.
            dry_run: Whether to return only what would be done. The rows are read, validated and encoded;
                those of a stream are kept in memory for the call after it.
            options: How the commit is made: see `CommitOptions`.

        Returns:
            The commit. Data without rows commits nothing, and ``skipped`` is set.

        Raises:
            SchemaMismatch: The data does not fit the table's columns, or is not valid Arrow data: text that
                is not UTF-8, a decimal with too many digits. ``field`` and ``row`` give the place.
            ConstraintViolation: A row has NULL in a column that is NOT NULL.
            UnsupportedFeature: The table requires a writer feature that is not implemented. Nothing
                was written.
            MetadataChanged: Another writer changed the table's metadata concurrently. Appends to a table with
                identity columns change it: rows that can be read twice are then written again.
            ProtocolChanged: Another writer changed the table's protocol concurrently.
            ConcurrentWrite: Other writers won `max_attempts` times, or the deadline passed.
            ConcurrentTransaction: Another run of the same application committed an earlier version
                concurrently.
            CommitUnknown: The store gave no definitive response to the commit request.
            StorageError: The store cannot be written to.

        >>> import deltaic, pyarrow
        >>> table = deltaic.Table.create("bikes", pyarrow.schema([("id", pyarrow.int64())]))
        >>> commit = table.append(pyarrow.table({"id": [1, 2]}))
        >>> commit.version, commit.operation
        (1, 'WRITE')
        >>> for _ in range(2):
        ...     commit = table.append(pyarrow.table({"id": [3]}), app_transaction=("nightly", 7))
        >>> commit.version, commit.skipped
        (2, True)
        """
        given = to_options("append", **options)
        rows = checked_data(data)
        mode = text("schema_mode", schema_mode)
        if flag("dry_run", dry_run):
            return self._preview(
                "APPEND", rows, replaced=None, schema_mode=mode, partition_by=None, options=given
            )

        def once() -> _rust.Commit:
            known = self._refreshed()
            indexed = with_index(rows, known, adds_columns=mode != "keep")
            return self._rust.append(indexed, options=given, schema_mode=mode, known=known)

        commit = with_new_identities(once, rows, self._schema_json, options)
        return announced_commit(commit, stacklevel=3)

    @overload
    def overwrite(
        self,
        data: ArrowStreamExportable | ArrowArrayExportable,
        where: Predicate | None = None,
        *,
        partitions: Literal["static", "dynamic"] = "static",
        schema_mode: Literal["keep", "merge", "replace"] = "keep",
        partition_by: Sequence[str] | None = None,
        **options: Unpack[CommitOptions],
    ) -> Commit: ...

    @overload
    def overwrite(
        self,
        data: ArrowStreamExportable | ArrowArrayExportable,
        where: Predicate | None = None,
        *,
        partitions: Literal["static", "dynamic"] = "static",
        schema_mode: Literal["keep", "merge", "replace"] = "keep",
        partition_by: Sequence[str] | None = None,
        dry_run: Literal[True],
        **options: Unpack[CommitOptions],
    ) -> DryRun: ...

    @overload
    def overwrite(
        self,
        data: ArrowStreamExportable | ArrowArrayExportable,
        where: Predicate | None = None,
        *,
        partitions: Literal["static", "dynamic"] = "static",
        schema_mode: Literal["keep", "merge", "replace"] = "keep",
        partition_by: Sequence[str] | None = None,
        dry_run: bool,
        **options: Unpack[CommitOptions],
    ) -> Commit | DryRun: ...

    def overwrite(
        self,
        data: ArrowStreamExportable | ArrowArrayExportable,
        where: Predicate | None = None,
        *,
        partitions: Literal["static", "dynamic"] = "static",
        schema_mode: Literal["keep", "merge", "replace"] = "keep",
        partition_by: Sequence[str] | None = None,
        dry_run: bool = False,
        **options: Unpack[CommitOptions],
    ) -> Commit | DryRun:
        """Replaces rows by others in one commit. The properties and the history of the table remain.

        Args:
            data: The new rows, as for `append`.
            where: Replace the rows for which this is true, as `delete` would delete them; each new row must
                match it too. All rows when None.
            partitions: ``"dynamic"``: replace the partitions that the new rows are in, and no others.
            schema_mode: ``"merge"`` changes the schema as for `append`. ``"replace"`` makes the schema that
                of the data, if all rows are replaced: comments, defaults, generated and identity columns are
                dropped; with column mapping, columns of the same name and type keep their ids.
            partition_by: With ``schema_mode="replace"``: the new partition columns; None keeps them.
            dry_run: Whether to return only what would be done, as for `append`.
            options: How the commit is made: see `CommitOptions`.

        Returns:
            The commit. If no row is replaced or added, nothing is committed and ``skipped`` is set.

        Raises:
            ConstraintViolation: A new row does not match `where`, or violates a constraint of the table; or
                the table is append-only.
            SchemaMismatch: The data does not fit the table's columns, as for `append`.
            InvalidPredicate: The predicate does not parse or names an unknown column.
            UnsupportedFeature: The table requires a writer feature that is not implemented.
            CommitConflict: Another writer changed the rows that would be replaced.
            MetadataChanged: Another writer changed the table's metadata concurrently, as for `append`.
            CommitUnknown: The store gave no definitive response to the commit request.
            StorageError: The store cannot be written to.

        >>> import deltaic, pyarrow
        >>> stops = pyarrow.table({"line": ["A", "A", "B"], "stop": [1, 2, 1]})
        >>> table = deltaic.Table.create("stops", stops.schema, partition_by=["line"])
        >>> commit = table.append(stops)
        >>> commit = table.overwrite(pyarrow.table({"line": ["A"], "stop": [9]}), "line = 'A'")
        >>> commit = table.overwrite(pyarrow.table({"line": ["C"], "stop": [5]}), partitions="dynamic")
        >>> table.snapshot().scan().to_arrow().sort_by("line").to_pylist()
        [{'line': 'A', 'stop': 9}, {'line': 'B', 'stop': 1}, {'line': 'C', 'stop': 5}]
        """
        given = to_options("overwrite", **options)
        rows = checked_data(data)
        mode = text("schema_mode", schema_mode)
        by = text("partitions", partitions)
        columns = None if partition_by is None else names("partition_by", partition_by)
        if flag("dry_run", dry_run):
            return self._preview(
                "OVERWRITE",
                rows,
                replaced=(to_sql(where, Snapshot(self._refreshed()).schema), by),
                schema_mode=mode,
                partition_by=columns,
                options=given,
            )

        def once() -> _rust.Commit:
            known = self._refreshed()
            return self._rust.overwrite(
                with_index(rows, known, adds_columns=mode != "keep"),
                known=known,
                predicate=to_sql(where, Snapshot(known).schema),
                partitions=by,
                schema_mode=mode,
                partition_by=columns,
                options=given,
            )

        # Run again, it replaces rows of the other writer too, which `row_level` may forbid.
        runs_again = options.get("row_level", True)
        commit = with_new_identities(once, rows, self._schema_json, options) if runs_again else once()
        return announced_commit(commit, stacklevel=3)

    @overload
    def delete(self, where: Predicate | None = None, **options: Unpack[CommitOptions]) -> Commit: ...

    @overload
    def delete(
        self, where: Predicate | None = None, *, dry_run: Literal[True], **options: Unpack[CommitOptions]
    ) -> DryRun: ...

    @overload
    def delete(
        self, where: Predicate | None = None, *, dry_run: bool, **options: Unpack[CommitOptions]
    ) -> Commit | DryRun: ...

    def delete(
        self,
        where: Predicate | None = None,
        *,
        dry_run: bool = False,
        **options: Unpack[CommitOptions],
    ) -> Commit | DryRun:
        """Deletes the rows for which a predicate is true, not false or NULL, in one commit.

        Files of which no row remains are removed. In other files, rows are deleted by deletion vectors if
        ``delta.enableDeletionVectors`` is set; otherwise the remaining rows are copied to new files, and keep
        their row ids. After a conflict, the rows are searched again in the newest version.

        Args:
            where: The rows, as for `Snapshot.scan`; every row when None.
            dry_run: Whether to return only what would be done.
            options: How the commit is made: see `CommitOptions`.

        Returns:
            The commit, with Spark's metrics for DELETE. If no row matches, nothing is committed and
            ``skipped`` is set.

        Raises:
            InvalidPredicate: The predicate does not parse or names an unknown column.
            UnsupportedExpression: It uses an expression that cannot be evaluated here.
            ConstraintViolation: The table is append-only.
            UnsupportedFeature: The table requires a writer feature that is not implemented.
            CommitConflict: Other writers' commits conflict too often, or with `row_level` off.
            CommitUnknown: The store gave no definitive response to the commit request.
            CorruptData: A data file or deletion vector is missing or damaged.
            StorageError: The store cannot be written to.

        >>> import deltaic, pyarrow
        >>> scooters = pyarrow.table({"id": [1, 2, 3], "km": [0.0, 12.5, None]})
        >>> table = deltaic.Table.create("scooters", scooters.schema)
        >>> commit = table.append(scooters)
        >>> print(table.delete("km = 0", dry_run=True))
        DELETE of version 1 would delete 1 row:
          1 file rewritten (536 B)
        >>> commit = table.delete(deltaic.col("km") == 0)
        >>> commit.operation, commit.metrics["numDeletedRows"]
        ('DELETE', 1)
        >>> table.snapshot().scan().to_arrow()["id"].to_pylist()
        [2, 3]
        """
        given = to_options("delete", **options)
        known = self._refreshed()
        predicate = to_sql(where, Snapshot(known).schema)
        if flag("dry_run", dry_run):
            return dry_run_from_rust("DELETE", known.version, known.preview_delete(predicate=predicate))
        commit = self._rust.delete(known, predicate=predicate, options=given)
        return announced_commit(commit, stacklevel=3)

    @overload
    def update(
        self,
        set: Mapping[str, NewValue],
        where: Predicate | None = None,
        **options: Unpack[CommitOptions],
    ) -> Commit: ...

    @overload
    def update(
        self,
        set: Mapping[str, NewValue],
        where: Predicate | None = None,
        *,
        dry_run: Literal[True],
        **options: Unpack[CommitOptions],
    ) -> DryRun: ...

    @overload
    def update(
        self,
        set: Mapping[str, NewValue],
        where: Predicate | None = None,
        *,
        dry_run: bool,
        **options: Unpack[CommitOptions],
    ) -> Commit | DryRun: ...

    def update(
        self,
        set: Mapping[str, NewValue],  # noqa: A002 - SQL's word
        where: Predicate | None = None,
        *,
        dry_run: bool = False,
        **options: Unpack[CommitOptions],
    ) -> Commit | DryRun:
        """Sets columns of the rows for which a predicate is true, in one commit.

        All new values are computed from the row before the update. The rows keep their row ids. After a
        conflict, the rows are searched again in the newest version.

        Args:
            set: The new value of each column: SQL text (``"price * 2"``, ``"'closed'"``, ``"other_column"``),
                an expression of `deltaic.col`, or a value of Python other than text.
            where: The rows, as for `Snapshot.scan`; every row when None.
            dry_run: Whether to return only what would be done. The new rows are validated and encoded, but
                not written.
            options: How the commit is made: see `CommitOptions`.

        Returns:
            The commit, with Spark's metrics for UPDATE. If no row matches, nothing is committed and
            ``skipped`` is set.

        Raises:
            ValueError: A column is unknown or set twice.
            InvalidPredicate: The predicate or an expression does not parse, names an unknown column, or fails
                for a row: overflow, division by zero, an invalid cast.
            UnsupportedExpression: It uses an expression that cannot be evaluated here.
            SchemaMismatch: A new value does not have the type of its column.
            ConstraintViolation: A new row violates a constraint; or the table is append-only.
            UnsupportedFeature: The table requires a writer feature that is not implemented.
            CommitConflict: Other writers' commits conflict too often, or with `row_level` off.
            CommitUnknown: The store gave no definitive response to the commit request.
            CorruptData: A data file or deletion vector is missing or damaged.
            StorageError: The store cannot be written to.

        >>> import deltaic, pyarrow
        >>> fares = pyarrow.table({"line": ["A", "B"], "cents": [220, 250]})
        >>> table = deltaic.Table.create("fares", fares.schema)
        >>> commit = table.append(fares)
        >>> commit = table.update({"cents": "cents + 10", "line": "'A1'"}, "line = 'A'")
        >>> commit.operation, commit.metrics["numUpdatedRows"]
        ('UPDATE', 1)
        >>> table.snapshot().scan().to_arrow().sort_by("line").to_pylist()
        [{'line': 'A1', 'cents': 230}, {'line': 'B', 'cents': 250}]
        """
        given = to_options("update", **options)
        values = to_assignments(set)
        known = self._refreshed()
        predicate = to_sql(where, Snapshot(known).schema)
        if flag("dry_run", dry_run):
            found = known.preview_update(values=values, predicate=predicate, options=given)
            return dry_run_from_rust("UPDATE", known.version, found)
        commit = self._rust.update(known, values=values, predicate=predicate, options=given)
        return announced_commit(commit, stacklevel=3)

    @elsewhere(predicate="on=…", condition="on=…")
    def merge(
        self,
        source: ArrowStreamExportable | ArrowArrayExportable,
        on: MergeCondition,
        *,
        target_alias: str = "target",
        source_alias: str = "source",
        schema_mode: Literal["keep", "merge"] = "keep",
    ) -> Merge:
        """Starts a merge: rows that match rows of a source are updated or deleted, others are inserted.

        The clauses are added to the result, which `Merge.execute` runs in one commit. Rows of the source that
        take more than a quarter of its `memory` are kept in temporary files.

        Args:
            source: The rows: anything Arrow as for `append`, a scan, a snapshot, or another table, whose
                newest version is read. With ``table.changes(…)`` of another table, clauses may use
                ``source._change_type``.
            on: The condition on which two rows match, with columns as ``alias.column``. Equalities between
                both sides make it fast: files without their keys are not read.
            target_alias: The name of the table in expressions.
            source_alias: The name of the source in expressions.
            schema_mode: ``"merge"``: columns and fields of structs that clauses set, and that only the source
                has, are added to the table, and types are widened if ``delta.enableTypeWidening`` is set. All
                columns are then those that the source has: others keep their value, or get their default.

        Returns:
            The merge, without clauses.

        >>> import deltaic, pyarrow
        >>> stock = pyarrow.table({"item": ["pen", "ink"], "count": [5, 2]})
        >>> table = deltaic.Table.create("stock", stock.schema)
        >>> commit = table.append(stock)
        >>> news = pyarrow.table({"item": ["ink", "cap"], "count": [9, 1]})
        >>> merge = table.merge(news, on="target.item = source.item")
        >>> commit = merge.when_matched_update_all().when_not_matched_insert_all().execute()
        >>> commit.operation, commit.metrics["numTargetRowsUpdated"], commit.metrics["numTargetRowsInserted"]
        ('MERGE', 1, 1)
        >>> table.snapshot().scan().to_arrow().sort_by("item").to_pylist()
        [{'item': 'cap', 'count': 1}, {'item': 'ink', 'count': 9}, {'item': 'pen', 'count': 5}]

        The changes of one table, merged into another:

        >>> copy = deltaic.Table.create("stock_copy", stock.schema)
        >>> changes = table.changes(1, 1, infer=True)
        >>> merge = copy.merge(changes, on="target.item = source.item")
        >>> merge = merge.when_matched_delete("source._change_type = 'delete'")
        >>> commit = merge.when_not_matched_insert_all("_change_type <> 'delete'").execute()
        >>> commit.metrics["numTargetRowsInserted"]
        2
        """
        rows = checked_data(source)

        def run(
            request: dict[str, object], options: dict[str, object], *, dry_run: bool
        ) -> _rust.Commit | DryRun:
            known = self._refreshed()
            given = with_index(again(rows), known, adds_columns=True)
            if dry_run:
                found = known.preview_merge(kept(given, options["memory"]), request=request, options=options)
                return dry_run_from_rust("MERGE", known.version, found)
            return self._rust.merge(given, known, request=request, options=options)

        return Merge(run, on, (target_alias, source_alias), schema_mode)

    def _preview(
        self,
        operation: str,
        data: object,
        *,
        replaced: tuple[str | None, str] | None,
        schema_mode: str,
        partition_by: list[str] | None,
        options: dict[str, object],
    ) -> DryRun:
        """Returns what an append or overwrite would do."""
        data = kept(data, options["memory"])
        known = self._refreshed()
        found = known.preview_rows(
            with_index(data, known, adds_columns=schema_mode != "keep"),
            replaced=replaced,
            schema_mode=schema_mode,
            partition_by=partition_by,
            options=options,
        )
        return dry_run_from_rust(operation, known.version, found)

    def _schema_json(self) -> str:
        return self._refreshed().schema.to_json()
