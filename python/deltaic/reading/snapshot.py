"""A snapshot: a table at one version."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from deltaic import _rust
from deltaic.engines.predicate_sql import Predicate, to_sql
from deltaic.exceptions import CorruptLog, DeltaicWarning
from deltaic.reading.arrow_table import ArrowTable
from deltaic.reading.scan import Scan
from deltaic.reading.schema import Schema
from deltaic.values.arguments import bounded_int, names
from deltaic.values.foreign_names import OF_TABLES, missing
from deltaic.values.optional import require
from deltaic.values.sizes import readable_size
from deltaic.values.times import from_millis, shown_millis
from deltaic.writing.write_task import WriteTask

if TYPE_CHECKING:
    import polars

    from deltaic.engines.pyarrow_dataset import SnapshotDataset

__all__ = ["Metadata", "Protocol", "Snapshot"]


@dataclass(frozen=True)
class Protocol:
    """The table's protocol action: reader and writer versions and features."""

    min_reader_version: int
    min_writer_version: int
    reader_features: frozenset[str]
    """The reader features that are listed; empty below reader version 3, which lists none."""
    writer_features: frozenset[str]
    """The writer features that are listed; empty below writer version 7, which lists none."""
    _json: str = field(default="", repr=False, compare=False)

    def to_json(self) -> str:
        """Returns the action's JSON, as in the log."""
        return self._json


@dataclass(frozen=True)
class Metadata:
    """The table's metadata action."""

    id: str
    """The table's unique id: a different id means a different table."""
    name: str | None
    description: str | None
    created_time: datetime | None
    """When the table was created, in UTC; None if the log has no time, or none that a datetime can hold."""
    partition_columns: list[str]
    properties: dict[str, str]
    """The configuration, as in the log."""
    _json: str = field(default="", repr=False, compare=False)

    def to_json(self) -> str:
        """Returns the action's JSON, as in the log."""
        return self._json


class Snapshot:
    """A table at one version: its schema, properties and files. `scan` reads its rows.

    Immutable; `refresh` returns a new snapshot. Damaged files that were skipped while loading (a hint or
    checkpoint, say) are reported in `warnings`, and as a `DeltaicWarning`.

    >>> import deltaic, pyarrow
    >>> table = deltaic.Table.create("trips", pyarrow.schema([("id", pyarrow.int64())]))
    >>> commit = table.append(pyarrow.table({"id": [1, 2, 3]}))
    >>> snapshot = table.snapshot()
    >>> snapshot.version, snapshot.num_files, snapshot.num_rows
    (1, 1, 3)
    """

    __slots__ = ("_rust",)

    def __init__(self, rust: _rust.Snapshot) -> None:
        self._rust = rust

    @property
    def uri(self) -> str:
        """The table's root, ending in a slash; never contains a secret."""
        return self._rust.uri

    @property
    def version(self) -> int:
        """The version, counted from 0."""
        return self._rust.version

    @property
    def timestamp(self) -> datetime:
        """When the version was committed, in UTC, to the millisecond.

        The in-commit timestamp if the table has them, else the time of the commit's file, limited as in
        :meth:`Table.history`.
        """
        try:
            return from_millis(self._rust.timestamp_ms)
        except OverflowError as error:
            raise CorruptLog(
                f"the commit's timestamp of {self._rust.timestamp_ms} ms is outside the years 1 to 9999",
                context={"version": self.version, "field": "timestamp"},
            ) from error

    @property
    def schema(self) -> Schema:
        """The columns, by their logical names."""
        return Schema(self._rust.schema)

    @property
    def protocol(self) -> Protocol:
        """The table's protocol."""
        text = self._rust.protocol
        action: dict[str, Any] = json.loads(text)
        return Protocol(
            min_reader_version=action["minReaderVersion"],
            min_writer_version=action["minWriterVersion"],
            reader_features=frozenset(action.get("readerFeatures") or ()),
            writer_features=frozenset(action.get("writerFeatures") or ()),
            _json=text,
        )

    @property
    def metadata(self) -> Metadata:
        """The table's metadata."""
        text = self._rust.metadata
        action: dict[str, Any] = json.loads(text)
        return Metadata(
            id=action["id"],
            name=action.get("name"),
            description=action.get("description"),
            created_time=_created_time(action.get("createdTime")),
            partition_columns=list(action.get("partitionColumns") or ()),
            properties=dict(action.get("configuration") or {}),
            _json=text,
        )

    @property
    def partition_columns(self) -> list[str]:
        """The logical names of the partition columns; empty for an unpartitioned table."""
        return self.metadata.partition_columns

    @property
    def properties(self) -> dict[str, str]:
        """The table's properties, as in the log."""
        return self.metadata.properties

    @property
    def num_files(self) -> int:
        """The number of live files."""
        return self._rust.num_files

    @property
    def size_in_bytes(self) -> int:
        """The total size of the live files, in bytes, according to the log."""
        return self._rust.size_in_bytes

    @property
    def num_rows(self) -> int | None:
        """The exact number of rows, or None if the log does not specify it; `Scan.count` is always exact.

        Raises:
            VersionNotFound: The log files that hold the number were cleaned up after the snapshot was loaded,
                and this version has no checkpoint.
        """
        return self._rust.num_rows

    @property
    def app_transactions(self) -> dict[str, int]:
        """The last version that each application has recorded, by application id."""
        return self._rust.app_transactions

    @property
    def domain_metadata(self) -> dict[str, str]:
        """The configuration of each metadata domain, as in the log."""
        return self._rust.domain_metadata

    @property
    def warnings(self) -> list[str]:
        """What was skipped while loading the snapshot; empty for a healthy table."""
        return self._rust.warnings

    def refresh(self) -> Snapshot:
        """Returns the newest version; reads only what is new.

        Raises:
            CorruptLog: The log cannot be read beyond this version.

        >>> import deltaic, pyarrow
        >>> table = deltaic.Table.create("rides", pyarrow.schema([("id", pyarrow.int64())]))
        >>> before = table.snapshot()
        >>> commit = table.append(pyarrow.table({"id": [1]}))
        >>> before.version, before.refresh().version
        (0, 1)
        """
        return announced(self._rust.refresh(), stacklevel=3)

    def files(self, predicate: Predicate | None = None, *, stats: bool = False) -> ArrowTable:
        """Returns the live files, one row each, in no particular order.

        Args:
            predicate: Return every file that may hold a matching row, and as few others as the log allows.
            stats: Add the files' statistics.

        Returns:
            Columns ``path`` (as in the log, URI-encoded), ``size`` in bytes, ``modification_time`` (int64,
            ms since the epoch), ``partition_values`` (a struct of typed values by logical name; absent if the
            table is not partitioned, null where the text does not parse), ``deletion_vector`` (a struct, or
            null). With `stats` also ``num_records``, ``tight_bounds``, and ``min``, ``max``, ``null_count``
            as structs by logical name, null where unusable.

        Raises:
            InvalidPredicate: The predicate does not parse or names an unknown column.
            UnsupportedExpression: It uses an expression that cannot be evaluated here.

        >>> import deltaic, pyarrow
        >>> schema = pyarrow.schema([("day", pyarrow.int32()), ("id", pyarrow.int64())])
        >>> table = deltaic.Table.create("days", schema, partition_by=["day"])
        >>> commit = table.append(pyarrow.table({"day": [1, 1, 2], "id": [1, 2, 3]}, schema=schema))
        >>> files = table.snapshot().files("day = 2", stats=True).to_arrow()
        >>> files["partition_values"].to_pylist(), files["num_records"].to_pylist()
        ([{'day': 2}], [1])
        """
        return ArrowTable(self._rust.files(predicate=to_sql(predicate, self.schema), stats=stats))

    def tombstones(self) -> ArrowTable:
        """Returns the removed files that the log still records, one row each, including expired ones.

        Returns:
            Columns ``path``, ``deletion_timestamp`` (int64, ms since the epoch), ``size`` in bytes,
            ``partition_values``, ``deletion_vector``; null where the log does not specify them.
        """
        return ArrowTable(self._rust.tombstones())

    def deletion_vectors(self) -> ArrowTable:
        """Returns the deletion vectors of the live files, one row each; files without one are omitted.

        Returns:
            Columns ``path`` (the data file, as in the log), ``cardinality`` (int64, the number of its deleted
            rows) and ``rows`` (large_list<int64>, their positions in the file from 0, ascending). All are
            held in memory, at 8 bytes per deleted row.

        Raises:
            CorruptLog: A deletion vector descriptor is invalid.
            CorruptData: A deletion vector file is missing or damaged.
            PathEscape: A deletion vector file is outside of the table and the allowed roots.

        >>> import deltaic, pyarrow
        >>> table = deltaic.Table.create("swims", pyarrow.schema([("id", pyarrow.int64())]))
        >>> table.snapshot().deletion_vectors().to_arrow().column_names
        ['path', 'cardinality', 'rows']
        """
        return ArrowTable(self._rust.deletion_vectors())

    def count(self) -> int:
        """Returns the exact number of rows; from the log alone if that is exact.

        >>> import deltaic, pyarrow
        >>> deltaic.write("canoes", pyarrow.table({"id": [1, 2]})).snapshot().count()
        2
        """
        return self.scan().count()

    def to_arrow(self) -> Any:  # Any: pyarrow ships no types
        """Returns all rows as a `pyarrow.Table`; `scan` selects columns and rows.

        >>> import deltaic, pyarrow
        >>> deltaic.write("punts", pyarrow.table({"id": [1, 2]})).snapshot().to_arrow()["id"].to_pylist()
        [1, 2]
        """
        return self.scan().to_arrow()

    def to_pandas(self) -> Any:  # Any: pandas ships no types
        """Returns all rows as a `pandas.DataFrame`."""
        return self.scan().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """Returns all rows as a `polars.DataFrame`."""
        return self.scan().to_polars()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.scan().__arrow_c_stream__(requested_schema)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise missing("a deltaic.Snapshot", name, OF_TABLES)

    def scan(
        self,
        columns: Sequence[str] | None = None,
        predicate: Predicate | None = None,
        *,
        row_ids: bool = False,
        positions: bool = False,
        limit: int | None = None,
        batch_size: int | None = None,
        variant: Literal["arrow", "json"] = "arrow",
        strings: Literal["utf8", "view"] = "utf8",
    ) -> Scan:
        """Describes a read of this version. Reads are lazy; each `to_…` call of the scan reads again.

        Args:
            columns: The columns to read, in this order; all of them when None. ``"address.city"`` selects the
                struct ``address`` with only its field ``city``.
            predicate: Return rows for which it is true, not false or NULL. SQL text in Spark's syntax
                (``"day >= DATE '2026-11-01' AND region = 'EU'"``), an expression of `deltaic.col`, or one of
                pyarrow or polars that can be translated exactly. It may use columns that are not read.
            row_ids: Add ``_row_id`` (int64, the stable id of the row) and ``_row_commit_version`` (int64, the
                version that added the row or last changed it). Requires row tracking.
            positions: Add ``_file_path`` (string, the data file as in the log) and ``_file_position``
                (int64, the row's position there, counted from 0), as `Transaction.delete_rows` takes them.
            limit: Maximum number of rows; which rows are returned is not defined.
            batch_size: Maximum number of rows per batch; 65,536 by default, and fewer for large rows.
            variant: The format of columns of type variant, including nested ones. ``"arrow"``: Arrow's
                extension type ``arrow.parquet.variant``, a struct of the bytes ``metadata`` and ``value``;
                shredded values are reassembled. ``"json"``: JSON text, formatted as by Spark's ``to_json``. A
                predicate on a variant can only test IS NULL.
            strings: The format of columns of strings and binary values, nested ones excepted. ``"utf8"``:
                Arrow's types ``utf8`` and ``binary``. ``"view"``: ``utf8_view`` and ``binary_view``, which
                refer to the decoded pages of the file, so that nothing is copied.

        Raises:
            ValueError: An unknown column in `columns`, or an unknown format in `variant` or `strings`; the
                message gives the closest name. Or a bound below its minimum.
            InvalidPredicate: The predicate does not parse or names an unknown column.
            UnsupportedExpression: It uses an expression that cannot be evaluated here.
            UnsupportedFeature: `row_ids` is set, and row tracking is not enabled.
            SchemaMismatch: The table has a column that `row_ids` or `positions` adds.

        >>> import deltaic, pyarrow
        >>> walks = pyarrow.table({"id": [1, 2], "km": [3.5, 12.0]})
        >>> table = deltaic.Table.create("walks", walks.schema)
        >>> commit = table.append(walks)
        >>> table.snapshot().scan(["id"], deltaic.col("km") > 10.0).to_arrow()["id"].to_pylist()
        [2]

        For a table with a variant column:

        >>> events = deltaic.Table("events").snapshot()  # doctest: +SKIP
        >>> events.scan(["payload"], variant="json").to_arrow()["payload"].to_pylist()  # doctest: +SKIP
        ['{"user":7,"tags":["a","b"]}', None]
        """
        wanted = None if columns is None else names("columns", columns)
        scan = self._rust.scan(
            columns=wanted,
            predicate=to_sql(predicate, self.schema),
            limit=None if limit is None else bounded_int("limit", limit, minimum=0),
            batch_size=None if batch_size is None else bounded_int("batch_size", batch_size, minimum=1),
            row_ids=bool(row_ids),
            positions=bool(positions),
            variant=variant,
        )
        return Scan(scan if strings == "utf8" else scan.with_strings(strings))

    def write_task(self) -> WriteTask:
        """Returns a task that writes data files of the table in another process, without its log.

        A transaction adds the files to the table: see `Transaction.add`. The rows are checked against the
        schema and the constraints of this snapshot.

        Raises:
            UnsupportedFeature: The table has identity columns, whose next values only a transaction knows.
        """
        return WriteTask(self._rust.write_task())

    def to_pyarrow_dataset(self, *, variant: Literal["arrow", "json"] = "arrow") -> SnapshotDataset:
        """Returns the rows as a lazy `pyarrow.dataset.Dataset`, for DuckDB and other engines that read one.

        Filters and columns are pushed down, so that a query opens only the files that may hold matching rows.

        Args:
            variant: The format of columns of type variant, as for `scan`.

        Raises:
            ImportError: pyarrow is not installed.

        >>> import deltaic, duckdb, pyarrow
        >>> runs = pyarrow.table({"id": [1, 2, 3], "km": [5.0, 10.0, 42.2]})
        >>> table = deltaic.Table.create("runs", runs.schema)
        >>> commit = table.append(runs)
        >>> dataset = table.snapshot().to_pyarrow_dataset()
        >>> duckdb.sql("SELECT sum(id) FROM dataset WHERE km >= 10").fetchall()
        [(5,)]
        """
        require("pyarrow", "Snapshot.to_pyarrow_dataset()")
        from deltaic.engines.pyarrow_dataset import SnapshotDataset

        return SnapshotDataset(self, variant)

    def to_polars_lazy(self, *, variant: Literal["arrow", "json"] = "arrow") -> polars.LazyFrame:
        """Returns the rows as a `polars.LazyFrame`; nothing is read until it is collected.

        Filters, columns and row limits are pushed down, so that a query opens only the files that may hold
        matching rows.

        Args:
            variant: The format of columns of type variant, as for `scan`.

        Raises:
            ImportError: polars is not installed, or older than 1.31.

        >>> import deltaic, polars, pyarrow
        >>> swims = pyarrow.table({"id": [1, 2, 3], "km": [0.5, 1.0, 3.8]})
        >>> table = deltaic.Table.create("lake_swims", swims.schema)
        >>> commit = table.append(swims)
        >>> frame = table.snapshot().to_polars_lazy()
        >>> frame.filter(polars.col("km") >= 1).select("id").collect()["id"].to_list()
        [2, 3]
        """
        from deltaic.engines.polars_lazy import lazy_frame

        return lazy_frame(self, variant)

    def __repr__(self) -> str:
        lines = [f"<deltaic.Snapshot version {self.version} of {self.uri}"]
        lines.append(f"  committed {_shown_time(self._rust.timestamp_ms)}")
        files = "1 file" if self.num_files == 1 else f"{self.num_files:,} files"
        lines.append(f"  {files}, {readable_size(self.size_in_bytes)}")
        if self.partition_columns:
            lines.append(f"  partitioned by {', '.join(self.partition_columns)}")
        return "\n".join(lines) + ">"


def announced(rust: _rust.Snapshot, stacklevel: int) -> Snapshot:
    """Wraps a new snapshot of the core and emits its warnings, attributed to the caller."""
    for text in rust.warnings:
        warnings.warn(text, DeltaicWarning, stacklevel=stacklevel)
    return Snapshot(rust)


def _shown_time(millis: int) -> str:
    try:
        return f"{from_millis(millis):%Y-%m-%d %H:%M:%S} UTC"
    except OverflowError:
        # A repr must not raise for an invalid timestamp.
        return f"at {shown_millis(millis)}"


def _created_time(millis: int | None) -> datetime | None:
    try:
        return None if millis is None else from_millis(millis)
    except OverflowError:
        # The time is for display only, so an invalid one must not hide the rest.
        return None
