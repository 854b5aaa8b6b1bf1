"""Measures the memory of a large merge: `merge_memory.py [--rows 20000000] [--memory 256] [--most 400]`.

As many rows are merged into a table, half of which match. The peak is that of the process (VmHWM), with the
interpreter, in MiB; the program fails if it is too large or the result is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

MIB = 1 << 20
BATCH = 50_000
# A prime, so that ids have an order without runs and each is generated once.
FACTOR = 48_271
SCHEMA = pa.schema([("id", pa.int64()), ("value", pa.float64()), ("text", pa.string())])


def stream(first: int, rows: int, text: str) -> Iterator[pa.RecordBatch]:
    """Yields rows whose ids start at a number."""
    for start in range(0, rows, BATCH):
        ids = first + np.arange(start, min(start + BATCH, rows)) * FACTOR % rows
        texts = pc.binary_join_element_wise(text, pa.array(ids).cast(pa.string()), " ")
        yield pa.record_batch([ids, ids * 0.5, texts], schema=SCHEMA)


def reader(first: int, rows: int, text: str) -> pa.RecordBatchReader:
    return pa.RecordBatchReader.from_batches(SCHEMA, stream(first, rows, text))


def peak() -> int:
    """Returns the peak of the resident memory of this process in MiB."""
    with Path("/proc/self/status").open() as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) >> 10


def merge(root: Path, rows: int, memory: int) -> None:
    """Merges, and prints the peak and the time."""
    import deltaic

    before = peak()
    table = deltaic.Table(root)
    merging = table.merge(reader(rows // 2, rows, "new"), "target.id = source.id")
    start = time.perf_counter()
    commit = merging.when_matched_update_all().when_not_matched_insert_all().execute(memory=memory * MIB)
    seconds = time.perf_counter() - start
    changed = [commit.metrics[f"numTargetRows{kind}"] for kind in ("Updated", "Inserted")]
    print(json.dumps({"before": before, "peak": peak(), "seconds": round(seconds, 1), "changed": changed}))


def verify(root: Path, rows: int) -> None:
    """Verifies that new rows replaced those with their ids."""
    import deltaic

    sums = [0, 0]
    for batch in deltaic.Table(root).snapshot().scan():
        ids = batch["id"].to_numpy()
        is_new = pc.starts_with(batch["text"], "new ").to_numpy(zero_copy_only=False)
        assert (is_new == (ids >= rows // 2)).all()
        sums = [sums[0] + len(ids), sums[1] + int(ids.sum())]
    total = rows + rows // 2
    assert sums == [total, total * (total - 1) // 2]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--memory", type=int, default=256, help="MiB that the merge may use")
    parser.add_argument("--most", type=int, default=400, help="MiB that the process may use")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        merge(given.child, given.rows, given.memory)
        return 0
    import deltaic

    failed = False
    with tempfile.TemporaryDirectory() as folder:
        spill = Path(folder) / "spill"
        spill.mkdir()
        for name, vectors in (("deletion vectors", "true"), ("rewriting", "false")):
            root = Path(folder) / vectors
            properties = {"delta.enableDeletionVectors": vectors}
            table = deltaic.Table.create(root, SCHEMA, properties=properties)
            table.append(reader(0, given.rows, "old"))
            command = [sys.executable, *sys.argv, "--child", str(root)]
            environment = {**os.environ, "TMPDIR": str(spill)}
            ended = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
            found = json.loads(ended.stdout)
            verify(root, given.rows)
            assert found["changed"] == [given.rows // 2] * 2
            assert not list(spill.iterdir())
            measured = f"peak {found['peak']} MiB, {found['seconds']} s"
            print(f"{given.rows:,} rows, {given.memory} MiB, {name}: {measured}")
            failed |= found["peak"] > given.most
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
