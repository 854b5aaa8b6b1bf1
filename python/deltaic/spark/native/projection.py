"""The projection from the columns of files, and the values beside them, to the table's rows.

Values that are not in the files are columns of their own: partition values and row ids by file, deleted rows
by blocks of 4096 rows, joined by broadcast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812 - Spark's own idiom
from pyspark.sql.types import LongType, NullType, StructField, StructType

from deltaic.spark.added_columns import MODIFICATION_TIME, ROW_COMMIT_VERSION, ROW_ID
from deltaic.spark.native.columns import declared_lengths, nests, padded, physical_names, quoted, renamed

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

    from deltaic.spark.native.scan_plan import NativeScanPlan

__all__ = ["OPTIONS", "Projection"]

OPTIONS = {
    "ignoreMissingFiles": "false",
    "ignoreCorruptFiles": "false",
    "datetimeRebaseMode": "CORRECTED",  # for files without the metadata: Delta uses the Gregorian calendar
    "int96RebaseMode": "CORRECTED",
}
"""Options of Spark's Parquet format in place of the session's settings, which would change the rows."""

# The layout of a key in `NativeScanPlan.vectors`.
_BITS_OF_A_BLOCK = 12
_BITS_OF_A_FILE = 28


class Projection:
    """Names of the columns of one scan, and the rows that they make."""

    def __init__(self, spark: SparkSession, scan_plan: NativeScanPlan, *, by_folders: bool = False) -> None:
        self._spark = spark
        self._scan_plan = scan_plan
        self._by_folders = by_folders
        self._schema = scan_plan.schema
        self._physical = physical_names(self._schema, scan_plan.schema_json)
        self._partitions = set(scan_plan.partition_columns)
        self._prefix = _fresh_prefix(self._schema, self._physical)
        self.notes: list[str] = []

    def name(self, what: str) -> str:
        """Returns the name of a column beside those of the files, such as ``file`` for its ordinal."""
        return f"{self._prefix}_{what}"

    def _value_name(self, index: int) -> str:
        """Returns the name of a partition column: its own, unless a column of the files has it."""
        name = self._schema.fields[index].name
        pairs = zip(self._schema.names, self._physical.names, strict=True)
        taken = {inside.lower() for outside, inside in pairs if outside not in self._partitions}
        taken.update(each.lower() for each in self._scan_plan.row_columns or ())
        return self.name(f"value{index}") if name.lower() in taken else name

    def stored(self) -> StructType:
        """Returns the columns that Spark reads from the files, by their names there."""
        pairs = zip(self._schema.fields, self._physical.fields, strict=True)
        stored = [
            inside
            for outside, inside in pairs
            if not isinstance(inside.dataType, NullType)
            and (self._by_folders or outside.name not in self._partitions)
        ]
        rows = [StructField(name, LongType()) for name in self._scan_plan.row_columns or ()]
        return StructType(stored + rows)

    def file_values(self) -> tuple[list[StructField], list[Any]]:
        """Returns the columns of each file that rows need, except its ordinal, and their values by file."""
        scan_plan = self._scan_plan
        fields: list[StructField] = []
        arrays: list[Any] = []
        wanted = {"time": scan_plan.modification_time, "base": scan_plan.row_columns is not None}
        wanted["version"] = wanted["base"]
        for index, what in enumerate(("time", "base", "version"), 1):
            if wanted[what]:
                fields.append(StructField(self.name(what), LongType()))
                arrays.append(scan_plan.files.column(index))
        if self._partitions and not self._by_folders:
            values = scan_plan.files.column("partition_values").combine_chunks()
            for index, column in enumerate(self._schema.fields):
                if column.name in self._partitions:
                    arrays.append(values.flatten()[values.type.get_field_index(column.name)])
                    fields.append(StructField(self._value_name(index), column.dataType))
        return fields, arrays

    def rows(self, frame: DataFrame) -> DataFrame:
        """Builds the result: removes deleted rows, projects the table's columns, appends requested ones.

        Args:
            frame: The files' columns, those of `file_values`, and ``file`` and ``row`` if rows are deleted.
        """
        scan_plan = self._scan_plan
        if scan_plan.vectors.num_rows:
            frame = self._without_deleted(frame)
        whole = _loses_structs(self._spark)
        pairs = zip(self._schema.fields, self._physical.fields, strict=True)
        columns = [
            self._column(index, outside, inside, whole_structs=whole)
            for index, (outside, inside) in enumerate(pairs)
        ]
        if scan_plan.row_columns:
            columns += self._row_identity(scan_plan.row_columns)
        if scan_plan.modification_time:
            columns.append(F.timestamp_millis(F.col(self.name("time"))).alias(MODIFICATION_TIME))
        return frame.select(*columns)

    def _without_deleted(self, frame: DataFrame) -> DataFrame:
        """Removes the rows that a deletion vector deletes."""
        block, words = self.name("block"), self.name("words")
        table = self._scan_plan.vectors.rename_columns([block, words])
        self.notes.append(f"deleted rows are left out by {table.num_rows:,} blocks of 4096 rows, broadcast")
        right = cast("Any", self._spark).createDataFrame(table)
        row = F.col(self.name("row"))
        key = F.shiftleft(F.col(self.name("file")), _BITS_OF_A_FILE) + F.shiftright(row, _BITS_OF_A_BLOCK)
        joined = frame.join(F.broadcast(right), on=key == F.col(block), how="left")
        word = F.col(words)[F.shiftright(row, 6).bitwiseAND(F.lit(63)).cast("int")]
        bit = F.getbit(word, row.bitwiseAND(F.lit(63)).cast("int"))
        return joined.where(F.col(words).isNull() | (bit == 0))

    def _column(
        self, index: int, outside: StructField, inside: StructField, *, whole_structs: bool
    ) -> Column:
        if isinstance(outside.dataType, NullType):
            column = F.lit(None)
        elif outside.name in self._partitions and not self._by_folders:
            column = F.col(quoted(self._value_name(index)))
        else:
            column = F.col(quoted(inside.name))
            if whole_structs and nests(outside.dataType, StructType):
                # Blocks Spark's pruning of nested fields, so it reads the column with all of its fields.
                column = F.element_at(F.array(column), 1)
            column = renamed(column, inside.dataType, outside.dataType)
        lengths = declared_lengths(outside)
        if lengths is not None:
            column = padded(column, lengths)
        return column.alias(outside.name, metadata=outside.metadata)

    def _row_identity(self, row_columns: list[str]) -> list[Column]:
        """Returns a row's id and commit version: the materialized values, else those derived from the log."""
        copied_id, copied_version = (F.col(quoted(name)) for name in row_columns)
        fresh = F.col(self.name("base")) + F.col(self.name("row"))
        return [
            F.coalesce(copied_id, fresh).alias(ROW_ID),
            F.coalesce(copied_version, F.col(self.name("version"))).alias(ROW_COMMIT_VERSION),
        ]


def _loses_structs(spark: SparkSession) -> bool:
    """Whether this Spark reads a struct as NULL if a file lacks all of its requested fields.

    Spark 4.0 does, later ones with a setting: this would lose rows after a field was added.
    """
    try:
        legacy = spark.conf.get("spark.sql.legacy.parquet.returnNullStructIfAllFieldsMissing")
    except PySparkException:  # a Spark without that setting
        return True
    return legacy == "true"


def _fresh_prefix(logical: StructType, physical: StructType) -> str:
    """Returns a prefix that no column's name has."""
    prefix = "__deltaic"
    taken = [name.lower() for name in (*logical.names, *physical.names)]
    while any(name.startswith(prefix) for name in taken):
        prefix += "_"
    return prefix
