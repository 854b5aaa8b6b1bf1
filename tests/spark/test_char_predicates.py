"""Spark finds the rows that `tests/api/test_char_columns.py` expects for predicates on `char(n)` columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.char_predicates import ANSWERS, ROWS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def rows(small_queries: SparkSession) -> Iterator[str]:
    spark = small_queries
    spark.sql("CREATE TABLE char_rows (i BIGINT, c CHAR(5), d CHAR(3), s STRING) USING parquet")
    for row in ROWS:
        spark.sql("INSERT INTO char_rows VALUES (:i, :c, :d, :s)", args=row)
    yield "char_rows"
    spark.sql("DROP TABLE char_rows")


def test_answers(small_queries: SparkSession, rows: str) -> None:
    conditions = ", ".join(f"({text}) AS a{number}" for number, text in enumerate(ANSWERS))
    answers = small_queries.sql(f"SELECT i, {conditions} FROM {rows} ORDER BY i").collect()  # noqa: S608 - our own
    for number, (text, expected) in enumerate(ANSWERS.items()):
        assert [row.i for row in answers if row[f"a{number}"]] == expected, text
