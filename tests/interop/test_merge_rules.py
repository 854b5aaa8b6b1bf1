"""delta-spark merges by the rules of `merge_rules` and `merge_evolution`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

import deltaic
from deltaic.alter import AddConstraint

from .merge_evolution import EVOLUTIONS, Evolution
from .merge_evolution import ROWS as WIDE_ROWS
from .merge_evolution import SCHEMA as WIDE_SCHEMA
from .merge_rules import OLD, ROWS, RULES, SCHEMA, Call, Rule, table_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def with_clause(builder: Any, call: Call, jvm: Any) -> Any:
    """Adds a clause to the builder of delta-spark's Scala API."""
    name, values, condition = call
    kind = name.removeprefix("when_").rsplit("_all", 1)[0].rsplit("_", 1)[0]
    method = {
        "matched": builder.whenMatched,
        "not_matched": builder.whenNotMatched,
        "not_matched_by_source": builder.whenNotMatchedBySource,
    }[kind]
    clause = method() if condition is None else method(condition)
    if name.endswith("_delete"):
        return clause.delete()
    if name.endswith("_all"):
        return clause.updateAll() if kind == "matched" else clause.insertAll()
    texts = jvm.java.util.LinkedHashMap()
    for column, value in (values or {}).items():
        texts.put(column, value)
    return clause.insertExpr(texts) if kind == "not_matched" else clause.updateExpr(texts)


def run(spark: SparkSession, root: Path, rule: Rule | Evolution) -> None:
    """Runs the merge of a rule."""
    rows = rule.table if isinstance(rule, Evolution) else table_of(rule.source).select(rule.columns)
    source = spark.createDataFrame(rows).alias("s")
    table = spark._jvm.io.delta.tables.DeltaTable.forPath(spark._jsparkSession, str(root))
    builder = table.alias("t").merge(source._jdf, rule.on)
    for call in rule.clauses:
        builder = with_clause(builder, call, spark._jvm)
    if isinstance(rule, Evolution):
        builder = builder.withSchemaEvolution()
    builder.execute()


@pytest.mark.parametrize("name", RULES)
def test_rules(spark: SparkSession, tmp_path: Path, name: str) -> None:
    rule, root = RULES[name], tmp_path / "table"
    table = deltaic.Table.create(root, SCHEMA)
    table.append(table_of(ROWS))
    if rule.refused is None:
        run(spark, root, rule)
    else:
        with pytest.raises((PySparkException, Py4JJavaError)) as caught:
            run(spark, root, rule)
        assert rule.refused in str(caught.value)
    snapshot = deltaic.Table(root).snapshot()
    rows = [tuple(row.values()) for row in snapshot.scan(["id", "a"]).to_arrow().to_pylist()]
    assert sorted(rows, key=repr) == sorted(OLD if rule.rows is None else rule.rows, key=repr)
    assert snapshot.version == (1 if rule.rows is None else 2)


@pytest.mark.parametrize("name", EVOLUTIONS)
def test_evolutions(spark: SparkSession, tmp_path: Path, name: str) -> None:
    rule, root = EVOLUTIONS[name], tmp_path / "table"
    properties = dict(rule.properties)
    constraint = properties.pop("delta.constraints.c", None)
    table = deltaic.Table.create(root, WIDE_SCHEMA, properties=properties)
    table.append(pa.Table.from_pylist([{"id": key, **row} for key, row in WIDE_ROWS.items()], WIDE_SCHEMA))
    if constraint:
        table.alter(AddConstraint("c", constraint))
    if rule.refused is not None:
        with pytest.raises((PySparkException, Py4JJavaError)) as caught:
            run(spark, root, rule)
        assert rule.refused in str(caught.value)
        return
    run(spark, root, rule)
    snapshot = deltaic.Table(root).snapshot()
    assert pa.schema(snapshot.schema) == rule.schema
    assert snapshot.scan().to_arrow().sort_by("id").to_pylist() == rule.expected
