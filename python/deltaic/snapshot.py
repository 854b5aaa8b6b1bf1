"""A table as it is at one version."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from deltaic import _rust
from deltaic.arguments import at_most, names
from deltaic.arrow_table import ArrowTable
from deltaic.exceptions import CorruptLog, DeltaicWarning
from deltaic.optional import require
from deltaic.scan import Scan
from deltaic.schema import Schema
from deltaic.sizes import readable_size
from deltaic.times import from_millis, shown_millis
from deltaic.translate import Predicate, to_sql

if TYPE_CHECKING:
    import polars

    from deltaic.dataset import SnapshotDataset

__all__ = ["Metadata", "Protocol", "Snapshot"]


@dataclass(frozen=True)
class Protocol:
    """What a reader and a writer must know to use the table."""

    min_reader_version: int
    min_writer_version: int
    reader_features: frozenset[str]
    """The reader features that are listed; empty below reader version 3, which lists none."""
    writer_features: frozenset[str]
    """The writer features that are listed; empty below writer version 7, which lists none."""
    _json: str = field(default="", repr=False, compare=False)

    def to_json(self) -> str:
        """The action as in the log."""
        return self._json


@dataclass(frozen=True)
class Metadata:
    """What the table says about itself."""

    id: str
    """The table's unique id: another one means another table."""
    name: str | None
    description: str | None
    created_time: datetime | None
    """When the table was made, in UTC; None when the log has no time, or none that a datetime can hold."""
    partition_columns: list[str]
    properties: dict[str, str]
    """The configuration, as in the log."""
    _json: str = field(default="", repr=False, compare=False)

    def to_json(self) -> str:
        """The action as in the log."""
        return self._json


class Snapshot:
    """A table at one version: its schema, properties and files, and what `scan` reads from them.

    It never changes; `refresh` gives another one. What was passed over on the way here (a damaged hint or
    checkpoint, say) is in `warnings`, and went out as a `DeltaicWarning` too.

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
        """The table's root, ending in a slash; never holds a secret."""
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
                f"the commit's time of {self._rust.timestamp_ms} ms lies outside of the years 1 to 9999",
                context={"version": self.version, "field": "timestamp"},
            ) from error

    @property
    def schema(self) -> Schema:
        """The columns, by their logical names."""
        return Schema(self._rust.schema)

    @property
    def protocol(self) -> Protocol:
        """What a reader and a writer must know."""
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
        """What the table says about itself."""
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
        """The logical names of the columns that the table is partitioned by; empty when it is not."""
        return self.metadata.partition_columns

    @property
    def properties(self) -> dict[str, str]:
        """The table's properties, as in the log."""
        return self.metadata.properties

    @property
    def num_files(self) -> int:
        """How many live files there are."""
        return self._rust.num_files

    @property
    def size_in_bytes(self) -> int:
        """The sum of the live files' sizes, in bytes, as the log states them."""
        return self._rust.size_in_bytes

    @property
    def num_rows(self) -> int | None:
        """The exact number of rows, or None when the log does not say; `Scan.count` always knows.

        Raises:
            VersionNotFound: The log files that say so were cleaned up after the version was opened, and no
                checkpoint has the version.
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
        """What was passed over to get here; empty for a healthy table."""
        return self._rust.warnings

    def refresh(self) -> Snapshot:
        """The newest version; reads only what is new.

        Raises:
            CorruptLog: The log cannot be read on from here.

        >>> import deltaic, pyarrow
        >>> table = deltaic.Table.create("rides", pyarrow.schema([("id", pyarrow.int64())]))
        >>> before = table.snapshot()
        >>> commit = table.append(pyarrow.table({"id": [1]}))
        >>> before.version, before.refresh().version
        (0, 1)
        """
        return announced(self._rust.refresh(), stacklevel=3)

    def files(self, predicate: Predicate | None = None, *, stats: bool = False) -> ArrowTable:
        """The live files, one row each, in no particular order.

        Args:
            predicate: Keep every file that may hold a matching row, and as few others as the log can tell.
            stats: Add the files' statistics.

        Returns:
            Columns ``path`` (as in the log, URI-encoded), ``size`` in bytes, ``modification_time`` (int64,
            ms since the epoch), ``partition_values`` (a struct of typed values by logical name; absent when
            the table is not partitioned, null where the text does not parse), ``deletion_vector`` (a struct,
            or null). With `stats` also ``num_records``, ``tight_bounds``, and ``min``, ``max``,
            ``null_count`` as structs by logical name, null where unusable.

        Raises:
            InvalidPredicate: The predicate does not parse or names an unknown column.
            UnsupportedExpression: It uses what cannot be evaluated here.

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
        """The removed files whose removal the log still records, one row each; expired ones too.

        Returns:
            Columns ``path``, ``deletion_timestamp`` (int64, ms since the epoch), ``size`` in bytes,
            ``partition_values``, ``deletion_vector``; null where the log does not say.
        """
        return ArrowTable(self._rust.tombstones())

    def deletion_vectors(self) -> ArrowTable:
        """The deletion vectors of the live files, one row each; files without any are left out.

        Returns:
            Columns ``path`` (the data file, as in the log), ``cardinality`` (int64, how many of its rows are
            deleted) and ``rows`` (large_list<int64>, their positions in the file from 0, ascending). All are
            held in memory, at 8 bytes a deleted row.

        Raises:
            CorruptLog: A vector's descriptor makes no sense.
            CorruptData: A file of vectors is missing or damaged.
            PathEscape: A vector lies outside of the table and the allowed roots.

        >>> import deltaic, pyarrow
        >>> table = deltaic.Table.create("swims", pyarrow.schema([("id", pyarrow.int64())]))
        >>> table.snapshot().deletion_vectors().to_arrow().column_names
        ['path', 'cardinality', 'rows']
        """
        return ArrowTable(self._rust.deletion_vectors())

    def scan(
        self,
        columns: Sequence[str] | None = None,
        predicate: Predicate | None = None,
        *,
        row_ids: bool = False,
        limit: int | None = None,
        batch_size: int | None = None,
        variant: Literal["arrow", "json"] = "arrow",
    ) -> Scan:
        """What to read; nothing is read until the scan is asked.

        Args:
            columns: The columns to read, in this order; all of them when None. ``"address.city"`` is the
                struct ``address`` with its field ``city`` alone.
            predicate: The rows to keep: those for which it is true, not false or NULL. SQL text in Spark's
                spelling (``"day >= DATE '2026-11-01' AND region = 'EU'"``), an expression of
                `deltaic.col`, or one of pyarrow or polars that can be translated exactly. It may use
                columns that are not read.
            row_ids: Add ``_row_id`` (int64, an id that a row keeps for as long as it lives) and
                ``_row_commit_version`` (int64, the version that brought the row or changed it last). The
                table needs row tracking for it.
            limit: At most this many rows; which ones is not defined.
            batch_size: At most this many rows in a batch; by itself 65,536, and fewer of large rows.
            variant: How columns of type variant come, nested ones too. ``"arrow"``: as Arrow's extension type
                ``arrow.parquet.variant``, a struct of the bytes ``metadata`` and ``value``, shredded ones put
                together again. ``"json"``: as JSON text, spelled as Spark's ``to_json`` does. A predicate can
                only ask whether one IS NULL.

        Raises:
            ValueError: An unknown column in `columns`, or an unknown form in `variant`; the nearest name is
                given. Or a bound below its least.
            InvalidPredicate: The predicate does not parse or names an unknown column.
            UnsupportedExpression: It uses what cannot be evaluated here.
            UnsupportedFeature: Row ids are asked for, and row tracking is not enabled.

        >>> import deltaic, pyarrow
        >>> walks = pyarrow.table({"id": [1, 2], "km": [3.5, 12.0]})
        >>> table = deltaic.Table.create("walks", walks.schema)
        >>> commit = table.append(walks)
        >>> table.snapshot().scan(["id"], deltaic.col("km") > 10.0).to_arrow()["id"].to_pylist()
        [2]

        Of a table with a variant in it:

        >>> events = deltaic.Table("events").snapshot()  # doctest: +SKIP
        >>> events.scan(["payload"], variant="json").to_arrow()["payload"].to_pylist()  # doctest: +SKIP
        ['{"user":7,"tags":["a","b"]}', None]
        """
        wanted = None if columns is None else names("columns", columns)
        return Scan(
            self._rust.scan(
                columns=wanted,
                predicate=to_sql(predicate, self.schema),
                limit=None if limit is None else at_most("limit", limit, least=0),
                batch_size=None if batch_size is None else at_most("batch_size", batch_size, least=1),
                row_ids=bool(row_ids),
                variant=variant,
            )
        )

    def to_pyarrow_dataset(self, *, variant: Literal["arrow", "json"] = "arrow") -> SnapshotDataset:
        """The rows as a `pyarrow.dataset.Dataset`, for DuckDB and what else takes one; nothing is read yet.

        Filters and columns are pushed down, so a query opens only the files that may hold its rows.

        Args:
            variant: How columns of type variant come, as for `scan`.

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
        from deltaic.dataset import SnapshotDataset

        return SnapshotDataset(self, variant)

    def to_polars_lazy(self, *, variant: Literal["arrow", "json"] = "arrow") -> polars.LazyFrame:
        """The rows as a `polars.LazyFrame`; nothing is read until it is collected.

        Filters, columns and the number of rows are pushed down, so a query opens only the files that may hold
        its rows.

        Args:
            variant: How columns of type variant come, as for `scan`.

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
        from deltaic.lazy import lazy_frame

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
    """The Python view of a snapshot just made; its warnings go out, each pointing at the caller."""
    for text in rust.warnings:
        warnings.warn(text, DeltaicWarning, stacklevel=stacklevel)
    return Snapshot(rust)


def _shown_time(millis: int) -> str:
    try:
        return f"{from_millis(millis):%Y-%m-%d %H:%M:%S} UTC"
    except OverflowError:
        # What is shown must not fail for what is odd.
        return f"at {shown_millis(millis)}"


def _created_time(millis: int | None) -> datetime | None:
    try:
        return None if millis is None else from_millis(millis)
    except OverflowError:
        # The time serves nothing but display, so a nonsensical one must not hide the rest.
        return None
