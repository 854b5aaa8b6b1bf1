"""Runs verbs by delta-spark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

import deltaic

from .by_deltaic import data_of
from .values import quoted
from .verbs import Append, Delete, Outcome, Overwrite, Update

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructField, StructType

    from .definitions import Definition

SparkVerb = Append | Overwrite | Delete | Update


def can_create(definition: Definition) -> bool:
    """Whether SQL can declare everything of a table, for delta-spark."""
    return not (definition.generated or definition.invariants or definition.lengths or definition.defaults)


def create(spark: SparkSession, root: Path, definition: Definition) -> None:
    """Creates the table of a definition."""
    from pyspark.sql.pandas.types import from_arrow_schema
    from pyspark.sql.types import StructType

    schema = from_arrow_schema(definition.schema, prefer_timestamp_ntz=True)
    columns: list[str] = []
    for column in schema.fields:
        json_of_column = StructType([column]).json()
        text = spark._jvm.org.apache.spark.sql.types.DataType.fromJson(json_of_column).toDDL()
        columns.append(text + _identity(definition.identities.get(column.name)))
    by = ""
    for clause, names in (("PARTITIONED", definition.partition_by), ("CLUSTER", definition.cluster_by)):
        by += f" {clause} BY ({', '.join(map(quoted, names))})" if names else ""
    properties = ", ".join(f"'{name}' = '{value}'" for name, value in definition.properties.items())
    settings = f" TBLPROPERTIES ({properties})" if properties else ""
    spark.conf.set("spark.databricks.delta.allowArbitraryProperties.enabled", "true")
    spark.sql(f"CREATE TABLE delta.`{root}` ({', '.join(columns)}) USING delta{by}{settings}")
    for name, condition in definition.constraints.items():
        spark.sql(f"ALTER TABLE delta.`{root}` ADD CONSTRAINT {name} CHECK ({condition})")


def _identity(identity: deltaic.Identity | None) -> str:
    if identity is None:
        return ""
    kind = "ALWAYS" if identity.always else "BY DEFAULT"
    return f" GENERATED {kind} AS IDENTITY (START WITH {identity.start} INCREMENT BY {identity.step})"


def run(spark: SparkSession, root: Path, verb: SparkVerb, schema: pa.Schema) -> Outcome:
    """Runs a verb and returns the metrics of its commit."""
    name = f"delta.`{root}`"
    before = deltaic.Table(root).snapshot().version
    match verb:
        case Append():
            frame = _frame(spark, root, data_of(verb, schema))
            if verb.added is not None:
                writer = frame.write.format("delta").mode("append").option("mergeSchema", True)
                writer.save(str(root))
                return newest(root, before)
            frame.createOrReplaceTempView("new_rows")
            columns = ", ".join(map(quoted, verb.columns))
            spark.sql(f"INSERT INTO {name} ({columns}) SELECT {columns} FROM new_rows")  # noqa: S608
        case Overwrite():
            replaces = verb.replaces is not None
            frame = _frame(spark, root, data_of(verb, schema), replaces=replaces)
            writer = frame.write.format("delta").mode("overwrite")
            if verb.is_dynamic:
                writer = writer.option("partitionOverwriteMode", "dynamic")
            if verb.where is not None:
                writer = writer.option("replaceWhere", str(verb.where))
            if verb.replaces is not None:
                writer = writer.option("overwriteSchema", True).partitionBy(*verb.replaces.partition_by)
            writer.save(str(root))
        case Delete():
            spark.sql(f"DELETE FROM {name} {_where(verb)}").collect()  # noqa: S608
        case Update():
            values = ", ".join(f"{quoted(column)} = {value}" for column, value in verb.values.items())
            spark.sql(f"UPDATE {name} SET {values} {_where(verb)}").collect()  # noqa: S608
    return newest(root, before)


def newest(root: Path, before: int) -> Outcome:
    """Returns the outcome of a verb on a table that was at the version `before`."""
    [newest] = deltaic.Table(root).history(limit=1)
    return Outcome(None if newest.version == before else newest.version, dict(newest.metrics or {}))


def read(spark: SparkSession, root: Path) -> pa.Table:
    """Reads the rows of a table."""
    return spark.read.format("delta").load(str(root)).toArrow()


def read_row_ids(spark: SparkSession, root: Path, names: list[str]) -> pa.Table:
    """Reads the rows of a table with the columns `_row_id` and `_row_commit_version`."""
    columns = [quoted(name) for name in names]
    columns += [f"_metadata.{name} AS _{name}" for name in ("row_id", "row_commit_version")]
    return spark.read.format("delta").load(str(root)).selectExpr(*columns).toArrow()


def read_changes(spark: SparkSession, root: Path, version: int) -> pa.Table:
    """Reads the change data feed of a version."""
    reader = spark.read.format("delta").option("readChangeFeed", True)
    return (
        reader.option("startingVersion", version).option("endingVersion", version).load(str(root)).toArrow()
    )


def _where(verb: Delete | Update) -> str:
    return "" if verb.where is None else f"WHERE {verb.where}"


def _frame(spark: SparkSession, root: Path, rows: pa.Table, *, replaces: bool = False) -> DataFrame:
    """Returns rows as a frame with the types of the table, in which everything may be NULL."""
    from pyspark.sql.pandas.types import from_arrow_schema

    schema = spark.read.format("delta").load(str(root)).schema
    by_name = {field.name: field for field in from_arrow_schema(rows.schema, prefer_timestamp_ntz=True)}
    if not replaces:
        by_name |= {field.name: field for field in schema.fields}
    return frame_of(spark, rows, [by_name[name] for name in rows.column_names])


def frame_of(spark: SparkSession, rows: pa.Table, fields: list[StructField]) -> DataFrame:
    """Returns rows as a frame of one partition with the given columns, in which everything may be NULL."""
    # PySpark cannot localize the times of slices of lists.
    copied = rows.take(pa.array(range(rows.num_rows), pa.int64()))
    # Tasks generate identity values separately; one task numbers the rows in their order.
    return spark.createDataFrame(copied, _nullable(fields)).coalesce(1)


def _nullable(fields: list[Any]) -> StructType:
    from pyspark.sql.types import StructType

    def relaxed(value: Any) -> Any:
        if isinstance(value, list):
            return [relaxed(item) for item in value]
        if not isinstance(value, dict):
            return value
        kept = {name: relaxed(inner) for name, inner in value.items() if name != "metadata"}
        nullable = {name: True for name in kept if name in ("nullable", "containsNull", "valueContainsNull")}
        return {**kept, **nullable, **({"metadata": {}} if "nullable" in kept else {})}

    return StructType.fromJson(relaxed(json.loads(StructType(fields).json())))
