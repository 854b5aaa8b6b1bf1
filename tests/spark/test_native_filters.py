"""Generated filters on reference tables that Spark could misread: all matching rows, and no others."""

from __future__ import annotations

import json
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import deltaic
import deltaic.spark as ds
from tests.golden.generated_predicates import Generator
from tests.golden.naive_predicate import TRUE, columns_of
from tests.golden.reference import GOLDEN, reference
from tests.golden.rows import difference

from .reference_rows import READ, arrow_of, beyond_spark, without_stale_checksums

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("small_queries")

PREDICATES = 10
NUMBER = "number of the predicate"
FEATURES = {"typeWidening", "typeWidening-preview", "deletionVectors", "columnMapping"}


def is_special(name: str) -> bool:
    """Whether rows, column names or column types of the files may differ from the table."""
    snapshot = deltaic.Table(reference(name).folder).snapshot()
    features = set(snapshot.protocol.reader_features)
    mapped = snapshot.properties.get("delta.columnMapping.mode", "none") != "none"
    return (mapped or bool(features & FEATURES)) and beyond_spark(snapshot) is None


SPECIAL = [name for name in READ if GOLDEN.is_dir() and is_special(name)]


@pytest.mark.filterwarnings("ignore::deltaic.DeltaicWarning")
@pytest.mark.skipif(not GOLDEN.is_dir(), reason="missing: ../shared/golden beside the project")
@pytest.mark.parametrize("name", SPECIAL)
def test_filters(spark: SparkSession, tmp_path: Path, name: str) -> None:
    from pyspark.sql import DataFrame
    from pyspark.sql.functions import lit

    copy = without_stale_checksums(reference(name).folder, tmp_path)
    snapshot = deltaic.Table(copy).snapshot()
    rows = snapshot.scan().to_arrow()
    frame = ds.read(spark).load(copy)
    if not rows.num_rows:
        assert frame.count() == 0
        return
    columns = columns_of(rows, json.loads(snapshot.schema.to_json()))
    predicates = list(Generator(columns, name).predicates(PREDICATES))
    # All of them in one query, in which each has a scan of its own.
    filtered = [
        (
            frame.where(predicate.sql) if index % 2 else ds.read(spark).where(predicate.sql).load(copy)
        ).withColumn(NUMBER, lit(index))
        for index, predicate in enumerate(predicates)
    ]
    answers = arrow_of(reduce(DataFrame.unionAll, filtered))
    for index, predicate in enumerate(predicates):
        expected = rows.filter(pa.array(predicate.answers == TRUE))
        answer = answers.filter(pc.equal(answers[NUMBER], index)).drop_columns([NUMBER])
        found = difference(answer, expected)
        assert found is None, f"{predicate.sql}: {found}"


@pytest.mark.skipif(not GOLDEN.is_dir(), reason="missing: ../shared/golden beside the project")
def test_there_are_such_tables() -> None:
    assert len(SPECIAL) >= 30
