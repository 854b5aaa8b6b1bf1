"""Invalid descriptors of deletion vectors, and unusual but valid ones."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import deltaic
from tests.protocol.handmade_vectors import (
    NATIVE,
    VectorFile,
    bitmap,
    inline,
    native,
    portable,
    runs,
    without,
    z85,
)

from . import broken, odd_files
from .case import Case, Survivor
from .vector_damage import RIGHT, VECTOR_FILE, WHERE, ZERO, case, file_of, in_its_place, with_vector


def words(cardinality: int = 1, **others: Any) -> dict[str, Any]:
    """A valid deletion vector except for these fields of its descriptor."""
    told = inline(RIGHT, cardinality)["deletionVector"]
    return {"deletionVector": {**told, **others}}


def leading_out(storage_type: str, text: str) -> broken.Damage:
    """The descriptor refers to a valid file outside of the table."""

    def apply(root: Path) -> None:
        file = VectorFile(root.parent)
        told = file.push(RIGHT, 1)["deletionVector"]
        file.write()
        there = text.format(outside=file.path, id=file.text)
        with_vector({"deletionVector": {**told, "storageType": storage_type, "pathOrInlineDv": there}})(root)

    return apply


def descriptor_case(name: str, damage: broken.Damage, *says: str, field: str) -> Case:
    """An invalid deletion vector descriptor."""
    return case(name, damage, deltaic.CorruptLog, *says, field=f"deletionVector.{field}")


def line_case(name: str, damage: broken.Damage, field: str) -> Case:
    """The descriptor cannot be parsed: the table does not open."""
    context = {"path": f"_delta_log/{0:020}.json", "version": 0, "line": 3}
    return case(name, damage, deltaic.CorruptLog, field=f"add.deletionVector.{field}", **context)


TEXT = z85(RIGHT)
DESCRIPTORS = [
    *(
        descriptor_case(name, with_vector(words(storageType=text)), f'"{text}"', field="storageType")
        for name, text in {
            "of an unknown storage type": "x",
            "of a storage type in capitals": "U",
            "without a storage type": "",
        }.items()
    ),
    *(
        descriptor_case(name, with_vector(words(pathOrInlineDv=text)), said, field="pathOrInlineDv")
        for name, said, text in (
            ("whose text lacks a character", "a multiple of 5", TEXT[:-1]),
            ("whose text has a space", "byte 0", " " + TEXT[1:]),
            ("whose text has a quote", "byte 44", TEXT[:-1] + '"'),
            ("whose text has a letter that is not a digit", "multiple of 5", "é" + TEXT[1:]),
            ("whose digits are more than 32 bits", "32 bits", "#####" + TEXT[5:]),
            ("whose text is empty", "0 bytes", ""),
            ("whose text has more than it takes", "40 bytes", TEXT + "00000"),
        )
    ),
    *(
        descriptor_case(name, with_vector(words(sizeInBytes=size)), str(size), field=field)
        for name, size, field in (
            ("of a negative size", -1, "sizeInBytes"),
            ("of no size", 0, "pathOrInlineDv"),
            ("that is longer than its size", len(RIGHT) - 4, "pathOrInlineDv"),
            ("that is shorter than its size", len(RIGHT) + 4, "pathOrInlineDv"),
            ("of the greatest size", 2**31 - 1, "pathOrInlineDv"),
        )
    ),
    *(
        descriptor_case(name, with_vector(words(rows)), str(rows), field="cardinality")
        for name, rows in (
            ("of a negative cardinality", -1),
            ("of cardinality 0", 0),
            ("of another cardinality", 2),
            ("of the greatest cardinality", 2**63 - 1),
        )
    ),
    line_case("of a size beyond 32 bits", with_vector(words(sizeInBytes=2**31)), "sizeInBytes"),
    line_case("of a cardinality beyond 64 bits", with_vector(words(2**63)), "cardinality"),
    line_case("at an offset beyond 32 bits", file_of(offset=2**31), "offset"),
    line_case("at an offset with a fraction", file_of(offset=1.5), "offset"),
    line_case("at an offset that is a string", file_of(offset="1"), "offset"),
    descriptor_case("in the log with an offset", with_vector(words(offset=1)), "offset 1", field="offset"),
    descriptor_case("at a negative offset", file_of(offset=-1), "-1", field="offset"),
    descriptor_case("before the first", file_of(offset=0), "offset is 0", field="offset"),
    descriptor_case(
        "of a short name", file_of(pathOrInlineDv="abc"), "20 characters", field="pathOrInlineDv"
    ),
    descriptor_case(
        "with a name that is not Z85", file_of(pathOrInlineDv=" " * 20), "byte 0", field="pathOrInlineDv"
    ),
    *(
        descriptor_case(
            f"with the prefix {prefix}",
            leading_out("u", prefix + "{id}"),
            "the name of a folder",
            field="pathOrInlineDv",
        )
        for prefix in ("/", "./", "a//", "%2e%2e/")
    ),
    *(
        descriptor_case(f"at {text}", leading_out("p", text), "not absolute", field="pathOrInlineDv")
        for text in ("a.bin", "../a.bin")
    ),
]

ESCAPES = [
    *(
        Case(
            f"a deletion vector with the prefix {prefix}",
            leading_out("u", prefix + "{id}"),
            broken.scanned,
            deltaic.PathEscape,
            ("leads out",),
            {**WHERE, "field": "deletionVector.pathOrInlineDv"},
        )
        for prefix in ("../", "a/../../", "a/../")
    ),
    *(
        Case(
            f"a deletion vector {where}",
            leading_out("p", text),
            broken.scanned,
            deltaic.PathEscape,
            ("leaves the table",),
            WHERE,
        )
        for where, text in {
            "at an absolute path outside": "{outside}",
            "at a file URI outside": "file://{outside}",
            "on the web": "https://example.com/a.bin",
            "in another store": "s3://bucket/a.bin",
        }.items()
    ),
    Case(
        "a deletion vector reached by a link that leaves the table",
        in_its_place(lambda name: odd_files.link(name, "/dev/zero")),
        broken.scanned,
        deltaic.PathEscape,
        ("symbolic link",),
        {**WHERE, "vector": VECTOR_FILE},
    ),
]


def odd(name: str, damage: broken.Damage, rows: int = 3) -> Survivor:
    """Unusual but valid deletion vectors."""
    return Survivor(f"a deletion vector {name}", damage, rows=rows)


def in_a_file(body: bytes, cardinality: int, *, prefix: str = "") -> broken.Damage:
    def apply(root: Path) -> None:
        file = VectorFile(root, prefix)
        with_vector(file.push(body, cardinality))(root)
        file.write()

    return apply


def two_in_a_file(root: Path) -> None:
    """The deletion vector of the second data file is the first in its file."""
    file = VectorFile(root, "ab")
    with_vector(file.delete(0, 1), 1)(root)
    with_vector(file.delete(1))(root)
    file.write(file.body + b"what stands behind is nobody's")


def shared(root: Path) -> None:
    """Both data files have the same deletion vector."""
    file = VectorFile(root)
    told = file.delete(1)
    with_vector(told, 1)(root)
    with_vector(told)(root)
    file.write()


def absolute_within(form: str) -> broken.Damage:
    def apply(root: Path) -> None:
        file = VectorFile(root)
        told = file.push(RIGHT, 1)["deletionVector"]
        file.write()
        text = form.format(file.path)
        with_vector({"deletionVector": {**told, "storageType": "p", "pathOrInlineDv": text}})(root)

    return apply


ODD = [
    odd("in the log", with_vector(without(1))),
    odd("of all rows", with_vector(without(0, 1)), rows=2),
    odd("of no rows", with_vector(inline(portable([]), 0)), rows=4),
    odd("of a bucket without rows", with_vector(inline(portable([(0, bitmap({}))]), 0)), rows=4),
    odd("with a word that is not known", with_vector(words(fromTheFuture=1))),
    odd("with a greatest row index", with_vector(words(maxRowIndex=0))),
    odd("of the native form", with_vector(inline(native([ZERO]), 1))),
    odd(
        "of the native form in big-endian numbers",
        with_vector(inline(struct.pack(">III", NATIVE, 1, len(ZERO)) + ZERO, 1)),
    ),
    odd("in a file", in_a_file(RIGHT, 1)),
    odd("in a file below a prefix", in_a_file(RIGHT, 1, prefix="ab")),
    odd("in a file below two folders", in_a_file(RIGHT, 1, prefix="a/b")),
    odd("in a file below a folder that would be decoded", in_a_file(RIGHT, 1, prefix="a%2Fb c")),
    odd("without an offset", file_of(offset=None)),
    odd("beside another in its file", two_in_a_file, rows=1),
    odd("that two files share", shared, rows=2),
    odd("of runs that touch", in_a_file(portable([(0, bitmap({0: runs((0, 0), (1, 1))}))]), 2), rows=2),
    odd("of a run of one", in_a_file(portable([(0, bitmap({0: runs((1, 1))}))]), 1)),
    odd("at an absolute path within the table", absolute_within("{}")),
    odd("at a file URI within the table", absolute_within("file://{}")),
]

DESCRIBED = [*DESCRIPTORS, *ESCAPES]
