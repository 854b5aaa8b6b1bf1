"""Handmade deletion vectors, by the text of the protocol: bitmaps, both formats, frames, descriptors."""

from __future__ import annotations

import struct
import uuid
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import handmade_log as log

PORTABLE = 1_681_511_377
NATIVE = 1_681_511_376
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
WITHOUT_RUNS, WITH_RUNS = 12346, 12347
MOST_IN_ARRAY = 4096
FEATURE = log.protocol(3, 7, ["deletionVectors"], ["deletionVectors"])


@dataclass(frozen=True)
class Container:
    """The values of a bitmap with the same upper 16 bits."""

    body: bytes
    cardinality: int
    is_run: bool = False


def array(values: Iterable[int]) -> Container:
    held = list(values)
    return Container(struct.pack(f"<{len(held)}H", *held), len(held))


def bitset(values: Iterable[int]) -> Container:
    bits = bytearray(8192)
    held = set(values)
    for value in held:
        bits[value // 8] |= 1 << value % 8
    return Container(bytes(bits), len(held))


def runs(*pairs: tuple[int, int], cardinality: int | None = None) -> Container:
    """Returns a run container from the first and last value of each run."""
    flat = [number for first, last in pairs for number in (first, last - first)]
    held = sum(last - first + 1 for first, last in pairs) if cardinality is None else cardinality
    return Container(struct.pack(f"<H{len(flat)}H", len(pairs), *flat), held, is_run=True)


def bitmap(containers: Mapping[int, Container], *, count: int | None = None) -> bytes:
    """Returns a 32-bit Roaring bitmap; `count` overrides its number of containers."""
    said = len(containers) if count is None else count
    has_runs = any(container.is_run for container in containers.values())
    if has_runs:
        flags = sum(1 << at for at, container in enumerate(containers.values()) if container.is_run)
        head = struct.pack("<I", WITH_RUNS | (said - 1) << 16)
        head += flags.to_bytes((len(containers) + 7) // 8, "little")
    else:
        head = struct.pack("<II", WITHOUT_RUNS, said)
    for key, container in containers.items():
        head += struct.pack("<HH", key, container.cardinality - 1)
    if not has_runs or len(containers) >= 4:
        start = len(head) + 4 * len(containers)
        for container in containers.values():
            head += struct.pack("<I", start)
            start += len(container.body)
    return head + b"".join(container.body for container in containers.values())


def buckets_of(positions: Iterable[int]) -> dict[int, bytes]:
    """Returns a bitmap for each range of 2^32 positions, by key, with array and bitset containers."""
    found: dict[int, dict[int, list[int]]] = {}
    for position in sorted(set(positions)):
        found.setdefault(position >> 32, {}).setdefault(position >> 16 & 0xFFFF, []).append(position & 0xFFFF)
    return {
        bucket: bitmap(
            {key: array(low) if len(low) <= MOST_IN_ARRAY else bitset(low) for key, low in containers.items()}
        )
        for bucket, containers in found.items()
    }


def portable(
    buckets: Iterable[tuple[int, bytes]], *, count: int | None = None, magic: int = PORTABLE
) -> bytes:
    """The current format: each bitmap is preceded by its key."""
    held = list(buckets)
    body = b"".join(struct.pack("<I", key) + bits for key, bits in held)
    return struct.pack("<IQ", magic, len(held) if count is None else count) + body


def native(buckets: Iterable[bytes]) -> bytes:
    """The old format: each bitmap is preceded by its size, and its index is its key."""
    held = list(buckets)
    return struct.pack("<II", NATIVE, len(held)) + b"".join(struct.pack("<I", len(b)) + b for b in held)


def vector(*positions: int) -> bytes:
    """Returns the deletion vector of these rows."""
    return portable(buckets_of(positions).items())


def frame(body: bytes, *, size: int | None = None, checksum: int | None = None) -> bytes:
    """Returns the frame of a deletion vector in a file: size, bytes and checksum."""
    return (
        struct.pack(">I", len(body) if size is None else size)
        + body
        + struct.pack(">I", zlib.crc32(body) if checksum is None else checksum)
    )


def z85(body: bytes) -> str:
    padded = body + bytes(-len(body) % 4)
    text = ""
    for (word,) in struct.iter_unpack(">I", padded):
        text += "".join(DIGITS[word // 85**power % 85] for power in (4, 3, 2, 1, 0))
    return text


def inline(body: bytes, cardinality: int, **others: Any) -> dict[str, Any]:
    """Returns the descriptor of an inline deletion vector, as a field of a file action."""
    descriptor = {
        "storageType": "i",
        "pathOrInlineDv": z85(body),
        "sizeInBytes": len(body),
        "cardinality": cardinality,
    }
    return {"deletionVector": {**descriptor, **others}}


def without(*positions: int) -> dict[str, Any]:
    """Deletes the rows at these positions with an inline deletion vector."""
    return inline(vector(*positions), len(positions))


class VectorFile:
    """A deletion vector file in a table, named by an id, in a folder named by the prefix."""

    def __init__(self, root: Path, prefix: str = "", number: int = 1) -> None:
        self.id = uuid.UUID(int=number << 96 | 0xD2C6_39AA)
        self.root, self.prefix = root, prefix
        self.body = b"\x01"

    @property
    def name(self) -> str:
        """Its path relative to the table."""
        folder = f"{self.prefix}/" if self.prefix else ""
        return f"{folder}deletion_vector_{self.id}.bin"

    @property
    def text(self) -> str:
        """Its encoded name in a descriptor."""
        return self.prefix + z85(self.id.bytes)

    @property
    def path(self) -> Path:
        return self.root / self.name

    def push(self, body: bytes, cardinality: int, **others: Any) -> dict[str, Any]:
        """Adds a deletion vector; returns its descriptor."""
        offset = len(self.body)
        self.body += frame(body)
        descriptor = {
            "storageType": "u",
            "pathOrInlineDv": self.text,
            "offset": offset,
            "sizeInBytes": len(body),
            "cardinality": cardinality,
        }
        merged = {**descriptor, **others}
        return {"deletionVector": {name: value for name, value in merged.items() if value is not None}}

    def delete(self, *positions: int) -> dict[str, Any]:
        return self.push(vector(*positions), len(positions))

    def write(self, body: bytes | None = None) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_bytes(self.body if body is None else body)
