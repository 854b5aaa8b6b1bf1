"""Aggregates of a whole table by the log: the number of rows, and least and greatest values of columns.

Protocol: Per-file Statistics.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from deltaic.spark.native.columns import physical_names
from deltaic.spark.types import struct_type
from deltaic.values.optional import require

if TYPE_CHECKING:
    from deltaic.reading.snapshot import Snapshot

__all__ = ["aggregates"]

# Statistics with more digits may have been rounded by a writer that has them as floating-point numbers.
_EXACT_DIGITS = 15


def aggregates(snapshot: Snapshot, question: str) -> str | None:
    """Returns the values as texts, joined by commas; None if the log does not have all of them.

    NULL is an empty text, a date its days since 1970, a decimal its unscaled number.

    Args:
        snapshot: A snapshot without deletion vectors, unless only the number of rows is asked.
        question: ``{"aggregates": [{"of": "rows"}, {"of": "min", "column": "id"}]}``, with columns by their
            names in data files.
    """
    asked: list[dict[str, str]] = json.loads(question)["aggregates"]
    values: list[str] = []
    of_files: Any = None
    for each in asked:
        if each["of"] == "rows":
            if snapshot.num_rows is None:
                return None
            values.append(str(snapshot.num_rows))
            continue
        if of_files is None:
            of_files = snapshot.files(stats=True).to_arrow()
        found = _extreme(snapshot, of_files, each["of"], each["column"])
        if found is None:
            return None
        values.append(found)
    return ",".join(values)


def _extreme(snapshot: Snapshot, files: Any, of: str, column: str) -> str | None:
    pa = require("pyarrow", "deltaic.spark.read")
    pc: Any = require("pyarrow.compute", "deltaic.spark.read")
    name = _logical(snapshot, column)
    rows = files.column("num_records")
    if name is None or rows.null_count:
        return None
    files = files.filter(pc.greater(rows, 0))
    if name in snapshot.partition_columns:
        values = _field(files, "partition_values", name)
    else:
        tight = pc.fill_null(files.column("tight_bounds"), fill_value=True)
        if not pc.all(tight, min_count=0).as_py():
            return None
        values, nulls = _field(files, of, name), _field(files, "null_count", name)
        if values is None or nulls is None:
            return None
        # A file with values needs a bound, and so does one that does not say whether it has any.
        has_values = pc.fill_null(pc.not_equal(nulls, files.column("num_records")), fill_value=True)
        if pc.any(pc.and_(pc.is_null(values), has_values), min_count=0).as_py():
            return None
    if pa.types.is_decimal(values.type) and values.type.precision > _EXACT_DIGITS:
        return None
    found = pc.min_max(values)[of]
    if pa.types.is_date(values.type):
        found = found.cast(pa.int32())
    value = found.as_py()
    if value is None:
        return ""
    return str(int(value.scaleb(values.type.scale)) if isinstance(value, Decimal) else value)


def _field(files: Any, name: str, column: str) -> Any:
    pc: Any = require("pyarrow.compute", "deltaic.spark.read")
    struct = files.schema.field(name).type
    return None if struct.get_field_index(column) < 0 else pc.struct_field(files.column(name), [column])


def _logical(snapshot: Snapshot, column: str) -> str | None:
    """Returns the table's column that has a name in data files, or as a partition column."""
    schema_json = snapshot.schema.to_json()
    schema = struct_type(schema_json)
    partitions = snapshot.partition_columns
    pairs = zip(schema.names, physical_names(schema, schema_json).names, strict=True)
    in_files = {inside: outside for outside, inside in pairs if outside not in partitions}
    return in_files.get(column, column if column in partitions else None)
