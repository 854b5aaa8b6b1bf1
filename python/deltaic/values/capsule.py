"""The Arrow PyCapsule protocol as types: data exchange without any Arrow library.

pyarrow, polars, pandas, DuckDB and nanoarrow objects all have one of these methods, so data can be exchanged
without naming or installing any of these libraries.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, Protocol, cast, runtime_checkable

from deltaic.values.read_once import again

__all__ = [
    "ArrowArrayExportable",
    "ArrowSchemaExportable",
    "ArrowStreamExportable",
    "checked_data",
    "schema_remedy",
]


@runtime_checkable
class ArrowSchemaExportable(Protocol):
    """An object that describes an Arrow schema, such as a `pyarrow.Schema` or a `polars.Schema`."""

    def __arrow_c_schema__(self) -> object: ...


@runtime_checkable
class ArrowArrayExportable(Protocol):
    """An object that holds one Arrow struct array, such as a `pyarrow.RecordBatch`."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...


@runtime_checkable
class ArrowStreamExportable(Protocol):
    """An object that yields Arrow record batches, such as a `pyarrow.Table` or a data frame."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class _Dataset:
    """The rows of a `pyarrow.dataset.Dataset`, which has no Arrow stream of its own."""

    __slots__ = ("_dataset",)

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset

    @property
    def schema(self) -> ArrowSchemaExportable:
        return self._dataset.schema

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._dataset.scanner().to_reader().__arrow_c_stream__(requested_schema)


def checked_data(
    data: ArrowStreamExportable | ArrowArrayExportable,
) -> ArrowStreamExportable | ArrowArrayExportable:
    """Validates that rows from a caller are Arrow data; those of a dataset or scanner of pyarrow become it.

    Raises:
        TypeError: It is not Arrow data.

    >>> import pyarrow.dataset
    >>> dataset = pyarrow.dataset.dataset(pyarrow.table({"id": [1, 2]}))
    >>> pyarrow.table(checked_data(dataset)).num_rows
    2
    """
    # Checked for callers without a type checker.
    if type(data).__name__ == "Series" and hasattr(data, "to_frame"):
        raise TypeError(
            "data must have named columns, such as a data frame, not a Series: use data.to_frame()"
        )
    if isinstance(data, (ArrowStreamExportable, ArrowArrayExportable)):  # pyright: ignore[reportUnnecessaryIsInstance]
        return cast("ArrowStreamExportable", again(data))
    given: Any = data
    if hasattr(given, "scanner"):  # a dataset
        return _Dataset(given)
    if hasattr(given, "projected_schema"):  # a scanner
        return given.to_reader()
    raise TypeError(
        "data must have __arrow_c_stream__ or __arrow_c_array__, such as a pyarrow.Table or a "
        f"polars or pandas data frame, not {type(given).__name__}: {_remedy(given)}"
    )


def schema_remedy(data: object) -> str:
    """Returns a hint for data that was passed as a schema, such as a data frame; empty for anything else."""
    if isinstance(getattr(data, "schema", None), ArrowSchemaExportable):
        return ": use data.schema"
    if isinstance(data, ArrowStreamExportable):  # a pandas data frame, whose index may be a column
        return ": use pyarrow.table(data).schema, for a pandas frame after df.reset_index()"
    return ""


def _remedy(data: object) -> str:
    if isinstance(data, (str, os.PathLike)):
        return "read the file first, such as by pyarrow.parquet.read_table(path)"
    if hasattr(data, "toArrow"):  # a Spark data frame
        return "call .toArrow() first"
    if hasattr(data, "collect"):  # a polars lazy frame
        return "call .collect() first"
    if isinstance(data, Mapping):  # a list for each column
        return "use pyarrow.table(data)"
    if isinstance(data, Iterator):
        return "use pyarrow.RecordBatchReader.from_batches(schema, batches)"
    if isinstance(data, list) and all(isinstance(row, Mapping) for row in cast("list[object]", data)):
        return "use pyarrow.Table.from_pylist(rows)"
    if isinstance(data, list) and all(hasattr(batch, "num_rows") for batch in cast("list[object]", data)):
        return "use pyarrow.Table.from_batches(batches)"
    return "use pyarrow.table(…)"
