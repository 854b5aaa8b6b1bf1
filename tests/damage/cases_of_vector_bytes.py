"""Damaged files and bytes of deletion vectors, in all parts of the format."""

from __future__ import annotations

import struct
from pathlib import Path

import deltaic
from tests.protocol.handmade_vectors import (
    NATIVE,
    PORTABLE,
    VectorFile,
    array,
    bitmap,
    bitset,
    native,
    portable,
    runs,
    without,
)

from . import broken, odd_files
from .case import Case
from .vector_damage import (
    RIGHT,
    VECTOR_FILE,
    WHERE,
    ZERO,
    case,
    file_case,
    file_of,
    in_its_place,
    with_vector,
)


def bytes_case(name: str, body: bytes, *says: str, cardinality: int = 1) -> Case:
    """Damaged bytes of a deletion vector, in a file with matching size and checksum."""

    def damage(root: Path) -> None:
        file = VectorFile(root)
        with_vector(file.push(body, cardinality))(root)
        file.write()

    return file_case(name, damage, *says, field="deletionVector")


def roaring_case(name: str, body: bytes, *says: str, cardinality: int = 1) -> Case:
    """Damaged bytes of the first bitmap."""
    return bytes_case(name, portable([(0, body)]), *says, cardinality=cardinality)


FILES = [
    file_case("whose file is missing", file_of(lambda _: None), "is missing"),
    file_case(
        "whose file is a dangling link",
        in_its_place(lambda name: odd_files.link(name, "gone")),
        "is missing",
    ),
    *(
        Case(
            f"a deletion vector whose file is {what}",
            in_its_place(put),
            broken.scanned,
            deltaic.CorruptData,
            ("no regular file",),
            {**WHERE, "vector": VECTOR_FILE},
        )
        for what, put in {
            "a folder": odd_files.folder,
            "a pipe": odd_files.pipe,
        }.items()
    ),
    file_case("whose file is empty", file_of(lambda _: b""), "is empty", field="version"),
    *(
        file_case(
            f"whose file ends after {length} bytes",
            file_of(lambda body, length=length: body[:length]),
            "ends too early",
            field="deletionVector.sizeInBytes",
        )
        for length in (1, 3, 5, len(RIGHT), len(RIGHT) + 8)
    ),
    *(
        file_case(
            f"whose file has the version {version}",
            file_of(lambda body, version=version: bytes([version]) + body[1:]),
            f"is {version}, not 1",
            field="version",
        )
        for version in (0, 2, 255)
    ),
    *(
        file_case(
            name,
            file_of(**told),
            "ends too early",
            field="deletionVector.sizeInBytes",
        )
        for name, told in {
            "beyond the end of its file": {"offset": 1000},
            "at the greatest offset": {"offset": 2**31 - 1},
        }.items()
    ),
    *(
        file_case(
            f"of which the log says that it takes {size} bytes",
            file_of(sizeInBytes=size),
            str(len(RIGHT)),
            str(size),
            field="deletionVector.sizeInBytes",
        )
        for size in (0, len(RIGHT) - 1, len(RIGHT) + 1, 2**31 - 1)
    ),
    file_case(
        "of which its file says another size",
        file_of(lambda body: body[:1] + struct.pack(">I", 2**32 - 1) + body[5:]),
        str(2**32 - 1),
        field="deletionVector.sizeInBytes",
    ),
    file_case(
        "with another checksum",
        file_of(lambda body: body[:-1] + bytes([body[-1] ^ 1])),
        "checksum",
        field="checksum",
    ),
    file_case(
        "with a flipped bit",
        file_of(lambda body: body[:20] + bytes([body[20] ^ 1]) + body[21:]),
        "checksum",
        field="checksum",
    ),
    file_case(
        "in a file, of another cardinality",
        file_of(cardinality=2),
        "1 rows",
        "2 according to the log",
        field="deletionVector.cardinality",
    ),
]

BYTES = [
    bytes_case("without bytes", b"", "magic number"),
    bytes_case("of half a magic number", RIGHT[:3], "magic number"),
    bytes_case("of another magic number", portable([(0, ZERO)], magic=PORTABLE + 1), str(PORTABLE + 1)),
    bytes_case("with a byte-swapped magic number", struct.pack(">I", PORTABLE) + RIGHT[4:], "magic number"),
    bytes_case("that is truncated", RIGHT[:-1], "ends too early"),
    bytes_case("with a byte too many", RIGHT + b"\0", "follow its last bucket"),
    bytes_case(
        "of more buckets than bytes", portable([(0, ZERO)], count=2**63), str(2**63), "bytes for at most 1"
    ),
    bytes_case("of one bucket too few", portable([(0, ZERO), (1, ZERO)], count=1), "follow its last bucket"),
    bytes_case("with a key whose top bit is set", portable([(1 << 31, ZERO)]), "most significant bit"),
    bytes_case("of unsorted buckets", portable([(1, ZERO), (0, ZERO)]), "do not ascend", cardinality=2),
    bytes_case("with a bucket twice", portable([(0, ZERO), (0, ZERO)]), "do not ascend", cardinality=2),
    bytes_case(
        "of the native form with too many buckets",
        struct.pack("<II", NATIVE, 2**32 - 1),
        "bytes for at most 0",
    ),
    bytes_case("of the native form with a bucket too long", native([ZERO + b"\0"]), "are not part of it"),
    bytes_case("of the native form that is truncated", native([ZERO])[:-1], "ends too early"),
    roaring_case("with an unknown cookie", struct.pack("<I", 1) + ZERO[4:], "cookie"),
    roaring_case("of more containers than bytes", bitmap({0: array([0])}, count=65536), "ends too early"),
    roaring_case(
        "of more containers than there are", bitmap({0: array([0])}, count=2**32 - 1), "65536 are possible"
    ),
    roaring_case(
        "of unsorted containers", bitmap({1: array([0]), 0: array([0])}), "do not ascend", cardinality=2
    ),
    roaring_case("of unsorted values", bitmap({0: array([1, 0])}), "do not ascend", cardinality=2),
    roaring_case("with a value twice", bitmap({0: array([1, 1])}), "do not ascend", cardinality=2),
    roaring_case(
        "whose run overflows", bitmap({0: runs((65_535, 65_536))}), "beyond its container", cardinality=2
    ),
    roaring_case("whose runs overlap", bitmap({0: runs((0, 1), (1, 1))}), "overlap", cardinality=3),
    roaring_case("of unsorted runs", bitmap({0: runs((1, 1), (0, 0))}), "do not ascend", cardinality=2),
    roaring_case("whose runs hold more than they say", bitmap({0: runs((0, 1), cardinality=1)}), "has 2"),
    roaring_case(
        "of more runs than bytes",
        bitmap({0: runs((0, 0))})[:-6] + struct.pack("<HHH", 65_535, 0, 0),
        "ends too early",
    ),
    roaring_case(
        "whose bits are fewer than they say",
        bitmap({0: bitset(range(5_000))})[:-8192] + bytes(8192),
        "has 0",
        cardinality=5_000,
    ),
    roaring_case(
        "whose container starts elsewhere",
        ZERO[:12] + struct.pack("<I", 99) + ZERO[16:],
        "byte 99",
    ),
]

ROWS = [
    *(
        case(name, with_vector(without(row)), deltaic.CorruptData, str(row), "2 rows", field="deletionVector")
        for name, row in {
            "of a row after the last": 2,
            "of a row beyond 32 bits": 2**40,
            "of the largest possible row": 2**63 - 1,
        }.items()
    ),
]


VECTOR_BYTES = [*FILES, *BYTES, *ROWS]
