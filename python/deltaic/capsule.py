"""The Arrow PyCapsule protocol as types: what goes in and out without any Arrow library.

pyarrow, polars, pandas, DuckDB and nanoarrow objects all have one of these methods, so that none of
them has to be named, or installed, for data to pass.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

__all__ = ["ArrowArrayExportable", "ArrowSchemaExportable", "ArrowStreamExportable"]


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
