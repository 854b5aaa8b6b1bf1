"""All rows of a version: what a snapshot and a table have, without a scan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars

    from deltaic.reading.scan import Scan

__all__ = ["AllRows"]


class AllRows:
    """The methods of a snapshot, and of a table for its newest version, that return all rows.

    Any consumer of Arrow data accepts them, through ``__arrow_c_stream__``: ``polars.DataFrame(table)``,
    ``other.append(snapshot)``.
    """

    __slots__ = ()

    def _all_rows(self) -> Scan:
        raise NotImplementedError

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._all_rows().__arrow_c_stream__(requested_schema)

    def count(self) -> int:
        """Returns the exact number of rows; from the log alone if that is exact.

        >>> import deltaic, pyarrow
        >>> table = deltaic.write("canoes", pyarrow.table({"id": [1, 2]}))
        >>> table.count(), table.snapshot().count()
        (2, 2)
        """
        return self._all_rows().count()

    def to_arrow(self) -> Any:  # Any: pyarrow ships no types
        """Returns all rows as a `pyarrow.Table`; `Snapshot.scan` selects columns and rows.

        >>> import deltaic, pyarrow
        >>> deltaic.write("punts", pyarrow.table({"id": [1, 2]})).to_arrow()["id"].to_pylist()
        [1, 2]
        """
        return self._all_rows().to_arrow()

    def to_pandas(self) -> Any:  # Any: pandas ships no types
        """Returns all rows as a `pandas.DataFrame`."""
        return self._all_rows().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """Returns all rows as a `polars.DataFrame`."""
        return self._all_rows().to_polars()
