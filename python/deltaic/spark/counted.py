"""A DataFrame of a whole snapshot, which knows from the log how many rows it has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from pyspark.sql.classic.dataframe import DataFrame as ClassicFrame

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from deltaic.snapshot import Snapshot

__all__ = ["counted"]


class _CountedFrame(ClassicFrame):
    """What Spark has made, but for `count`; whatever is made of it is a DataFrame like any other."""

    _snapshot: Snapshot

    def count(self) -> int:
        """How many rows there are: from the log where it tells of every file, else counted by Spark."""
        # Who has asked for a cache counts to fill it.
        rows = None if self.is_cached else self._snapshot.num_rows
        return super().count() if rows is None else rows


def counted(frame: DataFrame, snapshot: Snapshot) -> DataFrame:
    """The same DataFrame, whose `count` asks the log first; it has all rows of the snapshot and no others."""
    made: Any = frame
    # DataFrame's own __new__ makes a DataFrame of whatever class it is asked for.
    made.__class__ = _CountedFrame
    made._snapshot = snapshot  # noqa: SLF001 - this class's own
    return cast("DataFrame", made)
