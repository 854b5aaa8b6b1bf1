"""Data files that are not regular files, or whose footers and pages are wrong."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import deltaic
from tests.protocol import handmade_parquet as parquet
from tests.protocol.handmade_parquet import Node, Triple, group, write_parquet

from . import broken, odd_files
from .case import Case

WHERE: dict[str, object] = {"path": broken.FIRST_FILE, "version": 1}
ID = Node("id", parquet.OPTIONAL, parquet.INT64)
NAME = Node("name", parquet.OPTIONAL, parquet.BYTE_ARRAY, converted=parquet.UTF8)
# Uncompressed size of values that compress to a few bytes.
BOMB = 1 << 20


def case(name: str, damage: broken.Damage, *says: str, **context: object) -> Case:
    """Damage of the first data file."""
    where = {**WHERE, **context}
    return Case(f"a data file {name}", damage, broken.scanned, deltaic.CorruptData, says, where)


def of(rows: pa.Table) -> broken.Damage:
    return lambda root: pq.write_table(rows, root / broken.FIRST_FILE)


def by_hand(
    nodes: list[Node] | None = None, columns: dict[str, Any] | None = None, **how: Any
) -> broken.Damage:
    """A valid file of two rows except for the given changes."""
    right: dict[str, list[Triple]] = {"id": [(0, 1, 1), (0, 1, 2)], "name": [(0, 1, b"x"), (0, 1, b"y")]}

    def apply(root: Path) -> None:
        write_parquet(root / broken.FIRST_FILE, nodes or [ID, NAME], {**right, **(columns or {})}, **how)

    return apply


def with_bytes(change: Callable[[bytes], bytes]) -> broken.Damage:
    def apply(root: Path) -> None:
        path = root / broken.FIRST_FILE
        path.write_bytes(change(path.read_bytes()))

    return apply


def in_its_place(put: Callable[[str], broken.Damage]) -> broken.Damage:
    return put(f"../{broken.FIRST_FILE}")


def footer_of(size: int) -> Callable[[bytes], bytes]:
    return lambda body: body[:-8] + struct.pack("<I", size) + b"PAR1"


NO_FILES = [
    case("that is a folder", in_its_place(odd_files.folder)),
    case("that is a pipe", in_its_place(odd_files.pipe)),
    case("that is a dangling link", in_its_place(lambda name: odd_files.link(name, "gone")), "missing"),
    case("that is a socket", in_its_place(odd_files.end_of_a_socket)),
]
FOOTERS = [
    case("of text", with_bytes(lambda _: b"id,name\n1,x\n2,y\n")),
    case("of three bytes", with_bytes(lambda _: b"PAR")),
    case("that is encrypted", with_bytes(lambda body: body[:-4] + b"PARE")),
    *(
        case(f"whose footer is said to have {size} bytes", with_bytes(footer_of(size)))
        for size in (0, 1, 2**31 - 1, 2**32 - 1)
    ),
    case("whose footer is nonsense", with_bytes(lambda body: body[:-40] + b"\xff" * 32 + body[-8:])),
    case("without its beginning", with_bytes(lambda body: body[50:])),
    case("that claims a negative number of rows", by_hand(claims={"rows": -1})),
    case("whose columns start behind its end", by_hand(claims={"at": 2**40})),
]
PAGES = [
    case("whose pages claim more values", by_hand(claims={"values": 3})),
    case("whose pages claim too many values", by_hand(claims={"values": 2**31 - 1, "rows": 2**31 - 1})),
    case("whose pages claim a negative number of values", by_hand(claims={"values": -1})),
    case("whose pages claim more bytes", by_hand(claims={"size": 2**31 - 1, "packed": 2**31 - 1})),
    case("whose pages claim negative bytes", by_hand(claims={"size": -1, "packed": -1})),
    case(
        "whose pages unpack to more than they claim",
        by_hand(codec=1, compress=lambda _: pa.compress(bytes(BOMB), "snappy", asbytes=True)),
    ),
    case("whose pages are not packed as they say", by_hand(codec=1)),
    case("of an unknown codec", by_hand(codec=77)),
    case(
        "with a text that reaches behind its page",
        by_hand([ID, Node("name", parquet.OPTIONAL, parquet.FIXED, length=2**31 - 1)]),
    ),
]
OTHER_SCHEMAS = [
    case(
        f"that holds {name} as {what}",
        of(pa.table({"id": [1, 2], "name": ["x", "y"], **column})),
        *column,
        field=name,
    )
    for name, what, column in (
        ("id", "a double", {"id": [1.0, 2.0]}),
        ("id", "a truth value", {"id": [True, False]}),
        ("id", "a struct", {"id": [{"x": 1}, {"x": 2}]}),
        ("id", "a list", {"id": [[1], [2]]}),
        ("name", "a number", {"name": [1, 2]}),
        ("name", "bytes that are not text", {"name": [b"\xff", b"\xfe"]}),
    )
]
NULLS = [
    case(
        "with a NULL where there is none",
        of(pa.table({"id": [1, 2], "name": ["x", None]})),
        field="name",
    ),
    case(
        "of a group without fields",
        by_hand([group("id", parquet.OPTIONAL), NAME], {"id": [(0, 1, b""), (0, 1, b"")]}),
    ),
]

MORE_DATA = [*NO_FILES, *FOOTERS, *PAGES, *OTHER_SCHEMAS, *NULLS]
