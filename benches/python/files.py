"""The data files of a generated log: a file's facts are a function of its number.

No data file exists: only the log is read. The text of the log and the expected answers are both generated
here, so an answer is verified against the facts and not against parsed text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from workload import RowsSpec, TableSpec

Numbers = npt.NDArray[np.uint64]

FIRST_DAY = date(2025, 1, 1)
EPOCH_MS = 1_735_689_600_000  # 2025-01-01T00:00:00Z, so that equal specs produce equal bytes
# The types of the columns with statistics, in turn: mostly numbers and keys, as in typical tables.
TYPES = ("string", "long", "long", "string", "double", "long", "long", "date", "long", "timestamp")
PATH = "day=0000-00-00/part-00000-00000000-0000-4000-8000-000000000000.c000.snappy.parquet"
DAY_AT, TASK_AT, UUID_AT, NUMBER_AT = 4, 20, 26, 50
NUMBER_DIGITS = 12
HEX = np.frombuffer(b"".join(b"%02x" % byte for byte in range(256)), dtype=np.uint8).reshape(256, 2)


@dataclass(frozen=True)
class Files:
    """The facts of some files, one row each."""

    path: pa.StringArray
    size: pa.Int64Array
    modification_time: pa.Int64Array
    day: pa.Date32Array
    num_records: pa.Int64Array
    low: Mapping[str, pa.Array]
    high: Mapping[str, pa.Array]
    null_count: Mapping[str, pa.Array]

    def __len__(self) -> int:
        """Returns the number of files."""
        return len(self.path)

    def columns(self) -> dict[str, pa.Array]:
        """Returns the facts by the column names of answers."""
        found: dict[str, pa.Array] = {
            "path": self.path,
            "size": self.size,
            "modification_time": self.modification_time,
            "day": self.day,
            "num_records": self.num_records,
        }
        for kind, values in (("min", self.low), ("max", self.high), ("null_count", self.null_count)):
            found |= {f"{kind}.{name}": column for name, column in values.items()}
        return found


def columns_of(spec: TableSpec) -> dict[str, str]:
    """Returns the columns with statistics, with their types."""
    return {f"column_{index}": TYPES[index % len(TYPES)] for index in range(spec.statistics_columns)}


def chance(spec: TableSpec | RowsSpec, numbers: Numbers, what: int, below: int) -> npt.NDArray[np.int64]:
    """Returns a number in `0..below` for each number: splitmix64's finalizer on seed, number and purpose."""
    with np.errstate(over="ignore"):
        start = np.uint64((spec.seed << 20) + what) * np.uint64(0x9E3779B97F4A7C15)
        mixed = numbers * np.uint64(0xD1B54A32D192ED03) + start
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    return (mixed % np.uint64(below)).astype(np.int64)


def files_of(spec: TableSpec, numbers: Numbers, *, statistics: bool = True) -> Files:
    """Returns the facts of the files with these numbers; without statistics only those of the key columns."""
    days = chance(spec, numbers, 0, spec.partitions)
    rows = 1_000 + chance(spec, numbers, 1, 99_000)
    low: dict[str, pa.Array] = {}
    high: dict[str, pa.Array] = {}
    nulls: dict[str, pa.Array] = {}
    for index, (name, kind) in enumerate(columns_of(spec).items()) if statistics else ():
        start = chance(spec, numbers, 100 + 2 * index, 1_000_000)
        low[name] = values_of(kind, start)
        high[name] = values_of(kind, start + 1_000)
        nulls[name] = pa.array(chance(spec, numbers, 101 + 2 * index, 10))
    return Files(
        path=paths_of(spec, numbers, days),
        size=pa.array(rows * 40 + chance(spec, numbers, 2, 10_000)),
        modification_time=pa.array(EPOCH_MS + numbers.astype(np.int64)),
        day=pa.array((days + (FIRST_DAY - date(1970, 1, 1)).days).astype(np.int32)).cast(pa.date32()),
        num_records=pa.array(rows),
        low=low,
        high=high,
        null_count=nulls,
    )


def values_of(kind: str, start: npt.NDArray[np.int64]) -> pa.Array:
    """Returns values of a column that increase with `start`."""
    if kind == "string":
        text = np.tile(np.frombuffer(b"value-000000000000", dtype=np.uint8), (len(start), 1))
        write_digits(text[:, 6:], start)
        return strings_of(text)
    if kind == "double":  # Never a whole number, whose text differs between writers.
        return pa.array(start + (start % 3 + 1) / 4)
    if kind == "date":
        return pa.array((start // 100).astype(np.int32)).cast(pa.date32())
    if kind == "timestamp":
        return pa.array((EPOCH_MS + start * 61_001) * 1_000).cast(pa.timestamp("us", "UTC"))
    return pa.array(start)


def paths_of(spec: TableSpec, numbers: Numbers, days: npt.NDArray[np.int64]) -> pa.StringArray:
    """Returns paths in delta-spark's format; the last digits of the UUID are the file's number."""
    text = np.tile(np.frombuffer(PATH.encode(), dtype=np.uint8), (len(numbers), 1))
    names = [(FIRST_DAY + timedelta(days=day)).isoformat().encode() for day in range(spec.partitions)]
    calendar = np.frombuffer(b"".join(names), dtype=np.uint8).reshape(-1, 10)
    text[:, DAY_AT : DAY_AT + 10] = calendar[days]
    write_digits(text[:, TASK_AT : TASK_AT + 5], numbers.astype(np.int64) % 100_000)
    random = chance(spec, numbers, 3, 1 << 63).view(np.uint8).reshape(-1, 8)
    digits = HEX[random].reshape(-1, 16)
    text[:, UUID_AT : UUID_AT + 8] = digits[:, :8]
    text[:, UUID_AT + 9 : UUID_AT + 13] = digits[:, 8:12]
    text[:, UUID_AT + 15 : UUID_AT + 18] = digits[:, 12:15]
    write_digits(text[:, NUMBER_AT : NUMBER_AT + NUMBER_DIGITS], numbers.astype(np.int64))
    return strings_of(text)


def numbers_of(paths: pa.Array) -> Numbers:
    """Returns the file numbers of these paths; raises a ValueError for unknown paths."""
    digits = pc.utf8_slice_codeunits(paths, NUMBER_AT, NUMBER_AT + NUMBER_DIGITS)
    return np.asarray(digits.cast(pa.int64())).astype(np.uint64)


def write_digits(place: npt.NDArray[np.uint8], values: npt.NDArray[np.int64]) -> None:
    """Writes values as decimals of fixed width, one row each."""
    rest = values
    for column in reversed(range(place.shape[1])):
        rest, digit = np.divmod(rest, 10)
        place[:, column] = digit + ord("0")


def strings_of(text: npt.NDArray[np.uint8]) -> pa.StringArray:
    """Returns each row of ASCII characters as a string."""
    rows, width = text.shape
    offsets = np.arange(0, (rows + 1) * width, width, dtype=np.int32)
    return pa.StringArray.from_buffers(rows, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(text)))
