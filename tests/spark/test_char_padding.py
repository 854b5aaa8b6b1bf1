"""Values of char(n) are padded when Spark reads them, also if the file's writer did not pad them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic

from .ways import WAYS, loader

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def table(root: Path) -> deltaic.Table:
    """Returns a table with two rows in a file whose writer did not pad them."""
    table = deltaic.Table.create(
        root,
        [
            deltaic.Column("id", "bigint"),
            deltaic.Column("c", "char(4)"),
            deltaic.Column("v", "varchar(4)"),
            deltaic.Column("s", "struct<c:char(3),l:array<char(2)>,m:map<string,varchar(9)>>"),
            deltaic.Column("p", "char(2)"),
        ],
        partition_by=["p"],
    )
    rows = pa.table(
        {
            "id": [1, 2],
            "c": ["ab", None],
            "v": ["ab", "x"],
            "s": [{"c": "q", "l": ["y", None], "m": None}, None],
        }
    )
    kind = pa.struct({"c": pa.string(), "l": pa.list_(pa.string()), "m": pa.map_(pa.string(), pa.string())})
    rows = rows.set_column(3, "s", rows["s"].cast(kind))
    path = root / "unpadded.parquet"
    pq.write_table(rows, path)
    file = {"path": path.name, "size": path.stat().st_size, "modification_time": 0}
    with table.transaction() as tx:
        tx.add([{**file, "partition_values": {"p": "x"}}])
    return table


@pytest.mark.parametrize("way", WAYS)
def test_values_are_padded(spark: SparkSession, tmp_path: Path, way: str) -> None:
    table(tmp_path / "t")
    frame = loader(spark, way)(tmp_path / "t")
    rows = [row.asDict(recursive=True) for row in frame.orderBy("id").collect()]
    assert rows == [
        {"id": 1, "c": "ab  ", "v": "ab", "s": {"c": "q  ", "l": ["y ", None], "m": None}, "p": "x "},
        {"id": 2, "c": None, "v": "x", "s": None, "p": "x "},
    ]
    assert frame.where("c = 'ab'").count() == frame.where("c = 'ab  '").count() == 1
    assert frame.where("p = 'x'").count() == frame.where("p = 'x ' AND length(p) = 2").count() == 2
    assert frame.selectExpr("max(length(c))").first()[0] == 4
