"""Materialised Arrow data without an Arrow library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deltaic import _rust
from deltaic.values.capsule import ArrowSchemaExportable
from deltaic.values.optional import require

if TYPE_CHECKING:
    import polars

__all__ = ["ArrowTable"]


class ArrowTable:
    """A small table in memory, such as the result of `Snapshot.files`.

    All consumers of Arrow data accept it, through ``__arrow_c_stream__``: ``pyarrow.table(x)``,
    ``polars.DataFrame(x)``, ``duckdb.from_arrow(x)``.
    """

    __slots__ = ("_rust",)

    def __init__(self, rust: _rust.ArrowTable) -> None:
        self._rust = rust

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return self._rust.num_rows

    @property
    def schema(self) -> ArrowSchemaExportable:
        """The Arrow schema, as an object with ``__arrow_c_schema__``: ``pyarrow.schema(x.schema)``."""
        return self._rust.schema

    def __len__(self) -> int:
        return self.num_rows

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._rust.__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> Any:  # Any: pyarrow ships no types
        """Returns the rows as a `pyarrow.Table`."""
        return require("pyarrow", "ArrowTable.to_arrow()").table(self._rust)

    def to_pandas(self) -> Any:  # Any: pandas ships no types
        """Returns the rows as a `pandas.DataFrame`."""
        require("pandas", "ArrowTable.to_pandas()")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """Returns the rows as a `polars.DataFrame`."""
        return require("polars", "ArrowTable.to_polars()").DataFrame(self._rust)

    def __repr__(self) -> str:
        rows = "1 row" if self.num_rows == 1 else f"{self.num_rows:,} rows"
        return f"<deltaic.ArrowTable {rows}; to_arrow(), to_pandas() or to_polars() shows them>"
