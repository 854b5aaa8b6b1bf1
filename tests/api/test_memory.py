"""Writing in bounded memory: the rows of more partitions than may be open wait in a temporary file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import deltaic

MIB = 1 << 20
PARTITIONS = 2000

# A stream of 1.5 million rows in batches that each have rows of all partitions; text that does not compress.
PROGRAM = """
import json, os, resource, sys
import numpy as np
import pyarrow as pa
import deltaic

partitions, batches, rows = 2000, 30, 50_000
schema = pa.schema([("p", pa.int32()), ("id", pa.int64()), ("text", pa.binary())])

def stream():
    for batch in range(batches):
        ids = np.arange(batch * rows, (batch + 1) * rows)
        noise = pa.py_buffer(os.urandom(rows * 100))
        text = pa.FixedSizeBinaryArray.from_buffers(pa.binary(100), rows, [None, noise])
        columns = [(ids % partitions).astype("int32"), ids, text.cast(pa.binary())]
        yield pa.record_batch(columns, schema=schema)

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

table = deltaic.Table.create(sys.argv[1], schema, partition_by=["p"])
table.append(pa.record_batch([pa.array([0], pa.int32()), [0], [b""]], schema=schema))
table.overwrite(schema.empty_table())
sum(batch.nbytes for batch in stream())
before = peak()
table.append(pa.RecordBatchReader.from_batches(schema, stream()), memory=int(sys.argv[2]))
print(json.dumps(peak() - before))
"""


def test_memory_does_not_grow_with_the_number_of_partitions(tmp_path: Path) -> None:
    """1.5 million rows of 170 MiB in 2,000 partitions are written in less than half of it."""
    program = [sys.executable, "-c", PROGRAM, str(tmp_path / "table"), str(64 * MIB)]
    grown = int(json.loads(subprocess.run(program, check=True, capture_output=True, text=True).stdout))
    assert grown < 85 * MIB
    snapshot = deltaic.Table(tmp_path / "table").snapshot()
    assert snapshot.num_files == PARTITIONS
    rows = snapshot.scan(columns=["p", "id"]).to_arrow()
    assert rows.num_rows == 1_500_000
    assert pc.count_distinct(rows["id"]).as_py() == 1_500_000
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
    ("memory", "error"), [(0, ValueError), (-1, ValueError), ("1", TypeError), (True, TypeError)]
)
def test_invalid_memory_is_refused(tmp_path: Path, memory: object, error: type[Exception]) -> None:
    table = deltaic.Table.create(tmp_path, pa.schema([("id", pa.int64())]))
    with pytest.raises(error, match="memory"):
        table.append(pa.table({"id": [1]}), memory=memory)  # pyright: ignore[reportArgumentType]
