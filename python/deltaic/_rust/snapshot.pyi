from typing import final

from .arrow_table import ArrowTable
from .dry_run import DryRun
from .native_scan import NativeScanPlan
from .scan import Scan, ScanTask
from .schema import Schema
from .write_job import WriteJob
from .write_task import WriteTask

@final
class Snapshot:
    """A table at one version."""

    @property
    def uri(self) -> str: ...
    @property
    def version(self) -> int: ...
    @property
    def timestamp_ms(self) -> int:
        """Milliseconds since the epoch."""

    @property
    def schema(self) -> Schema: ...
    @property
    def protocol(self) -> str:
        """The protocol action as JSON text (protocol: Protocol Evolution)."""

    @property
    def metadata(self) -> str:
        """The metaData action as JSON text (protocol: Change Metadata)."""

    @property
    def num_files(self) -> int: ...
    @property
    def size_in_bytes(self) -> int: ...
    @property
    def num_rows(self) -> int | None:
        """Exact, or None when a file has no usable numRecords (protocol: Per-file Statistics)."""

    @property
    def app_transactions(self) -> dict[str, int]:
        """Application id to version (protocol: Transaction Identifiers)."""

    @property
    def domain_metadata(self) -> dict[str, str]:
        """Domain to configuration (protocol: Domain Metadata)."""

    @property
    def warnings(self) -> list[str]:
        """What was skipped while loading the snapshot."""

    @property
    def log_files(self) -> list[tuple[str, int]]:
        """The names in `_delta_log` and sizes in bytes of the checkpoint's files and of the commits after it.

        The size of a commit that another handle did not list is 0.
        """

    def refresh(self) -> Snapshot:
        """Returns the newest version; reads only what is new.

        Raises:
            CorruptLog, UnsupportedFeature, StorageError.
        """

    def files(self, *, predicate: str | None = None, stats: bool = False) -> ArrowTable:
        """Returns the live files, one row each, in no particular order (protocol: Add File and Remove File).

        Raises:
            InvalidPredicate, UnsupportedExpression, CorruptLog.
        """

    def tombstones(self) -> ArrowTable:
        """Returns the surviving removes, one row each, including expired ones."""

    def deletion_vectors(self) -> ArrowTable:
        """Returns the deletion vectors of the live files, one row each.

        Raises:
            CorruptLog, CorruptData, PathEscape.
        """

    def native_scan_plan(self, *, predicate: str | None = None, tree: str | None = None) -> NativeScanPlan:
        """Plans a native scan: what Spark's own reader needs to read the files that may hold a matching row.

        Conditions are a predicate, and a tree of filters as for `NativeScanPlan.kept`.

        Raises:
            InvalidPredicate, UnsupportedExpression, UnsupportedFeature, CorruptLog, CorruptData, PathEscape.
        """

    def native_scan_plan_of_tasks(self, tasks: list[ScanTask]) -> NativeScanPlan:
        """Plans a native scan of the rows of tasks, with the columns of this snapshot.

        Raises:
            CorruptLog, CorruptData, PathEscape: As for `native_scan_plan`.
        """

    def preview_delete(self, *, predicate: str | None) -> DryRun:
        """Returns what deleting matching rows would do.

        Raises:
            DeltaicError: As for `Table.delete`.
        """

    def preview_update(
        self, *, values: list[tuple[str, str]], predicate: str | None, options: dict[str, object]
    ) -> DryRun:
        """Returns what updating matching rows would do.

        Args:
            values: The columns and their new values, as SQL text.
            predicate: The rows.
            options: As for `Table.transaction`.

        Raises:
            DeltaicError: As for `Table.update`.
        """

    def preview_optimize(self, *, request: dict[str, object]) -> DryRun:
        """Returns what an optimization would do.

        Args:
            request: As for `Table.optimize`.

        Raises:
            DeltaicError: As for `Table.optimize`.
        """

    def preview_merge(
        self, data: object, *, request: dict[str, object], options: dict[str, object]
    ) -> DryRun:
        """Returns what merging rows would do.

        Args:
            data: The rows, which are read.
            request: As for `Table.merge`.
            options: As for `Table.transaction`.

        Raises:
            DeltaicError: As for `Table.merge`.
        """

    def preview_rows(
        self,
        data: object,
        *,
        replaced: tuple[str | None, str] | None,
        schema_mode: str,
        partition_by: list[str] | None,
        options: dict[str, object],
    ) -> DryRun:
        """Returns what appending rows would do, or with `replaced` what overwriting rows with them would do.

        Args:
            data: The rows, which are read.
            replaced: The predicate and the partition mode of an overwrite; None for an append.
            schema_mode: How the schema changes.
            partition_by: The new partition columns, for the schema mode ``"replace"``.
            options: As for `Table.transaction`.

        Raises:
            DeltaicError: As for `Table.append` and `Table.overwrite`.
        """

    def row_columns(self) -> tuple[str, str]:
        """Returns the columns of materialized row ids and row commit versions (protocol: Row Tracking).

        Raises:
            UnsupportedFeature: Row tracking is not enabled.
        """

    def plan_write(
        self,
        schema_json: str,
        *,
        replaced: str | None,
        schema_mode: str,
        partition_by: list[str] | None,
        settings: str,
    ) -> WriteJob:
        """Plans an append or an overwrite of rows that other processes write.

        Args:
            schema_json: The columns of the rows, as JSON of a Delta schema.
            replaced: The rows to replace, as JSON: ``"all"``, ``"partitions"``, ``{"where": …}`` or
                ``{"matching": {"on": …, "target_alias": …, "source_alias": …}}``; None for an append.
            schema_mode: As for `Transaction.overwrite`.
            partition_by: As for `Transaction.overwrite`.
            settings: The settings of the tasks, as JSON.

        Raises:
            ValueError, InvalidPredicate, SchemaMismatch, UnsupportedFeature.
        """

    def write_task(self) -> WriteTask:
        """Returns what another process needs to write files of the table.

        Raises:
            UnsupportedFeature: Files cannot be added to the table.
        """

    def scan(
        self,
        *,
        columns: list[str] | None,
        predicate: str | None,
        limit: int | None,
        batch_size: int | None,
        row_ids: bool,
        positions: bool,
        variant: str,
    ) -> Scan:
        """Plans a scan.

        Raises:
            ValueError: An unknown name in `columns` or `variant`; the message gives the closest one.
            InvalidPredicate, UnsupportedExpression.
        """
