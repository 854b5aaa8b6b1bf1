"""An order-independent digest of rows: a number for each column, and one for whole rows."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rows import SCHEMA

Hashes = npt.NDArray[np.uint64]

NULL = np.uint64(0x6E756C6C6E756C6C)
ODD = np.uint64(0x9E3779B97F4A7C15)
FULL = (1 << 64) - 1


@dataclass
class Digest:
    """Sums of hashes, modulo 2^64."""

    rows: int = 0
    columns: dict[str, int] = field(default_factory=dict)
    """By column: detects wrong values."""
    whole: int = 0
    """Of rows: detects correct values in a wrong row."""

    def add(self, hashes: dict[str, Hashes], rows: int) -> None:
        """Adds rows, by the hashes of their values."""
        together = np.zeros(rows, dtype=np.uint64)
        for name, values in hashes.items():
            self.columns[name] = (self.columns.get(name, 0) + int(values.sum(dtype=np.uint64))) & FULL
            salt = zlib.crc32(name.encode()) * int(ODD) & FULL
            together += mixed(values + np.uint64(salt))
        self.whole = (self.whole + int(mixed(together).sum(dtype=np.uint64))) & FULL
        self.rows += rows

    def join(self, other: Digest) -> None:
        """Adds the rows of another digest."""
        for name, value in other.columns.items():
            self.columns[name] = (self.columns.get(name, 0) + value) & FULL
        self.whole = (self.whole + other.whole) & FULL
        self.rows += other.rows


def digest_of(batches: Iterable[pa.RecordBatch | pa.Table]) -> Digest:
    """Returns the digest of all batches."""
    found = Digest()
    for batch in batches:
        found.add(hashes_of(batch), batch.num_rows)
    return found


def hashes_of(batch: pa.RecordBatch | pa.Table) -> dict[str, Hashes]:
    """Returns a hash for each value, by column name. Columns are cast to the schema's types first."""
    found = {}
    for name in batch.schema.names:
        column = batch.column(name)
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        kind = SCHEMA.field(name).type if name in SCHEMA.names else column.type
        found[name] = hashes_of_values(column if column.type == kind else column.cast(kind))
    return found


def hashes_of_values(column: pa.Array) -> Hashes:
    """Returns a hash for each value of a column; NULL has its own hash."""
    if pa.types.is_string(column.type):
        plain = texts_of(column)
    elif pa.types.is_boolean(column.type):
        plain = np.asarray(column.cast(pa.uint8()).fill_null(0)).astype(np.uint64)
    else:
        buffer = column.buffers()[1]
        width = column.type.bit_width // 8
        words = np.frombuffer(buffer, dtype=np.int32 if width == 4 else np.int64)
        each = max(1, width // 8)  # a decimal's upper half is zero here
        plain = words[column.offset * each : (column.offset + len(column)) * each : each].astype(np.uint64)
    values = mixed(plain)
    return np.where(np.asarray(column.is_null()), NULL, values) if column.null_count else values


def texts_of(column: pa.Array) -> Hashes:
    """Returns a number for each text: its bytes as the digits of a number to a large base."""
    _, buffer, characters = column.buffers()
    offsets = np.frombuffer(buffer, dtype=np.int32)[column.offset : column.offset + len(column) + 1]
    if characters is None or len(column) == 0:
        return np.zeros(len(column), dtype=np.uint64)
    text = np.frombuffer(characters, dtype=np.uint8)[offsets[0] : offsets[-1]]
    offsets = (offsets - offsets[0]).astype(np.int64)
    lengths = np.diff(offsets)
    longest = int(lengths.max(initial=0))
    powers = np.cumprod(np.full(longest + 1, ODD, dtype=np.uint64), dtype=np.uint64)
    places = np.arange(len(text)) - np.repeat(offsets[:-1], lengths)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum((text + np.uint64(1)) * powers[places])])
    return sums[offsets[1:]] - sums[offsets[:-1]]


def mixed(values: Hashes) -> Hashes:
    """Applies the finalizer of splitmix64, which separates close values."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
