"""Tables of delta-spark with writer features: deltaic and delta-spark write in turn and read the same."""

from __future__ import annotations

import json
import shutil
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import deltaic
from tests.golden.opening import needs_golden
from tests.golden.reference import reference
from tests.golden.rows import difference

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FRESH = "delta-spark-fresh"
TABLES = {
    f"{FRESH}/clustering": "a",
    f"{FRESH}/clustering_none": "alpha",
    f"{FRESH}/iceberg_compat_v1": "id",
    f"{FRESH}/iceberg_compat_v2": "id",
    f"{FRESH}/iceberg_compat_v3": "id",
    f"{FRESH}/materialized_partition_columns": "id",
    f"{FRESH}/partition_columns_then_materialized": "id",
    f"{FRESH}/variant_plain": "id",
    f"{FRESH}/variant_shredded": "id",
    f"{FRESH}/variant_shredded_preview": "id",
    f"{FRESH}/variant_shredded_stats": "id",
    f"{FRESH}/void_column": None,
    "delta-golden/collations-table": None,
}
"""Tables, with a column by which rows can be changed."""


READ_BY_SPARK = ["delta-golden/collations-table"]
"""Tables that delta-spark does not write to."""


def ours(root: Path) -> pa.Table:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", deltaic.DeltaicWarning)
        return deltaic.Table(root).snapshot().scan(variant="json").to_arrow()


def theirs(spark: SparkSession, root: Path) -> pa.Table:
    """Returns the rows as delta-spark reads them; variants as JSON, at the top and nested."""
    schema = json.loads(deltaic.Table(root).snapshot().schema.to_json())
    frame = spark.read.format("delta").load(str(root))
    return frame.selectExpr(*(_column(field) for field in schema["fields"])).toArrow()


def _column(field: dict[str, Any]) -> str:
    name = f"`{field['name']}`"
    return f"{_as_json(name, field['type'])} AS {name}"


def _as_json(sql: str, kind: Any) -> str:
    """Returns SQL for a value with its variants as text."""
    if kind == "variant":
        return f"to_json({sql})"
    if not isinstance(kind, dict) or '"variant"' not in json.dumps(kind):
        return sql
    if kind["type"] == "struct":
        parts = [(field["name"], field["type"]) for field in kind["fields"]]
        fields = ", ".join(f"'{name}', {_as_json(f'{sql}.{name}', part)}" for name, part in parts)
        return f"CASE WHEN {sql} IS NOT NULL THEN named_struct({fields}) END"
    if kind["type"] == "array":
        return f"transform({sql}, x -> {_as_json('x', kind['elementType'])})"
    return f"transform_values({sql}, (k, x) -> {_as_json('x', kind['valueType'])})"


@needs_golden
@pytest.mark.parametrize("name", TABLES)
def test_both_write_in_turn(spark: SparkSession, name: str, tmp_path: Path) -> None:
    """protocol: beyond:variant.2, beyond:materialized-partitions.1, beyond:iceberg-compat-v3.1."""
    root = tmp_path / "t"
    shutil.copytree(
        reference(name).folder, root, copy_function=shutil.copyfile, ignore=shutil.ignore_patterns(".*")
    )
    table = deltaic.Table(root)

    def compared(step: str) -> None:
        spark.catalog.clearCache()
        found = difference(ours(root), theirs(spark, root))
        assert found is None, f"{step}: {found}"

    compared("as it was")
    rows = table.snapshot().scan().to_arrow()
    table.append(rows)
    compared("append by deltaic")
    assert ours(root).num_rows == 2 * rows.num_rows
    if name in READ_BY_SPARK:
        return
    source = f"SELECT * FROM delta.`{root}`"  # noqa: S608
    spark.sql(f"INSERT INTO delta.`{root}` {source} LIMIT 2").collect()
    compared("append by delta-spark")
    column = TABLES[name]
    if column is None:
        return
    some = next(value for value in rows[column].to_pylist() if value is not None)
    table.update({column: f"{column} + 1"}, f"{column} = {some}")
    compared("update by deltaic")
    spark.sql(f"UPDATE delta.`{root}` SET {column} = {column} + 1 WHERE {column} = {some + 1}").collect()  # noqa: S608
    compared("update by delta-spark")
    table.delete(f"{column} = {some + 2}")
    compared("delete by deltaic")
    table.overwrite(rows, where="TRUE")
    compared("overwrite by deltaic")
    spark.sql(f"DELETE FROM delta.`{root}` WHERE {column} = {some}").collect()  # noqa: S608
    compared("delete by delta-spark")
    assert ours(root).num_rows < rows.num_rows
