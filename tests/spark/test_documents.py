"""The documents' examples with Spark run as they stand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import deltaic
from tests.repository.example_tables import make_stock
from tests.repository.markdown import run_python

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_the_page_on_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: SparkSession) -> None:
    monkeypatch.chdir(tmp_path)
    data = pa.table({"id": [1, 2, 3], "city": ["Oslo", "Rome", None], "fare": [9.5, 12.0, None]})
    deltaic.Table.create("rides", data.schema, partition_by=["city"]).append(data)
    run_python("docs/guides/spark.md", spark=spark)
    assert deltaic.Table("rides").snapshot().num_rows == len(data) + 1


def test_the_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: SparkSession) -> None:
    monkeypatch.chdir(tmp_path)
    run_python("README.md", spark=spark)


def test_the_page_on_streaming(tmp_path: Path, spark: SparkSession) -> None:
    data = pa.table({"id": [1, 2, 3], "fare": [9.5, 12.0, None]})
    deltaic.Table.create(tmp_path / "rides", data.schema).append(data)
    make_stock(tmp_path)
    run_python("docs/guides/streaming.md", spark=spark, folder=tmp_path)
    assert deltaic.Table(tmp_path / "rides").snapshot().num_rows == len(data) + 1
