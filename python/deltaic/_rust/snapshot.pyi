from typing import final

from .arrow_table import ArrowTable
from .native_scan import NativeScanPlan
from .scan import Scan
from .schema import Schema

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

    def native_scan_plan(self, *, predicate: str | None = None) -> NativeScanPlan:
        """Plans a native scan: what Spark's own reader needs to read the files that may hold a matching row.

        Raises:
            InvalidPredicate, UnsupportedExpression, UnsupportedFeature, CorruptLog, CorruptData, PathEscape.
        """

    def preview_delete(self, *, predicate: str | None) -> tuple[int | None, int, int, int, int]:
        """Returns what deleting matching rows would do.

        Returns:
            The number of rows if the log has it; the numbers of files that are removed, get a deletion
            vector, and are rewritten; the size of the latter in bytes.

        Raises:
            InvalidPredicate, ConstraintViolation, UnsupportedFeature, CorruptData.
        """

    def row_columns(self) -> tuple[str, str]:
        """Returns the columns of materialized row ids and row commit versions (protocol: Row Tracking).

        Raises:
            UnsupportedFeature: Row tracking is not enabled.
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
