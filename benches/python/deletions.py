"""Deletion vectors as bytes. Sections: Deletion Vectors, Deletion Vector Format."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import numpy.typing as npt

DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
MAGIC = 1_681_511_377
COOKIE = 12_346  # a bitmap of containers without runs
CONTAINER = 1 << 16
# A container with more values than this would have to be a bitmap.
MOST_VALUES = 4_096
VERSION = b"\x01"


def z85(body: bytes) -> str:
    """Encodes bytes as text, four bytes as five characters."""
    text = ""
    for begin in range(0, len(body), 4):
        word = int.from_bytes(body[begin : begin + 4], "big")
        text += "".join(DIGITS[word // 85**power % 85] for power in (4, 3, 2, 1, 0))
    return text


def vector(positions: npt.NDArray[np.int64]) -> bytes:
    """Encodes sorted positions below 2^32 in the portable format."""
    keys, low = np.divmod(positions, CONTAINER)
    found, begins, counts = np.unique(keys, return_index=True, return_counts=True)
    assert counts.max(initial=0) <= MOST_VALUES
    header = struct.pack("<II", COOKIE, len(found))
    header += b"".join(struct.pack("<HH", key, count - 1) for key, count in zip(found, counts, strict=True))
    offsets = len(header) + 4 * len(found) + 2 * begins
    bitmap = header + offsets.astype("<u4").tobytes() + low.astype("<u2").tobytes()
    return struct.pack("<IQI", MAGIC, 1, 0) + bitmap


def framed(body: bytes) -> bytes:
    """Returns a deletion vector as in a file: preceded by its size, followed by its checksum."""
    return struct.pack(">I", len(body)) + body + struct.pack(">I", zlib.crc32(body))
