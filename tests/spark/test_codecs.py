"""Which compression codecs plain Spark reads; setting any other one warns."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import deltaic

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = pa.table({"id": range(1000)})


def written(root: Path, codec: str) -> str:
    """Returns the data file of a table with this codec."""
    properties = {"delta.parquet.compression.codec": codec}
    table = deltaic.Table.create(root, ROWS.schema, properties=properties)
    table.append(ROWS)
    [path] = table.snapshot().files().to_arrow()["path"].to_pylist()
    return str(root / path)


@pytest.mark.parametrize("codec", ["uncompressed", "snappy", "gzip", "lz4", "lz4_raw", "zstd"])
def test_spark_reads_a_codec_without_a_warning(spark: SparkSession, tmp_path: Path, codec: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", deltaic.DeltaicWarning)
        path = written(tmp_path / "t", codec)
    assert spark.read.parquet(path).toArrow().sort_by("id") == ROWS


def test_spark_does_not_read_brotli(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.warns(deltaic.DeltaicWarning, match="Spark cannot read such files"):
        path = written(tmp_path / "t", "brotli")
    with pytest.raises(Exception, match="BrotliCodec"):
        spark.read.parquet(path).collect()
