"""Heading *Delta Data Type to Parquet Type Mappings*: every representation of values in a file."""

from __future__ import annotations

import struct
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic

from . import handmade_parquet as parquet
from .handmade_log import field
from .handmade_parquet import Node, group
from .table_of_one_file import read, written

UTC = timezone.utc


def one(root: Path, node: Node, values: list[Any], kind: str) -> list[Any]:
    """Returns the values read from a column in this representation."""
    triples = [(0, int(value is not None), value) for value in values]
    written(root, [node], {node.name: triples})
    return [row[node.name] for row in read(root, field(node.name, kind))]


DECIMALS = [
    Decimal("-99999.99"),
    Decimal("-0.01"),
    Decimal("0.00"),
    Decimal("12.30"),
    Decimal("99999.99"),
    None,
]


def unscaled(value: Decimal | None) -> int | None:
    return None if value is None else int(value.scaleb(2))


def big_endian(length: int | None) -> Any:
    def body(value: Decimal | None) -> bytes | None:
        number = unscaled(value)
        if number is None:
            return None
        return number.to_bytes(length or (number.bit_length() + 8) // 8, "big", signed=True)

    return body


PHYSICAL = {
    "INT32": (parquet.INT32, None, unscaled),
    "INT64": (parquet.INT64, None, unscaled),
    "fixed of 4": (parquet.FIXED, 4, big_endian(4)),
    "fixed of 16": (parquet.FIXED, 16, big_endian(16)),
    "fixed of 20": (parquet.FIXED, 20, big_endian(20)),
    "binary": (parquet.BYTE_ARRAY, None, big_endian(None)),
    "binary of 16": (parquet.BYTE_ARRAY, None, big_endian(16)),
}


# The precision is seven digits for any number of bytes.


@pytest.mark.parametrize("annotation", ["converted", "logical"])
@pytest.mark.parametrize(
    "physical",
    list(PHYSICAL),
)
def test_decimals_in_every_encoding(tmp_path: Path, physical: str, annotation: str) -> None:
    """protocol: delta-data-type-to-parquet-type-mappings.2."""
    kind, length, body = PHYSICAL[physical]
    about: dict[str, Any] = {"converted": parquet.DECIMAL, "precision": 7, "scale": 2}
    if annotation == "logical":
        about["logical"] = {5: {1: 2, 2: 7}}
    node = Node("d", parquet.OPTIONAL, kind, length=length, **about)
    values = [body(value) for value in DECIMALS]
    assert one(tmp_path / "t", node, values, "decimal(7,2)") == DECIMALS


@pytest.mark.parametrize(("precision", "scale"), [(1, 0), (9, 9), (18, 3), (19, 0), (38, 38), (38, 0)])
@pytest.mark.parametrize("as_integers", [True, False])
def test_decimals_of_every_size(tmp_path: Path, precision: int, scale: int, *, as_integers: bool) -> None:
    most = Decimal((0, (9,) * precision, -scale))
    least = most.copy_negate()
    rows = pa.table({"d": pa.array([most, least, None], pa.decimal128(precision, scale))})
    (tmp_path / "t").mkdir()
    pq.write_table(rows, tmp_path / "t/a.parquet", store_decimal_as_integer=as_integers)
    found = read(tmp_path / "t", field("d", f"decimal({precision},{scale})"))
    assert [row["d"] for row in found] == [most, least, None]


DAY = 86_400_000_000
EPOCH = 2_440_588  # the Julian day of 1970-01-01
TIMES = [
    datetime(1, 1, 1),  # noqa: DTZ001
    datetime(1582, 10, 15, 0, 0, 0, 1),  # noqa: DTZ001
    datetime(1969, 12, 31, 23, 59, 59, 999_999),  # noqa: DTZ001
    datetime(1970, 1, 1),  # noqa: DTZ001
    datetime(2262, 4, 11, 23, 47, 16, 854_776),  # noqa: DTZ001, the first that 64 bits of nanoseconds lack
    datetime(9999, 12, 31, 23, 59, 59, 999_999),  # noqa: DTZ001
    None,
]


def micros(time: datetime) -> int:
    return (time - datetime(1970, 1, 1)) // timedelta(microseconds=1)  # noqa: DTZ001


def int96(time: datetime | None, nanos: int = 0) -> bytes | None:
    """Returns an INT96 of a day and the nanoseconds in it."""
    if time is None:
        return None
    day, rest = divmod(micros(time), DAY)
    return struct.pack("<qI", rest * 1000 + nanos, day + EPOCH)


def in_zone(times: list[datetime | None]) -> list[datetime | None]:
    return [time and time.replace(tzinfo=UTC) for time in times]


@pytest.mark.parametrize("nanos", [0, 1, 999])
def test_int96_from_the_year_1_to_9999(tmp_path: Path, nanos: int) -> None:
    """Timestamps are rounded down to microseconds, before 1970 as well.

    protocol: primitive-types.1, delta-data-type-to-parquet-type-mappings.2
    """
    node = Node("t", parquet.OPTIONAL, parquet.INT96)
    found = one(tmp_path / "t", node, [int96(time, nanos) for time in TIMES], "timestamp")
    assert found == in_zone(TIMES)


def test_int96_below_other_columns(tmp_path: Path) -> None:
    inner = Node("t", parquet.OPTIONAL, parquet.INT96)
    items = group("list", parquet.REPEATED, Node("element", parquet.OPTIONAL, parquet.INT96))
    pairs = group(
        "key_value",
        parquet.REPEATED,
        Node("key", parquet.REQUIRED, parquet.INT96),
        Node("value", parquet.OPTIONAL, parquet.INT96),
    )
    first, last = TIMES[0], TIMES[5]
    root = written(
        tmp_path / "t",
        [
            group("s", parquet.OPTIONAL, inner),
            group("l", parquet.OPTIONAL, items, converted=parquet.LIST),
            group("m", parquet.OPTIONAL, pairs, converted=parquet.MAP),
        ],
        {
            "s.t": [(0, 2, int96(first))],
            "l.list.element": [(0, 3, int96(first)), (1, 3, int96(last)), (1, 2, None)],
            "m.key_value.key": [(0, 2, int96(first))],
            "m.key_value.value": [(0, 3, int96(last))],
        },
    )
    array = {"type": "array", "elementType": "timestamp", "containsNull": True}
    map_type = {"type": "map", "keyType": "timestamp", "valueType": "timestamp", "valueContainsNull": True}
    columns = [
        field("s", {"type": "struct", "fields": [field("t", "timestamp")]}),
        field("l", array),
        field("m", map_type),
    ]
    early, late = in_zone([first, last])
    assert read(root, *columns) == [{"s": {"t": early}, "l": [early, late, None], "m": [(early, late)]}]


def test_int96_beside_local_nanoseconds(tmp_path: Path) -> None:
    """A file may contain both, and each is read correctly; an error is allowed, another time is not."""
    local = Node("n", parquet.OPTIONAL, parquet.INT64, logical={8: {1: False, 2: {3: {}}}})
    root = written(
        tmp_path / "t",
        [Node("t", parquet.OPTIONAL, parquet.INT96), local],
        {"t": [(0, 1, int96(TIMES[0])), (0, 1, int96(TIMES[5]))], "n": [(0, 1, 1_000), (0, 1, 2_000)]},
    )
    found = read(root, field("t", "timestamp"), field("n", "timestamp_ntz"))
    assert [row["t"] for row in found] == in_zone([TIMES[0], TIMES[5]])
    assert [micros(row["n"]) for row in found] == [1, 2]


UNITS = {"MILLIS": (1, 1000), "MICROS": (2, 1)}


@pytest.mark.parametrize("zone", [True, False])
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("kind", ["timestamp", "timestamp_ntz"])
def test_timestamps_of_every_unit(tmp_path: Path, kind: str, unit: str, *, zone: bool) -> None:
    """From the year 1 to 9999, adjusted to UTC in the file or not: the table's type determines the meaning.

    protocol: primitive-types.1, primitive-types.3, delta-data-type-to-parquet-type-mappings.2
    """
    number, micros_in_it = UNITS[unit]
    node = Node("t", parquet.OPTIONAL, parquet.INT64, logical={8: {1: zone, 2: {number: {}}}})
    held = [time if time is None else micros(time) // micros_in_it for time in TIMES]
    exact = [
        time and datetime(1970, 1, 1) + timedelta(microseconds=micros(time) // micros_in_it * micros_in_it)  # noqa: DTZ001
        for time in TIMES
    ]
    assert one(tmp_path / "t", node, held, kind) == (in_zone(exact) if kind == "timestamp" else exact)


@pytest.mark.parametrize("zone", [True, False])
@pytest.mark.parametrize("kind", ["timestamp", "timestamp_ntz"])
def test_nanoseconds_are_cut_to_microseconds_downwards(tmp_path: Path, kind: str, *, zone: bool) -> None:
    """Rounded down like INT96, before 1970 too."""
    node = Node("t", parquet.OPTIONAL, parquet.INT64, logical={8: {1: zone, 2: {3: {}}}})
    held = [0, 1, 999, 1_000, 1_999, -1, -999, -1_000, -1_001, 2**63 - 1, -(2**63)]
    found = one(tmp_path / "t", node, held, kind)
    assert [micros(time.replace(tzinfo=None)) for time in found] == [value // 1000 for value in held]


@pytest.mark.parametrize("converted", [parquet.TIMESTAMP_MILLIS, parquet.TIMESTAMP_MICROS])
def test_timestamps_that_are_only_converted_types(tmp_path: Path, converted: int) -> None:
    node = Node("t", parquet.OPTIONAL, parquet.INT64, converted=converted)
    scale = 1000 if converted == parquet.TIMESTAMP_MILLIS else 1
    found = one(tmp_path / "t", node, [-62_135_596_800_000_000 // scale, 0, None], "timestamp")
    assert found == in_zone([TIMES[0], TIMES[3], None])


@pytest.mark.parametrize("value", [2**63 - 1, -(2**63)])
def test_a_time_that_microseconds_do_not_hold_is_an_error(tmp_path: Path, value: int) -> None:
    node = Node("t", parquet.OPTIONAL, parquet.INT64, converted=parquet.TIMESTAMP_MILLIS)
    with pytest.raises(deltaic.CorruptData) as caught:
        one(tmp_path / "t", node, [value], "timestamp")
    assert (caught.value.context["path"], caught.value.context["field"]) == ("a.parquet", "t")


def test_dates_from_the_year_1_to_9999(tmp_path: Path) -> None:
    days = [date(1, 1, 1), date(1582, 10, 4), date(1969, 12, 31), date(1970, 1, 1), date(9999, 12, 31)]
    held = [(day - date(1970, 1, 1)).days for day in days]
    for name, about in {"converted": {"converted": parquet.DATE}, "logical": {"logical": {6: {}}}}.items():
        node = Node("d", parquet.OPTIONAL, parquet.INT32, **about)
        assert one(tmp_path / name, node, [*held, None], "date") == [*days, None]


BYTES = Node("c", parquet.OPTIONAL, parquet.BYTE_ARRAY)
TEXT = Node("c", parquet.OPTIONAL, parquet.BYTE_ARRAY, converted=parquet.UTF8)
PLAIN: list[tuple[str, Node, list[Any], list[Any]]] = [
    ("boolean", Node("c", parquet.OPTIONAL, parquet.BOOLEAN), [True, False, None], [True, False, None]),
    ("byte", Node("c", parquet.OPTIONAL, parquet.INT32, converted=parquet.INT_8), [-128, 127], [-128, 127]),
    ("byte", Node("c", parquet.OPTIONAL, parquet.INT32, logical={10: {1: 8, 2: True}}), [-1], [-1]),
    ("byte", Node("c", parquet.OPTIONAL, parquet.INT32), [-128, 127], [-128, 127]),
    ("short", Node("c", parquet.OPTIONAL, parquet.INT32, converted=parquet.INT_16), [-32768], [-32768]),
    ("short", Node("c", parquet.OPTIONAL, parquet.INT32), [-32768, 32767], [-32768, 32767]),
    ("integer", Node("c", parquet.OPTIONAL, parquet.INT32), [-(2**31), 2**31 - 1], [-(2**31), 2**31 - 1]),
    ("long", Node("c", parquet.OPTIONAL, parquet.INT64), [-(2**63), 2**63 - 1], [-(2**63), 2**63 - 1]),
    ("float", Node("c", parquet.OPTIONAL, parquet.FLOAT), [1.5, float("inf")], [1.5, float("inf")]),
    ("double", Node("c", parquet.OPTIONAL, parquet.DOUBLE), [0.1, -0.0], [0.1, -0.0]),
    (
        "string",
        Node("c", parquet.OPTIONAL, parquet.BYTE_ARRAY, converted=parquet.UTF8),
        ["é".encode()],
        ["é"],
    ),
    ("string", Node("c", parquet.OPTIONAL, parquet.BYTE_ARRAY, logical={1: {}}), ["é".encode()], ["é"]),
    ("string", Node("c", parquet.OPTIONAL, parquet.BYTE_ARRAY, converted=parquet.ENUM), [b"x"], ["x"]),
    ("string", BYTES, ["é".encode(), b""], ["é", ""]),
    ("binary", BYTES, [b"\xff\x00", None], [b"\xff\x00", None]),
    (
        "binary",
        Node("c", parquet.OPTIONAL, parquet.FIXED, length=2),
        [b"\xff\x00", None],
        [b"\xff\x00", None],
    ),
    ("binary", TEXT, [b"x"], [b"x"]),
]


@pytest.mark.parametrize(("kind", "node", "held", "values"), PLAIN)
def test_plain_types(tmp_path: Path, kind: str, node: Node, held: list[Any], values: list[Any]) -> None:
    """protocol: delta-data-type-to-parquet-type-mappings.2."""
    assert one(tmp_path / "t", node, held, kind) == values


def test_bytes_that_are_not_text_are_an_error(tmp_path: Path) -> None:
    node = Node("c", parquet.OPTIONAL, parquet.BYTE_ARRAY)
    with pytest.raises(deltaic.CorruptData) as caught:
        one(tmp_path / "t", node, [b"\xff"], "string")
    assert caught.value.context["path"] == "a.parquet"
