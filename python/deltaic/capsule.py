"""The Arrow PyCapsule protocol as types: what goes in and out without any Arrow library.

pyarrow, polars, pandas, DuckDB and nanoarrow objects all have one of these methods, so that none of
them has to be named, or installed, for data to pass.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

__all__ = ["ArrowArrayExportable", "ArrowSchemaExportable", "ArrowStreamExportable", "proved_data"]


@runtime_checkable
class ArrowSchemaExportable(Protocol):
    """Something that describes an Arrow schema, such as a `pyarrow.Schema` or a `polars.Schema`."""

    def __arrow_c_schema__(self) -> object: ...


@runtime_checkable
class ArrowArrayExportable(Protocol):
    """Something that holds one Arrow struct array, such as a `pyarrow.RecordBatch`."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...


@runtime_checkable
class ArrowStreamExportable(Protocol):
    """Something that yields Arrow record batches, such as a `pyarrow.Table` or a data frame."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


def proved_data(data: ArrowStreamExportable | ArrowArrayExportable) -> object:
    """Rows that a caller hands over.

    Raises:
        TypeError: It is nothing Arrow.
    """
    # The type says so already; a caller without a type checker gets the sentence.
    if not isinstance(data, (ArrowStreamExportable, ArrowArrayExportable)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(
            "data is anything with __arrow_c_stream__ or __arrow_c_array__, such as a pyarrow.Table or a "
            f"polars or pandas data frame, not {type(data).__name__}: plain Python values become one by "
            "pyarrow.table(…)"
        )
    return data
