"""A table's schema."""

from __future__ import annotations

from typing import Any

from deltaic import _rust
from deltaic.values.optional import require

__all__ = ["Schema"]


class Schema:
    """The columns of a table or a scan, with their types and nullability.

    `str()` is a tree, one line per column. All consumers of Arrow schemas accept it, through
    ``__arrow_c_schema__``. Two schemas are equal if their columns are, in order.

    >>> import deltaic, pyarrow
    >>> schema = pyarrow.schema([("id", pyarrow.int64()), ("fare", pyarrow.float64())])
    >>> print(deltaic.Table.create("fares", schema).snapshot().schema)
    root
    |-- id: long
    |-- fare: double
    """

    __slots__ = ("_rust",)

    def __init__(self, rust: _rust.Schema) -> None:
        self._rust = rust

    @property
    def names(self) -> list[str]:
        """The names of the top-level columns, in order."""
        return self._rust.names

    def to_json(self) -> str:
        """Returns the schema as in the log (``schemaString``)."""
        return self._rust.to_json()

    def to_arrow(self) -> Any:  # Any: pyarrow ships no types
        """Returns the schema as a `pyarrow.Schema`.

        >>> import deltaic, pyarrow
        >>> schema = pyarrow.schema([("at", pyarrow.timestamp("us", "UTC"))])
        >>> deltaic.Table.create("events", schema).snapshot().schema.to_arrow()
        at: timestamp[us, tz=UTC]
        """
        return require("pyarrow", "Schema.to_arrow()").schema(self._rust)

    def __arrow_c_schema__(self) -> object:
        return self._rust.__arrow_c_schema__()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and self._rust == other._rust

    def __hash__(self) -> int:
        return hash(self._rust)

    def __len__(self) -> int:
        return len(self.names)

    def __str__(self) -> str:
        return str(self._rust).rstrip("\n")

    def __repr__(self) -> str:
        return f"<deltaic.Schema\n{self}>"
