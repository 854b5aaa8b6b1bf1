"""Deletion vectors that deltaic encodes, and handmade tables whose files have them.

An example of the protocol crate encodes them, without a transaction.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.protocol import handmade_log as log
from tests.protocol.handmade_vectors import FEATURE, VectorFile

TOP = Path(__file__).resolve().parents[2]
# Built with the options of the Rust tests, so that nothing is built twice.
BUILD = ["cargo", "build", "--quiet", "--locked", "--workspace", "--exclude", "deltaic-python"]
BUILD += ["--example", "vector_file", "--message-format", "json"]
ROWS = 200_000
CONTAINER = 65_536
# The deleted rows, in every kind of container and at the ends of containers.
VECTORS: dict[str, list[range]] = {
    "one row": [range(1)],
    "a few rows": [range(3, 5), range(7, 8), range(ROWS - 1, ROWS)],
    "arrays": [range(0, ROWS, 97)],
    "the largest array": [range(0, 4096 * 16, 16)],
    "bitsets": [range(0, ROWS, 2)],
    "the smallest bitset": [range(0, 4097 * 15, 15)],
    "runs": [range(10, 70_000), range(100_000, ROWS - 1)],
    "where containers meet": [range(CONTAINER * n - 1, CONTAINER * n + 1) for n in (1, 2, 3)],
    "one of each": [range(CONTAINER), range(70_000, 70_009, 3), range(2 * CONTAINER, 3 * CONTAINER, 3)],
    "a container without": [range(5), range(2 * CONTAINER, 2 * CONTAINER + 5)],
    "all rows but one": [range(CONTAINER), range(CONTAINER + 1, ROWS)],
    "every row": [range(ROWS)],
}


class Encoded(NamedTuple):
    """A deletion vector encoded by deltaic."""

    numbers: dict[str, int]
    inline: str

    def bytes_in(self, file: bytes) -> bytes:
        """Returns the bytes of the deletion vector, without its frame in the file."""
        start = self.numbers["offset"] + 4
        return file[start : start + self.numbers["sizeInBytes"]]


@cache
def example() -> Path:
    """Builds the example that encodes deletion vectors."""
    if not shutil.which("cargo"):
        pytest.skip("missing: cargo, which builds the example that encodes deletion vectors")
    built = subprocess.run(BUILD, cwd=TOP, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    said = map(json.loads, built.stdout.splitlines())
    (path,) = (told["executable"] for told in said if told.get("target", {}).get("name") == "vector_file")
    return Path(path)


def encode(path: Path, *vectors: list[range]) -> Iterator[Encoded]:
    """Writes a deletion vector file with deltaic."""
    said = [",".join(f"{part.start}:{part.stop}:{part.step}" for part in vector) for vector in vectors]
    ended = subprocess.run([example(), path, *said], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    for line in ended.stdout.splitlines():
        numbers = json.loads(line)
        yield Encoded(numbers, numbers.pop("inline"))


def table(root: Path, *, inline: bool) -> pa.Table:
    """Writes a table with a file for each of `VECTORS`; returns its rows."""
    handmade = log.HandmadeTable(root)
    file = VectorFile(root, "" if inline else "ab")
    file.path.parent.mkdir(exist_ok=True)
    files, kept = [], []
    for number, (vector, encoded) in enumerate(
        zip(VECTORS.values(), encode(file.path, *VECTORS.values()), strict=True)
    ):
        first = number * ROWS
        rows = pa.table({"id": pa.array(range(first, first + ROWS), pa.int64())})
        told: dict[str, Any] = {"storageType": "u", "pathOrInlineDv": file.text, **encoded.numbers}
        if inline:
            told |= {"storageType": "i", "pathOrInlineDv": encoded.inline}
            del told["offset"]
        stats = json.dumps({"numRecords": ROWS, "tightBounds": False})
        files.append(handmade.data(f"{number}.parquet", rows, stats=stats, deletionVector=told))
        # Positions refer to the file, with any row groups.
        pq.write_table(rows, root / f"{number}.parquet", row_group_size=30_000)
        files[-1]["add"]["size"] = (root / f"{number}.parquet").stat().st_size
        deleted = {row for part in vector for row in part}
        kept += [first + row for row in range(ROWS) if row not in deleted]
    if inline:
        file.path.unlink()
    handmade.commit(FEATURE, log.metadata(), *files)
    return pa.table({"id": pa.array(kept, pa.int64())})
