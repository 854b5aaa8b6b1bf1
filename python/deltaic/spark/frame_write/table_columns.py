"""The columns of the table that is written to, with their expressions."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - as in Spark's own documents
from pyspark.sql.types import DataType, StringType

from deltaic.spark.types import LENGTHS, struct_type

if TYPE_CHECKING:
    from deltaic import _rust

__all__ = ["TableColumn"]

_LENGTH = re.compile(r"(char|varchar)\((\d+)\)", re.IGNORECASE)


@dataclass(frozen=True)
class TableColumn:
    """A column of the table that is written to."""

    name: str
    type: DataType
    is_nullable: bool
    is_identity: bool
    is_partition: bool
    default: str | None
    generated: str | None
    length: tuple[str, int] | None
    """``char`` or ``varchar``, and the declared length."""

    @classmethod
    def all_of(cls, job: _rust.WriteJob) -> dict[str, TableColumn]:
        """Returns the columns by their names in lower case.

        Raises:
            UnsupportedFeature: A column has a type that Spark lacks.
        """
        schema: Mapping[str, Any] = json.loads(job.schema_json)
        types = struct_type(job.schema_json)
        uses_generated, uses_defaults = job.expressions_in_use
        found: dict[str, TableColumn] = {}
        for field, typed in zip(schema["fields"], types.fields, strict=True):
            metadata: Mapping[str, Any] = field["metadata"]
            declared = _LENGTH.fullmatch(str(metadata.get(LENGTHS, "")))
            found[typed.name.lower()] = cls(
                typed.name,
                typed.dataType,
                is_nullable=bool(field["nullable"]),
                is_identity="delta.identity.start" in metadata,
                is_partition=typed.name in job.partition_columns,
                default=metadata.get("CURRENT_DEFAULT") if uses_defaults else None,
                generated=metadata.get("delta.generationExpression") if uses_generated else None,
                length=None if declared is None else (declared[1].lower(), int(declared[2])),
            )
        return found

    def stored(self, values: Column) -> Column:
        """Returns text as the table stores it: padded or cut to its length, and NULL instead of empty text.

        The core refuses text that is too long.
        """
        if not isinstance(self.type, StringType):
            return values
        if self.length is not None:
            kind, length = self.length
            fits = F.length(F.rtrim(values)) <= length
            if kind == "char":
                values = F.when(fits, F.rpad(F.rtrim(values), length, " ")).otherwise(values)
            else:
                is_longer = F.length(values) > length
                values = F.when(is_longer & fits, F.substring(values, 1, length)).otherwise(values)
        # Readers read empty text of a partition as NULL.
        return F.nullif(values, F.lit("")) if self.is_partition else values
