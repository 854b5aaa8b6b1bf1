"""A DataFrame of a whole snapshot, whose row count comes from the log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from pyspark.sql.classic.dataframe import DataFrame as ClassicFrame

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from deltaic.snapshot import Snapshot

__all__ = ["with_count_of_log"]


class _SnapshotFrame(ClassicFrame):
    """Spark's DataFrame with another `count`; DataFrames derived from it are ordinary."""

    _snapshot: Snapshot

    def count(self) -> int:
        """Returns the number of rows: from the log if it has it for every file, else counted by Spark."""
        # With a cache, `count` must fill it.
        rows = None if self.is_cached else self._snapshot.num_rows
        return super().count() if rows is None else rows


def with_count_of_log(frame: DataFrame, snapshot: Snapshot) -> DataFrame:
    """Returns the same DataFrame with `count` from the log; it must have exactly the rows of the snapshot."""
    made: Any = frame
    # DataFrame's own __new__ always returns an ordinary DataFrame, so the class is set afterwards.
    made.__class__ = _SnapshotFrame
    made._snapshot = snapshot  # noqa: SLF001 - this class's own
    return cast("DataFrame", made)
