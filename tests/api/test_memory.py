"""Writing in bounded memory: the rows of more partitions than may be open wait in a temporary file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import deltaic
from tests.damage.counting import cost_of
from tests.seed import generator

MIB = 1 << 20
PARTITIONS = 2000

ROWS = 50_000
BATCHES = 30
SCHEMA = pa.schema([("p", pa.int32()), ("id", pa.int64()), ("text", pa.binary())])


def stream() -> Iterator[pa.RecordBatch]:
    """Yields batches that each have rows of all partitions, with text that does not compress."""
    chance = generator("memory")
    for first in range(0, BATCHES * ROWS, ROWS):
        ids = pa.array(range(first, first + ROWS), pa.int64())
        partitions = pa.array([i % PARTITIONS for i in range(first, first + ROWS)], pa.int32())
        noise = pa.py_buffer(chance.randbytes(ROWS * 100))
        text = pa.FixedSizeBinaryArray.from_buffers(pa.binary(100), ROWS, [None, noise])
        yield pa.record_batch([partitions, ids, text.cast(pa.binary())], schema=SCHEMA)


def test_memory_does_not_grow_with_the_number_of_partitions(tmp_path: Path) -> None:
    """1.5 million rows of 170 MiB in 2,000 partitions are written in less than half of it."""
    table = deltaic.Table.create(tmp_path, SCHEMA, partition_by=["p"])
    rows_of_stream = pa.RecordBatchReader.from_batches(SCHEMA, stream())
    cost = cost_of(lambda: table.append(rows_of_stream, memory=64 * MIB))
    assert cost.peak < 85 * MIB
    snapshot = table.snapshot()
    assert snapshot.num_files == PARTITIONS
    rows = snapshot.scan(columns=["p", "id"]).to_arrow()
    assert rows.num_rows == BATCHES * ROWS
    assert pc.count_distinct(rows["id"]).as_py() == rows.num_rows
    assert [i % PARTITIONS for i in rows["id"].to_pylist()] == rows["p"].to_pylist()


@pytest.mark.parametrize("memory", [MIB, 64 * MIB, None])
def test_rows_and_their_order_do_not_depend_on_the_memory(tmp_path: Path, memory: int | None) -> None:
    """Each partition has its rows in order, whether they waited or not."""
    table = deltaic.Table.create(
        tmp_path, pa.schema([("id", pa.int64()), ("p", pa.int64())]), partition_by=["p"]
    )
    ids = list(range(20_000))
    rows = pa.table({"id": ids, "p": [i % 300 for i in ids]})
    table.append(pa.RecordBatchReader.from_batches(rows.schema, rows.to_batches(1_000)), memory=memory)
    for p in (0, 1, 150, 299):
        found = table.snapshot().scan(predicate=f"p = {p}").to_arrow()["id"].to_pylist()
        assert found == [i for i in ids if i % 300 == p]
    assert table.snapshot().num_files == 300


def test_a_failure_after_rows_waited_leaves_no_files(tmp_path: Path) -> None:
    table = deltaic.Table.create(
        tmp_path,
        pa.schema([pa.field("id", pa.int64(), nullable=False), ("p", pa.int64())]),
        partition_by=["p"],
    )
    good = pa.table({"id": list(range(5_000)), "p": [i % 300 for i in range(5_000)]})
    bad = pa.table({"id": pa.array([None], pa.int64()), "p": [1]})
    stream = pa.RecordBatchReader.from_batches(good.schema, [*good.to_batches(), *bad.to_batches()])
    with pytest.raises(deltaic.ConstraintViolation):
        table.append(stream, memory=MIB)
    assert not list(tmp_path.rglob("*.parquet"))


@pytest.mark.parametrize(
    ("memory", "error"),
    [
        (0, ValueError),
        (-1, ValueError),
        ("1", ValueError),
        ("much", ValueError),
        (1.5, TypeError),
        (True, TypeError),
    ],
)
def test_invalid_memory_is_refused(tmp_path: Path, memory: object, error: type[Exception]) -> None:
    table = deltaic.Table.create(tmp_path, pa.schema([("id", pa.int64())]))
    with pytest.raises(error, match="memory"):
        table.append(pa.table({"id": [1]}), memory=memory)  # pyright: ignore[reportArgumentType]
