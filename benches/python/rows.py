"""The rows of a generated table with data: a row's values are a function of its number.

All tables of a seed have the same rows, in any layout. The data files and the expected answers are both
generated here.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from files import FIRST_DAY, HEX, Numbers, chance
from workload import RowsSpec

# Ids are spread over the same range for any number of rows, so that a range selects the same share.
ID_SPACE = 2_000_000_000
CUSTOMERS, HIGHEST_QUANTITY, CENTS = 1_000_000, 100, 1_000_000
HIGHEST_AMOUNT = 1_000.0
DAYS, DAY_US = 365, 86_400_000_000
REGIONS = ("north", "south", "east", "west", "inland", "coast", "islands", "overseas")
SHORTEST_NOTE, LONGEST_NOTE = 8, 24
NULL_NOTES, NULL_PRICES, UNPAID, DELETED = 32, 50, 10, 100  # one in this many
SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("customer", pa.int64()),
        ("quantity", pa.int32()),
        ("amount", pa.float64()),
        ("price", pa.decimal128(12, 2)),
        ("region", pa.string()),
        ("note", pa.string()),
        ("day", pa.date32()),
        ("at", pa.timestamp("us", "UTC")),
        ("paid", pa.bool_()),
    ]
)


def numbers_in(spec: RowsSpec, file: int) -> Numbers:
    """Returns the numbers of a file's rows, in order: consecutive ones, or those of one region."""
    each = spec.rows // spec.files
    if not spec.partitioned:
        return np.arange(file * each, (file + 1) * each, dtype=np.uint64)
    region, piece = divmod(file, spec.files // len(REGIONS))
    blocks = np.arange(piece * each, (piece + 1) * each, dtype=np.uint64)
    turn = chance(spec, blocks, 0, len(REGIONS))
    return blocks * np.uint64(len(REGIONS)) + (turn ^ region).astype(np.uint64)


def region_in(spec: RowsSpec, file: int) -> str:
    """Returns the region of a file of a partitioned table."""
    return REGIONS[file // (spec.files // len(REGIONS))]


def regions_of(spec: RowsSpec, numbers: Numbers) -> npt.NDArray[np.int64]:
    """Returns the index in `REGIONS` of each row's region: each of eight consecutive rows has another one."""
    block, place = np.divmod(numbers, np.uint64(len(REGIONS)))
    return place.astype(np.int64) ^ chance(spec, block, 0, len(REGIONS))


def deleted(spec: RowsSpec, numbers: Numbers) -> npt.NDArray[np.bool_]:
    """Returns which rows a deletion vector deletes."""
    return chance(spec, numbers, 1, DELETED) == 0


def rows_of(spec: RowsSpec, numbers: Numbers) -> pa.Table:
    """Returns the rows with these numbers."""
    step = ID_SPACE // spec.rows
    days = numbers.astype(np.int64) * DAYS // spec.rows + (FIRST_DAY - date(1970, 1, 1)).days
    columns: Mapping[str, pa.Array] = {
        "id": pa.array(numbers.astype(np.int64) * step + chance(spec, numbers, 2, step)),
        "customer": pa.array(chance(spec, numbers, 3, CUSTOMERS)),
        "quantity": pa.array((1 + chance(spec, numbers, 4, HIGHEST_QUANTITY)).astype(np.int32)),
        "amount": pa.array(chance(spec, numbers, 5, 1 << 53) * (HIGHEST_AMOUNT / (1 << 53))),
        "price": prices_of(chance(spec, numbers, 6, CENTS), chance(spec, numbers, 7, NULL_PRICES) != 0),
        "region": pa.array(REGIONS).take(pa.array(regions_of(spec, numbers))),
        "note": notes_of(spec, numbers),
        "day": pa.array(days.astype(np.int32)).cast(pa.date32()),
        "at": pa.array(days * DAY_US + chance(spec, numbers, 8, DAY_US)).cast(SCHEMA.field("at").type),
        "paid": pa.array(chance(spec, numbers, 9, UNPAID) != 0),
    }
    return pa.table(columns, schema=SCHEMA)


def prices_of(cents: npt.NDArray[np.int64], there: npt.NDArray[np.bool_]) -> pa.Array:
    """Returns decimals of 16 bytes each, from values that fit into the lower eight bytes."""
    words = np.zeros((len(cents), 2), dtype=np.int64)
    words[:, 0] = cents
    bits = pa.py_buffer(np.packbits(there, bitorder="little"))
    return pa.Array.from_buffers(SCHEMA.field("price").type, len(cents), [bits, pa.py_buffer(words)])


def notes_of(spec: RowsSpec, numbers: Numbers) -> pa.Array:
    """Returns mostly unique texts of various lengths; some are null."""
    words = [chance(spec, numbers, what, 1 << 63) for what in (10, 11)]
    random = np.stack(words, axis=1).view(np.uint8)
    digits = HEX[random].reshape(len(numbers), -1)[:, :LONGEST_NOTE]
    there = chance(spec, numbers, 12, NULL_NOTES) != 0
    lengths = SHORTEST_NOTE + chance(spec, numbers, 13, LONGEST_NOTE - SHORTEST_NOTE + 1)
    lengths = np.where(there, lengths, 0)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    characters = digits[np.arange(LONGEST_NOTE) < lengths[:, None]]
    buffers = [np.packbits(there, bitorder="little"), offsets, characters]
    return pa.Array.from_buffers(pa.string(), len(numbers), [pa.py_buffer(one) for one in buffers])
