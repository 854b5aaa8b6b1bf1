"""A page header that claims gigabytes is refused before memory is allocated, wherever the footer hides it.

The files here are written by hand: each has one column of two compressed pages, of which the second is wrong.
"""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import deltaic

from .counting import cost_of

if TYPE_CHECKING:
    from pathlib import Path

    Fields = list[tuple[int, int, object]]

I32, I64, BINARY, LIST, STRUCT = 5, 6, 8, 9, 12


def varint(number: int) -> bytes:
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def encoded(kind: int, value: object) -> bytes:
    """Encodes a value in Thrift's compact protocol."""
    if isinstance(value, int):
        return varint(value << 1)
    if isinstance(value, bytes):
        return varint(len(value)) + value
    if kind == STRUCT:
        out, last = b"", 0
        for number, of_field, inner in value:  # type: ignore[attr-defined]
            out += bytes([(number - last) << 4 | of_field]) + encoded(of_field, inner)
            last = number
        return out + b"\0"
    of_item, items = value  # type: ignore[misc]
    return bytes([len(items) << 4 | of_item]) + b"".join(encoded(of_item, item) for item in items)


def page(claimed: int, more: Fields) -> bytes:
    body = b"\x08" + bytes([7 << 2]) + struct.pack("<q", 7)
    values: Fields = [(1, I32, 1), (2, I32, 0), (3, I32, 3), (4, I32, 3)]
    header: Fields = [(1, I32, 0), (2, I32, claimed), (3, I32, len(body)), (5, STRUCT, values), *more]
    return encoded(STRUCT, header) + body


def column(name: bytes, start: int, length: int) -> Fields:
    numbers = (I32, [0])
    described: Fields = [(1, I32, 2), (2, LIST, numbers), (3, LIST, (BINARY, [name])), (4, I32, 1)]
    described += [(5, I64, 2), (6, I64, length), (7, I64, length), (9, I64, start)]
    return [(2, I64, start), (3, STRUCT, described)]


def file_of(first: bytes, second: bytes, decoy: bool) -> bytes:
    """Returns pages and a footer. A decoy is a column that starts right before the second page."""
    size = len(first) + len(second)
    other = column(b"b", 3 + len(first), 1) if decoy else column(b"b", 4, size)
    leaves: list[Fields] = [[(1, I32, 2), (3, I32, 0), (4, BINARY, name)] for name in (b"a", b"b")]
    group: Fields = [(1, LIST, (STRUCT, [column(b"a", 4, size), other])), (2, I64, 100), (3, I64, 2)]
    schema = [[(4, BINARY, b"s"), (5, I32, 2)], *leaves]
    footer: Fields = [(1, I32, 1), (2, LIST, (STRUCT, schema)), (3, I64, 2), (4, LIST, (STRUCT, [group]))]
    text = encoded(STRUCT, footer)
    return b"PAR1" + first + second + text + struct.pack("<I", len(text)) + b"PAR1"


def rows(root: Path, data: bytes) -> list[int]:
    deltaic.Table.create(root, pa.schema([("a", pa.int64()), ("b", pa.int64())]))
    (root / "x.parquet").write_bytes(data)
    add = {"path": "x.parquet", "partitionValues": {}, "size": len(data), "modificationTime": 0}
    log = root / "_delta_log" / f"{1:020}.json"
    log.write_text(json.dumps({"add": {**add, "dataChange": True}}) + "\n")
    return deltaic.Table(root).snapshot().scan(["a"]).to_arrow()["a"].to_pylist()


def test_a_file_written_by_hand_is_read(tmp_path: Path) -> None:
    data = file_of(page(8, []), page(8, []), decoy=False)
    assert rows(tmp_path / "t", data) == [7, 7]


@pytest.mark.parametrize("decoy", [False, True])
@pytest.mark.parametrize("more", [[], [(9, STRUCT, [(1, I32, 1)])], [(9, I32, 1)]])
def test_a_page_that_claims_gigabytes_is_refused(tmp_path: Path, decoy: bool, more: Fields) -> None:
    data = file_of(page(8, []), page(2**31 - 1, more), decoy)

    def refused() -> None:
        with pytest.raises(deltaic.CorruptData):
            rows(tmp_path / "t", data)

    assert cost_of(refused).peak < 1 << 20, "the page's claim was believed"
