"""`deltaic.spark.write(frame)`: a mode and options, then a path."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from deltaic.spark.frame_write.columns import to_delta
from deltaic.spark.frame_write.options import MODES, WriteOptions
from deltaic.spark.frame_write.plan import WriteRequest
from deltaic.spark.frame_write.source_options import ANSI, CLUSTERING, MODE, PARTITIONING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from deltaic.commit import Commit

__all__ = ["Writer"]


class Writer:
    """Writes a DataFrame to a Delta table; created by `deltaic.spark.write`.

    Options, with case-insensitive names as in delta-spark:

    - ``mergeSchema``: true adds new columns of the DataFrame to the table, and widens types if the table
      allows it.
    - ``overwriteSchema``: true replaces the schema, in an overwrite of all rows.
    - ``replaceWhere``: an overwrite replaces only the rows that match this condition; the new rows must match
      it too.
    - ``partitionOverwriteMode``: ``dynamic`` replaces only the partitions that the new rows are in.
    - ``replaceUsing``: names of columns; an overwrite replaces the rows that have the values of a new row
      in these.
    - ``replaceOn``: an overwrite replaces the rows that match a new row on this condition, in which the table
      has the name ``targetAlias`` and the DataFrame its alias; without them ``target`` and ``source``.
    - ``txnAppId`` and ``txnVersion``: the id of your application and the number of this write. If the table
      records that number or a later one, nothing is written.
    - ``userMetadata``: text that the commit records.
    - ``maxRecordsPerFile``: the maximum number of rows of a file.
    - ``optimizeWrite``: true shuffles the rows first, so that few large files are written.
    - ``compression``: the codec of the files, such as ``snappy``; zstd without it, or what the table says.
    - ``dataChange``: false if an overwrite writes the rows that it replaces to other files, as compaction
      does: streams and the change feed ignore the commit. It must replace whole files, by as many rows.
    - ``delta.…``: a property of a new table.
    - Storage options, with the names of `deltaic.Table`.

    Spark evaluates the table's constraints, defaults and generated columns, in the session's time zone.

    Example:
        >>> Writer(df).mode("append").save("data/events")  # doctest: +SKIP
        <deltaic.Commit 1 WRITE at 2026-11-29 09:00:00 UTC: 2 files, 1,000 rows>
    """

    def __init__(self, frame: DataFrame) -> None:
        if not hasattr(frame, "sparkSession"):
            raise TypeError(f"a DataFrame of Spark is needed, not {type(frame).__name__}")
        if frame.isStreaming:
            raise TypeError("a stream is written in foreachBatch: deltaic.spark.write(batch).save(…)")
        self._frame = frame
        self._mode = "error"
        self._options: dict[str, object] = {}
        self._partition_by: list[str] = []
        self._cluster_by: list[str] = []

    def mode(self, mode: str) -> Writer:
        """Sets what happens if the table exists.

        Args:
            mode: ``append`` adds the rows, ``overwrite`` replaces all rows, ``ignore`` does nothing, and
                ``error`` (the default, also ``errorifexists``) raises `TableExists`.

        Raises:
            ValueError: The mode is unknown.
        """
        if mode.lower() not in MODES:
            raise ValueError(f"mode must be append, overwrite, error or ignore, not {mode!r}")
        self._mode = MODES[mode.lower()]
        return self

    def option(self, key: str, value: object) -> Writer:
        """Sets one option; None unsets it. `save` raises for unknown options."""
        self._options = {name: each for name, each in self._options.items() if name.lower() != key.lower()}
        if value is not None:
            self._options[key] = value
        return self

    def options(self, **options: object) -> Writer:
        """Sets several options, see `option`."""
        for key, value in options.items():
            self.option(key, value)
        return self

    def partitionBy(self, *columns: str | list[str]) -> Writer:
        """Sets the partition columns of a new table, or of one whose schema is overwritten."""
        self._partition_by = _names(columns)
        return self

    def clusterBy(self, *columns: str | list[str]) -> Writer:
        """Sets the clustering columns of a new table."""
        self._cluster_by = _names(columns)
        return self

    def save(self, path: str | os.PathLike[str]) -> Commit | None:
        """Writes the rows to the table at this path or URI, in one commit that creates it if there is none.

        Returns:
            The commit. None if the mode is ``ignore`` and the table exists, and with Spark Connect, where the
            server commits.

        Raises:
            TableExists: The table exists, and the mode is ``error``.
            SchemaMismatch: The columns do not fit the table.
            ConstraintViolation: A row violates a constraint; ``row`` in the context shows it.
            UnsupportedFeature: The table requires a feature that is not implemented, or the session encrypts
                Parquet files.
            CommitConflict: Another writer changed the table; nothing is written.
            CommitUnknown, StorageError: As for `deltaic.Table.append`.
            ValueError: An option is not known, its value is invalid, or two contradict each other.
        """
        location = os.fspath(path)
        if type(self._frame).__module__.startswith("pyspark.sql.connect"):
            self._on_the_server(location)
            return None
        options = WriteOptions.parse(location, self._options)
        from deltaic.spark.frame_write.run import write_frame

        request = WriteRequest(
            location,
            self._mode,
            to_delta(self._frame.schema),
            options,
            self._partition_by,
            self._cluster_by,
        )
        return write_frame(self._frame, request)

    def _on_the_server(self, path: str) -> None:
        from deltaic.spark.frame_write.ansi_mode import is_ansi
        from deltaic.spark.frame_write.encryption import ensure_no_encryption
        from deltaic.spark.source.registration import register_sources

        frame: Any = self._frame
        ensure_no_encryption(frame.sparkSession)
        register_sources(frame.sparkSession)
        # Spark gives a data source these two modes; the others are options of it.
        writer = frame.write.format("deltaic").mode("overwrite" if self._mode == "overwrite" else "append")
        own = {
            ANSI: str(is_ansi(frame.sparkSession)).lower(),
            MODE: self._mode,
            PARTITIONING: json.dumps(self._partition_by),
            CLUSTERING: json.dumps(self._cluster_by),
        }
        zone = str(frame.sparkSession.conf.get("spark.sql.session.timeZone"))
        given = {"timezone": zone, **{name: _as_text(value) for name, value in self._options.items()}}
        writer.options(**given, **own).save(path)


def _names(columns: tuple[str | list[str], ...]) -> list[str]:
    return [name for each in columns for name in ([each] if isinstance(each, str) else each)]


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
