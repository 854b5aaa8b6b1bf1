"""Measures the memory of large merges.

`merge_memory.py [--rows 20000000] [--memory 256] [--most 400] [--only NAME]`

As many rows of ten columns are merged into a table from a Parquet file; half of them match. The peak is that
of the process (VmHWM), with the interpreter and the reader of the file, in MiB. The program fails if it is
too large, if the result is wrong, or if anything remains in the folder of temporary files after success,
after a failure, or after `kill -9`.
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
import pyarrow.parquet as pq

MIB = 1 << 20
BATCH = 50_000
# A prime, so that ids have an order without runs and each is generated once.
FACTOR = 48_271
SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("customer", pa.string()),
        ("note", pa.string()),
        ("region", pa.string()),
        ("amount", pa.float64()),
        ("price", pa.float64()),
        ("quantity", pa.int32()),
        ("at", pa.timestamp("us", "UTC")),
        ("day", pa.date32()),
        ("flag", pa.bool_()),
    ]
)
REGIONS = pa.array(["north", "south", "east", "west", "centre"])
BY_ID = "target.id = source.id"
# Without equality every row of the source is compared with every row of the table.
BY_RANGE = "target.id >= source.id and target.id <= source.id"
KILLS = 5


def stream(first: int, rows: int, text: str) -> Iterator[pa.RecordBatch]:
    """Yields rows whose ids start at a number."""
    for start in range(0, rows, BATCH):
        ids = first + np.arange(start, min(start + BATCH, rows)) * FACTOR % rows
        names = pa.array(ids).cast(pa.string())
        columns = [
            ids,
            pc.binary_join_element_wise("customer", pa.array(ids % 5000).cast(pa.string()), "-"),
            pc.binary_join_element_wise(text, names, " "),
            REGIONS.take(pa.array(ids % 5)),
            ids * 0.5,
            np.round(ids * 0.01, 2),
            (ids % 1000).astype("int32"),
            pa.array(ids * 1_000_000, pa.timestamp("us", "UTC")),
            pa.array((ids // 80_000 + 19_000).astype("int32"), pa.date32()),
            pa.array(ids % 2 == 0),
        ]
        yield pa.record_batch(columns, schema=SCHEMA)


def peak() -> int:
    """Returns the peak of the resident memory of this process in MiB."""
    with Path("/proc/self/status").open() as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) >> 10


def merge(root: Path, source: Path, on: str, memory: int) -> None:
    """Merges, and prints the peak and the time."""
    import deltaic

    before = peak()
    file = pq.ParquetFile(source, pre_buffer=False)
    rows = pa.RecordBatchReader.from_batches(SCHEMA, file.iter_batches(BATCH))
    merging = deltaic.Table(root).merge(rows, on)
    start = time.perf_counter()
    commit = merging.when_matched_update_all().when_not_matched_insert_all().execute(memory=memory * MIB)
    seconds = time.perf_counter() - start
    changed = [commit.metrics[f"numTargetRows{kind}"] for kind in ("Updated", "Inserted")]
    print(json.dumps({"before": before, "peak": peak(), "seconds": round(seconds, 1), "changed": changed}))


def verify(root: Path, first_new: int, total: int) -> None:
    """Verifies that new rows replaced those with their ids."""
    import deltaic

    sums = [0, 0]
    for batch in deltaic.Table(root).snapshot().scan(["id", "note"]):
        ids = batch["id"].to_numpy()
        is_new = pc.starts_with(batch["note"], "new ").to_numpy(zero_copy_only=False)
        assert (is_new == (ids >= first_new)).all()
        sums = [sums[0] + len(ids), sums[1] + int(ids.sum())]
    assert sums == [total, total * (total - 1) // 2]


class Place:
    """A folder with a table, a source, and a folder for temporary files."""

    def __init__(self, folder: Path, memory: int) -> None:
        self.folder = folder
        self.memory = memory
        self.spill = folder / "spill"
        self.spill.mkdir()

    def table(self, name: str, rows: int, vectors: str) -> Path:
        import deltaic

        root = self.folder / name
        table = deltaic.Table.create(root, SCHEMA, properties={"delta.enableDeletionVectors": vectors})
        table.append(pa.RecordBatchReader.from_batches(SCHEMA, stream(0, rows, "old")))
        return root

    def source(self, name: str, first: int, rows: int, *, repeats: bool = False) -> Path:
        """Writes a Parquet file, whose first row is repeated at its end."""
        path = self.folder / f"{name}.parquet"
        with pq.ParquetWriter(path, SCHEMA) as writer:
            batches = stream(first, rows, "new")
            begin = next(batches)
            writer.write_batch(begin)
            for batch in batches:
                writer.write_batch(batch)
            if repeats:
                writer.write_batch(begin.slice(BATCH // 2, 1))
        return path

    def start(self, root: Path, source: Path, on: str = BY_ID) -> subprocess.Popen[str]:
        command = [sys.executable, __file__, "--memory", str(self.memory), "--child", root, source, on]
        return subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": str(self.spill)},
        )

    def ensure_empty(self) -> None:
        assert not list(self.spill.iterdir()), list(self.spill.iterdir())


def measure(place: Place, name: str, rows: int, most: int) -> bool:
    """Merges once; returns whether it took too much memory."""
    if name == "no key":
        compared = rows // 20
        source, few = rows // 2000, rows // 2000
        root = place.table(name, compared, "false")
        child = place.start(root, place.source(name, compared - few // 2, source), BY_RANGE)
        first_new, total, wanted = compared - few // 2, compared + few - few // 2, [few // 2, few - few // 2]
    else:
        root = place.table(name, rows, "true" if name == "vectors" else "false")
        child = place.start(root, place.source(name, rows // 2, rows))
        first_new, total, wanted = rows // 2, rows + rows // 2, [rows // 2] * 2
    output, errors = child.communicate()
    assert child.returncode == 0, errors
    found = json.loads(output)
    verify(root, first_new, total)
    assert found["changed"] == wanted, found
    place.ensure_empty()
    print(
        f"{rows:,} rows, {place.memory} MiB, {name}: peak {found['peak']} MiB, {found['seconds']} s",
        flush=True,
    )
    return found["peak"] > most


def fail(place: Place, rows: int) -> None:
    """A key that occurs twice fails the merge."""
    root = place.table("failure", rows, "false")
    before = sorted(root.rglob("*"))
    child = place.start(root, place.source("failure", 0, rows, repeats=True))
    errors = child.communicate()[1]
    assert child.returncode, "a row matches two rows"
    assert "several rows of the source match one row of the table" in errors, errors
    assert sorted(root.rglob("*")) == before
    place.ensure_empty()
    print(f"{rows:,} rows, a failure: nothing remains", flush=True)


def kill(place: Place, rows: int) -> None:
    """Kills merges at several times; a last one succeeds."""
    root, source = place.table("killed", rows, "false"), place.source("killed", rows // 2, rows)
    start = time.perf_counter()
    child = place.start(root, source)
    child.communicate()
    seconds = time.perf_counter() - start
    for number in range(KILLS):
        child = place.start(root, source)
        time.sleep(seconds * (number + 0.5) / KILLS)
        child.kill()
        child.communicate()
        place.ensure_empty()
        verify(root, rows // 2, rows + rows // 2)
    print(f"{rows:,} rows, kill -9 at {KILLS} times: no temporary file remains", flush=True)


NAMES = ("vectors", "rewriting", "no key", "failure", "killed")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--memory", type=int, default=256, help="MiB that the merge may use")
    parser.add_argument("--most", type=int, default=400, help="MiB that the process may use")
    parser.add_argument("--only", choices=NAMES, action="append", help="measure only this")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        root, source, on = given.child
        merge(Path(root), Path(source), on, given.memory)
        return 0
    failed = False
    for name in given.only or NAMES:
        with tempfile.TemporaryDirectory() as folder:
            place = Place(Path(folder), given.memory)
            match name:
                case "failure":
                    fail(place, given.rows // 4)
                case "killed":
                    kill(place, given.rows // 4)
                case _:
                    failed |= measure(place, name, given.rows, given.most)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
