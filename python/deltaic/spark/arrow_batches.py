"""Record batches in the schema that Spark expects of a Python data source."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, cast

from deltaic.exceptions import InternalError
from deltaic.values.optional import require

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

__all__ = ["arrow_schema", "fitted"]

Fit = Callable[[Any], Any]  # Any: pyarrow ships no types


def arrow_schema(schema: StructType) -> Any:  # Any: pyarrow ships no types
    """Returns the Arrow schema against which Spark validates the result of a data source."""
    from pyspark.sql.pandas import types

    convert = cast("Any", types).to_arrow_schema
    # In Spark 4.0 the zone is always UTC and is not a parameter.
    if "timezone" in inspect.signature(convert).parameters:
        return convert(schema, timezone="UTC")
    return convert(schema)


def fitted(batches: Iterable[Any], has: Any, wants: Any) -> Iterator[Any]:
    """Converts batches to the schema `wants`, whose columns and fields they all have. No value is copied.

    In Spark's schema everything is nullable, fields have no metadata, and the parts of a variant are in
    reverse order. Columns and fields that are not in `wants` are dropped.

    Args:
        batches: `pyarrow.RecordBatch` of the schema `has`.
        has: A `pyarrow.Schema`.
        wants: A `pyarrow.Schema`.

    Raises:
        InternalError: A type is different, not only represented differently.

    >>> import pyarrow
    >>> has = pyarrow.schema([pyarrow.field("id", pyarrow.int64(), nullable=False), ("x", pyarrow.int8())])
    >>> batch = pyarrow.record_batch([[1], [None]], schema=has)
    >>> next(fitted([batch], has, pyarrow.schema([("id", pyarrow.int64())]))).schema
    id: int64
    """
    pa = require("pyarrow", "The data source 'deltaic'")
    columns = [(has.get_field_index(field.name), _fit(has.field(field.name), field)) for field in wants]
    if not columns:
        nothing = pa.struct([])
        for batch in batches:
            rows = pa.Array.from_buffers(nothing, batch.num_rows, [None])
            yield pa.RecordBatch.from_struct_array(rows)
        return
    for batch in batches:
        arrays = [fit(batch.column(index)) for index, fit in columns]
        yield pa.RecordBatch.from_arrays(arrays, schema=wants)


def _fit(has: Any, wants: Any) -> Fit:
    """Returns a function that converts arrays of one field to another field."""
    pa = require("pyarrow", "The data source 'deltaic'")
    types = pa.types
    if isinstance(has.type, pa.BaseExtensionType):
        inner = _fit(pa.field(has.name, has.type.storage_type, has.nullable), wants)
        return lambda array: inner(array.storage)
    if types.is_struct(has.type) and types.is_struct(wants.type):
        return _fit_struct(has.type, wants.type)
    if types.is_map(has.type) and types.is_map(wants.type):
        return _fit_map(has.type, wants.type)
    if types.is_list(has.type) and types.is_list(wants.type):
        return _fit_list(has.type, wants.type)
    if has.type != wants.type:
        raise InternalError(
            f"column {has.name} comes as {has.type}, and Spark expects {wants.type}",
            context={"field": has.name, "place": "deltaic.spark.arrow_batches"},
        )
    return lambda array: array


def _fit_struct(has: Any, wants: Any) -> Fit:
    pa = require("pyarrow", "The data source 'deltaic'")
    wanted: list[Any] = [wants.field(index) for index in range(wants.num_fields)]
    fields = [(has.get_field_index(field.name), _fit(has.field(field.name), field)) for field in wanted]

    def fit(array: Any) -> Any:
        if not fields:
            return pa.Array.from_buffers(
                wants, len(array), array.buffers()[:1], array.null_count, array.offset
            )
        # A field respects the struct's slice, but not the struct's own nulls, which are set again.
        children = [inner(array.field(index)) for index, inner in fields]
        nulls = array.is_null() if array.null_count else None
        return pa.StructArray.from_arrays(children, fields=wanted, mask=nulls)

    return fit


def _fit_list(has: Any, wants: Any) -> Fit:
    pa = require("pyarrow", "The data source 'deltaic'")
    inner = _fit(has.value_field, wants.value_field)

    def fit(array: Any) -> Any:
        buffers = array.buffers()[:2]
        return pa.Array.from_buffers(
            wants, len(array), buffers, array.null_count, array.offset, [inner(array.values)]
        )

    return fit


def _fit_map(has: Any, wants: Any) -> Fit:
    pa = require("pyarrow", "The data source 'deltaic'")
    keys, items = _fit(has.key_field, wants.key_field), _fit(has.item_field, wants.item_field)
    entry = pa.struct([wants.key_field, wants.item_field])

    def fit(array: Any) -> Any:
        parts = [keys(array.keys), items(array.items)]
        entries = pa.Array.from_buffers(entry, len(parts[0]), [None], 0, children=parts)
        buffers = array.buffers()[:2]
        return pa.Array.from_buffers(wants, len(array), buffers, array.null_count, array.offset, [entries])

    return fit
