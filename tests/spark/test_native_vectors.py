"""The native scan of tables with deletion vectors: deleted rows are never returned."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import deltaic
import deltaic.spark as ds
from tests.golden.rows import difference
from tests.protocol.handmade_log import ONE_LONG, HandmadeTable, field, ids, metadata, schema
from tests.protocol.handmade_vectors import FEATURE, VectorFile, without

from .conftest import Settings
from .vector_tables import with_vector

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROWS = 20_000
# A block has 4096 rows, a word in it 64.
DELETED: dict[str, Iterable[int]] = {
    "the first row": [0],
    "the last row": [ROWS - 1],
    "the ends of words and blocks": [63, 64, 127, 4095, 4096, 8191, 8192, 16_383, 16_384],
    "one of a hundred": range(7, ROWS, 100),
    "every second row": range(0, ROWS, 2),
    "all but one": [row for row in range(ROWS) if row != 4_096],
    "every row": range(ROWS),
}


@pytest.mark.parametrize("name", DELETED)
def test_deleted_rows_are_left_out(
    spark: SparkSession, tmp_path: Path, settings: Settings, name: str
) -> None:
    """protocol: reader-requirements-for-deletion-vectors.1."""
    deleted = set(DELETED[name])
    made = with_vector(tmp_path / "t", ROWS, deleted)
    frame = ds.read(spark).load(made.root)
    assert "native" in ds.explain(frame)
    expected = [row for row in range(ROWS) if row not in deleted]
    # One task reads the whole file, or several tasks read parts of it.
    for bytes_of_a_task in ("128m", "4k"):
        with settings({"spark.sql.files.maxPartitionBytes": bytes_of_a_task}):
            assert sorted(row.id for row in frame.collect()) == expected
            assert frame.count() == len(expected)
    beyond = frame.where("id >= 4095").where("id <= 12000")
    assert beyond.count() == len([row for row in expected if 4_095 <= row <= 12_000])


def test_each_file_has_its_own_vector(spark: SparkSession, tmp_path: Path, settings: Settings) -> None:
    made = HandmadeTable(tmp_path / "t")
    made.commit(FEATURE, metadata(schema(field("id"), field("p", "string")), ["p"]))
    vectors = VectorFile(made.root)
    actions = []
    for number in range(30):
        rows = ids(*range(number * 100, number * 100 + 100))
        deleted = vectors.delete(*range(number % 10, 100, 10)) if number % 3 else {}
        # No folder name contains the value, so that two joins use the file's ordinal.
        actions.append(made.data(f"{number}.parquet", rows, values={"p": f"ü {number % 4}"}, **deleted))
    vectors.write()
    made.commit(*actions)
    expected = deltaic.Table(made.root).snapshot().scan().to_arrow()
    with settings({"spark.sql.files.openCostInBytes": "1"}):
        assert difference(ds.read(spark).load(made.root).toArrow(), expected) is None
    frame = ds.read(spark).load(made.root)
    by_value = {row.p: row["count(1)"] for row in frame.groupBy("p").agg({"*": "count"}).collect()}
    assert sum(by_value.values()) == expected.num_rows == 2_800


def test_a_vector_and_a_filter_that_spark_pushes(spark: SparkSession, tmp_path: Path) -> None:
    made = with_vector(tmp_path / "t", ROWS, range(0, ROWS, 3))
    frame = ds.read(spark).load(made.root)
    assert [row.id for row in frame.where("id in (8998, 8999, 9000, 9001)").orderBy("id").collect()] == [
        8_998,
        8_999,
        9_001,
    ]
    assert frame.where("id = 9000").count() == 0
    assert frame.select("_metadata.row_index").where("row_index < 5").count() == 3


def test_a_damaged_vector_is_reported_at_load(spark: SparkSession, tmp_path: Path) -> None:
    made = HandmadeTable(tmp_path / "t")
    made.commit(FEATURE, metadata(ONE_LONG))
    vectors = VectorFile(made.root)
    made.commit(made.data("a.parquet", ids(1, 2, 3), **vectors.delete(1)))
    with pytest.raises(deltaic.CorruptData, match="vectors is missing"):
        ds.read(spark).load(made.root)
    vectors.write(vectors.body[:-1] + b"x")
    with pytest.raises(deltaic.CorruptData):
        ds.read(spark).load(made.root)


def test_a_column_named_as_what_is_joined(spark: SparkSession, tmp_path: Path) -> None:
    made = HandmadeTable(tmp_path / "t")
    names = ["__deltaic_file", "__deltaic_row", "_metadata", "words"]
    made.commit(FEATURE, metadata(schema(*(field(name) for name in names))))
    rows = pa.table({name: [1, 2, 3] for name in names})
    made.commit(made.data("a.parquet", rows, **without(1)))
    frame = ds.read(spark).load(made.root)
    assert frame.columns == names
    assert [tuple(row) for row in frame.collect()] == [(1, 1, 1, 1), (3, 3, 3, 3)]
