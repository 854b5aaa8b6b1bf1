"""The columns of a DataFrame as those of a Delta table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType, UserDefinedType

from deltaic.exceptions import SchemaMismatch
from deltaic.spark.types import user_metadata

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["alias_of", "to_delta"]


def alias_of(frame: DataFrame) -> str | None:
    """Returns the alias of a DataFrame of a classic session, by which conditions name its rows."""
    given: Any = frame
    plan = given._jdf.queryExecution().analyzed()  # noqa: SLF001 - no public way
    return str(plan.alias()) if plan.getClass().getSimpleName() == "SubqueryAlias" else None


def to_delta(schema: StructType) -> str:
    """Returns the columns as JSON of a Delta schema, in which every part may be NULL, as delta-spark does.

    Types that Delta tables lack keep the names of Spark: the core refuses them.

    Raises:
        SchemaMismatch: Two columns, or fields of a struct, have the same name.

    Example:
        >>> from pyspark.sql.types import LongType
        >>> to_delta(StructType([StructField("id", LongType(), nullable=False)]))
        '{"type": "struct", "fields": [{"name": "id", "type": "long", "nullable": true, "metadata": {}}]}'
    """
    return json.dumps(_struct(schema))


def _struct(schema: StructType) -> dict[str, Any]:
    seen: set[str] = set()
    for field in schema.fields:
        if field.name.lower() in seen:
            raise SchemaMismatch(
                f"two columns of the DataFrame are named {field.name!r} (case does not count)",
                context={"field": field.name},
                hint="drop or rename one of them",
            )
        seen.add(field.name.lower())
    return {"type": "struct", "fields": [_field(field) for field in schema.fields]}


def _field(field: StructField) -> dict[str, Any]:
    return {
        "name": field.name,
        "type": _type(field.dataType),
        "nullable": True,
        "metadata": user_metadata(field.metadata),
    }


def _type(kind: DataType) -> Any:
    if isinstance(kind, UserDefinedType):
        return _type(kind.sqlType())
    if isinstance(kind, StructType):
        return _struct(kind)
    if isinstance(kind, ArrayType):
        return {"type": "array", "elementType": _type(kind.elementType), "containsNull": True}
    if isinstance(kind, MapType):
        parts = {"keyType": _type(kind.keyType), "valueType": _type(kind.valueType)}
        return {"type": "map", **parts, "valueContainsNull": True}
    return kind.jsonValue()
