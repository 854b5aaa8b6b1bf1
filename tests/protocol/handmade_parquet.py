"""Handmade Parquet files with old layouts, encodings and annotations that writers no longer produce.

A file has one row group, and each column one page of plain values.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BOOLEAN, INT32, INT64, INT96, FLOAT, DOUBLE, BYTE_ARRAY, FIXED = range(8)
REQUIRED, OPTIONAL, REPEATED = range(3)
# Converted types, the predecessors of logical types.
UTF8, MAP, MAP_KEY_VALUE, LIST, ENUM, DECIMAL, DATE = range(7)
TIMESTAMP_MILLIS, TIMESTAMP_MICROS = 9, 10
INT_8, INT_16 = 15, 16
UNCOMPRESSED, OLD_LZ4 = 0, 5

LETTERS = {INT32: "i", INT64: "q", FLOAT: "f", DOUBLE: "d"}
# The types of Thrift's compact protocol.
_TRUE, _FALSE, _I32, _I64, _BINARY, _LIST, _STRUCT = 1, 2, 5, 6, 8, 9, 12


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _zigzag(number: int) -> bytes:
    return _varint(number << 1 if number >= 0 else (-number << 1) - 1)


@dataclass(frozen=True)
class Long:
    """A 64-bit integer in Thrift."""

    value: int


def _of(value: Any) -> tuple[int, bytes]:
    match value:
        case bool():
            return (_TRUE if value else _FALSE), b""
        case int():
            return _I32, _zigzag(value)
        case Long():
            return _I64, _zigzag(value.value)
        case str() | bytes():
            body = value.encode() if isinstance(value, str) else value
            return _BINARY, _varint(len(body)) + body
        case list():
            parts = [_of(item) for item in value]
            kind = parts[0][0] if parts else _STRUCT
            short = len(parts) < 15
            head = bytes([len(parts) << 4 | kind] if short else [0xF0 | kind, *_varint(len(parts))])
            return _LIST, head + b"".join(body for _, body in parts)
        case dict():
            return _STRUCT, thrift(value)
    raise TypeError(value)


def thrift(fields: dict[int, Any]) -> bytes:
    """Encodes a struct in Thrift's compact protocol, without fields that are None."""
    out, last = b"", 0
    for number, value in sorted(fields.items()):
        if value is not None:
            kind, body = _of(value)
            out += bytes([(number - last) << 4 | kind]) + body
            last = number
    return out + b"\0"


@dataclass(frozen=True)
class Node:
    """A column or a group of a file's schema."""

    name: str
    repetition: int
    kind: int | None = None
    children: tuple[Node, ...] = ()
    converted: int | None = None
    logical: dict[int, Any] | None = None
    length: int | None = None
    precision: int | None = None
    scale: int | None = None

    def elements(self) -> list[dict[int, Any]]:
        own = {
            1: self.kind,
            2: self.length,
            3: self.repetition,
            4: self.name,
            5: len(self.children) or None,
            6: self.converted,
            7: self.scale,
            8: self.precision,
            10: self.logical,
        }
        return [own, *(element for child in self.children for element in child.elements())]

    def leaves(self, above: tuple[Node, ...] = ()) -> list[tuple[Node, ...]]:
        here = (*above, self)
        if not self.children:
            return [here]
        return [leaf for child in self.children for leaf in child.leaves(here)]


def group(name: str, repetition: int, *children: Node, **about: Any) -> Node:
    return Node(name, repetition, None, children, **about)


# Repetition level, definition level and value.
Triple = tuple[int, int, Any]


def _levels(levels: Sequence[int], most: int) -> bytes:
    if most == 0:
        return b""
    size = (most.bit_length() + 7) // 8
    body = b"".join(_varint(1 << 1) + level.to_bytes(size, "little") for level in levels)
    return struct.pack("<I", len(body)) + body


def _plain(kind: int | None, values: list[Any]) -> bytes:
    match kind:
        case 0:
            bits = sum(1 << at for at, value in enumerate(values) if value)
            return bits.to_bytes((len(values) + 7) // 8, "little")
        case 1 | 2 | 4 | 5:
            return struct.pack(f"<{len(values)}{LETTERS[kind]}", *values)
        case 6:
            return b"".join(struct.pack("<I", len(value)) + value for value in values)
    return b"".join(values)


def write_parquet(
    path: Path,
    schema: Sequence[Node],
    columns: dict[str, list[Triple]],
    *,
    codec: int = UNCOMPRESSED,
    compress: Callable[[bytes], bytes] = bytes,
    claims: dict[str, int] | None = None,
) -> None:
    """Writes a file from columns by dotted path; each row starts at repetition level 0.

    `claims` overrides metadata with wrong values: `rows` of the file, `values`, `size` and `packed` size of
    each page, and the start `at` of each column.
    """
    false = claims or {}
    root = group("schema", REQUIRED, *schema)
    body = b"PAR1"
    chunks: list[dict[int, Any]] = []
    rows = 0
    for leaf in root.leaves():
        names = [node.name for node in leaf[1:]]
        triples = columns[".".join(names)]
        repeats = sum(node.repetition == REPEATED for node in leaf)
        depth = sum(node.repetition != REQUIRED for node in leaf)
        rows = sum(repetition == 0 for repetition, *_ in triples)
        page = _levels([repetition for repetition, *_ in triples], repeats)
        page += _levels([level for _, level, _ in triples], depth)
        page += _plain(leaf[-1].kind, [value for _, level, value in triples if level == depth])
        packed = compress(page)
        about = {1: false.get("values", len(triples)), 2: 0, 3: 3, 4: 3}
        sizes = {2: false.get("size", len(page)), 3: false.get("packed", len(packed))}
        head = thrift({1: 0, **sizes, 5: about})
        told = {
            1: leaf[-1].kind,
            2: [0, 3],
            3: names,
            4: codec,
            5: Long(false.get("values", len(triples))),
            6: Long(len(head) + false.get("size", len(page))),
            7: Long(len(head) + false.get("packed", len(packed))),
            9: Long(false.get("at", len(body))),
        }
        chunks.append({2: Long(len(body)), 3: told})
        body += head + packed
    rows = false.get("rows", rows)
    elements = [{**element, 3: None} if not at else element for at, element in enumerate(root.elements())]
    row_group = {1: chunks, 2: Long(len(body)), 3: Long(rows)}
    footer = thrift({1: 1, 2: elements, 3: Long(rows), 4: [row_group], 6: "by hand"})
    path.write_bytes(body + footer + struct.pack("<I", len(footer)) + b"PAR1")


def write_without_columns(path: Path, *rows: int) -> None:
    """Writes a file without columns, with a row group for each row count."""
    groups: list[Any] = [{1: [], 2: Long(0), 3: Long(count)} for count in rows]
    footer = thrift({1: 1, 2: [{4: "schema", 5: 0}], 3: Long(sum(rows)), 4: groups, 6: "by hand"})
    path.write_bytes(b"PAR1" + footer + struct.pack("<I", len(footer)) + b"PAR1")
