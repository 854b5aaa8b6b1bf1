"""Naive encoder and decoder for Parquet's variants: an oracle that shares no code with the reader.

`Written` selects the encoding of a value; plain Python values get the default encoding.
"""

from __future__ import annotations

import base64
import ctypes
import struct
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from itertools import pairwise
from typing import Any

EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - the epoch of timestamps with and without a zone
OFFSET_BYTES = 4


@dataclass(frozen=True)
class Written:
    """A primitive: its type id in the format, and the bytes after its header."""

    kind: int
    body: bytes


def int8(value: int) -> Written:
    return Written(3, struct.pack("<b", value))


def int16(value: int) -> Written:
    return Written(4, struct.pack("<h", value))


def int32(value: int) -> Written:
    return Written(5, struct.pack("<i", value))


def float32(value: float) -> Written:
    return Written(14, struct.pack("<f", value))


def decimal4(unscaled: int, scale: int) -> Written:
    return Written(8, struct.pack("<Bi", scale, unscaled))


def decimal8(unscaled: int, scale: int) -> Written:
    return Written(9, struct.pack("<Bq", scale, unscaled))


def time(micros: int) -> Written:
    return Written(17, struct.pack("<q", micros))


def nanos(value: int, *, zone: bool) -> Written:
    return Written(18 if zone else 19, struct.pack("<q", value))


def metadata(names: Sequence[str] = ()) -> bytes:
    """Returns a dictionary of names, in this order and not marked as sorted."""
    parts = [name.encode() for name in names]
    ends = [sum(map(len, parts[:index])) for index in range(len(parts) + 1)]
    numbers = [len(parts), *ends]
    header = 1 | (OFFSET_BYTES - 1) << 6
    return bytes([header]) + b"".join(_unsigned(number) for number in numbers) + b"".join(parts)


def encode(value: Any, names: Sequence[str] = ()) -> bytes:  # noqa: C901, PLR0912 - a case for each type
    """Encodes a value whose field names are all in the dictionary."""
    match value:
        case None:
            return b"\x00"
        case bool():
            return bytes([(1 if value else 2) << 2])
        case Written():
            return bytes([value.kind << 2]) + value.body
        case int():
            return bytes([6 << 2]) + struct.pack("<q", value)
        case float():
            return bytes([7 << 2]) + struct.pack("<d", value)
        case Decimal():
            _, digits, exponent = value.as_tuple()
            assert isinstance(exponent, int)
            unscaled = int("".join(map(str, digits))) * (-1 if value.is_signed() else 1)
            return bytes([10 << 2, -exponent]) + unscaled.to_bytes(16, "little", signed=True)
        case str():
            text = value.encode()
            if len(text) < 64:
                return bytes([len(text) << 2 | 1]) + text
            return bytes([16 << 2]) + struct.pack("<I", len(text)) + text
        case bytes():
            return bytes([15 << 2]) + struct.pack("<I", len(value)) + value
        case datetime():
            kind = 13 if value.tzinfo is None else 12
            since = value.replace(tzinfo=None) - EPOCH
            return bytes([kind << 2]) + struct.pack("<q", since // timedelta(microseconds=1))
        case date():
            return bytes([11 << 2]) + struct.pack("<i", (value - EPOCH.date()).days)
        case uuid.UUID():
            return bytes([20 << 2]) + value.bytes
        case list():
            return _array([encode(item, names) for item in value])
        case dict():
            fields = sorted(value.items(), key=lambda item: item[0].encode())
            ids = [list(names).index(name) for name, _ in fields]
            return _object(ids, [encode(item, names) for _, item in fields])
        case _:
            raise TypeError(f"a variant cannot hold {value!r}")


def names_of(value: Any) -> list[str]:
    """Returns the names of all fields, in the order of their first use."""
    found: dict[str, None] = {}
    if isinstance(value, dict):
        for name, item in value.items():
            found[name] = None
            found.update(dict.fromkeys(names_of(item)))
    elif isinstance(value, list):
        for item in value:
            found.update(dict.fromkeys(names_of(item)))
    return list(found)


def variant(value: Any) -> dict[str, bytes]:
    """Returns a value as a row of a struct of `metadata` and `value`."""
    names = names_of(value)
    return {"metadata": metadata(names), "value": encode(value, names)}


def _unsigned(number: int) -> bytes:
    return number.to_bytes(OFFSET_BYTES, "little")


def _ends(parts: list[bytes]) -> bytes:
    return b"".join(_unsigned(sum(map(len, parts[:index]))) for index in range(len(parts) + 1))


def _array(items: list[bytes]) -> bytes:
    header = 3 | (OFFSET_BYTES - 1) << 2 | 1 << 4
    return bytes([header]) + _unsigned(len(items)) + _ends(items) + b"".join(items)


def _object(ids: list[int], items: list[bytes]) -> bytes:
    header = 2 | (OFFSET_BYTES - 1) << 2 | (OFFSET_BYTES - 1) << 4 | 1 << 6
    numbers = b"".join(map(_unsigned, [len(items), *ids]))
    return bytes([header]) + numbers + _ends(items) + b"".join(items)


# Decoder, to JSON in Spark's format.


def to_json(metadata: bytes, value: bytes) -> str:
    """Returns a variant as JSON text."""
    size = (metadata[0] >> 6) + 1
    count = _number(metadata, 1, size)
    first = 1 + size * (count + 2)
    ends = [_number(metadata, 1 + size * (index + 1), size) for index in range(count + 1)]
    names = [metadata[first + a : first + b].decode() for a, b in pairwise(ends)]
    return _json(value, names)


def _number(data: bytes, at: int, size: int) -> int:
    return int.from_bytes(data[at : at + size], "little")


def _json(value: bytes, names: list[str]) -> str:
    basic, header = value[0] & 3, value[0] >> 2
    if basic == 1:
        return _text(value[1 : 1 + header].decode())
    if basic == 0:
        return _primitive(header, value[1:])
    offset_size = (header & 3) + 1
    id_size = ((header >> 2) & 3) + 1 if basic == 2 else 0
    is_large = header >> 4 & 1 if basic == 2 else header >> 2 & 1
    count_size = 4 if is_large else 1
    count = _number(value, 1, count_size)
    at_ids = 1 + count_size
    at_offsets = at_ids + count * id_size
    at_items = at_offsets + (count + 1) * offset_size
    items: list[str] = []
    for index in range(count):
        start = at_items + _number(value, at_offsets + index * offset_size, offset_size)
        item = _json(value[start:], names)
        if basic == 2:
            item = _text(names[_number(value, at_ids + index * id_size, id_size)]) + ":" + item
        items.append(item)
    return "{" + ",".join(items) + "}" if basic == 2 else "[" + ",".join(items) + "]"


def _primitive(kind: int, body: bytes) -> str:  # noqa: C901, PLR0912 - a case for each type
    match kind:
        case 0:
            return "null"
        case 1 | 2:
            return "true" if kind == 1 else "false"
        case 3 | 4 | 5 | 6:
            return str(int.from_bytes(body[: 1 << (kind - 3)], "little", signed=True))
        case 7:
            return java_float(_digits(struct.unpack("<d", body[:8])[0]))
        case 8 | 9 | 10:
            unscaled = int.from_bytes(body[1 : 1 + (4 << (kind - 8))], "little", signed=True)
            sign, digits = ("-" if unscaled < 0 else ""), str(abs(unscaled)).rjust(body[0] + 1, "0")
            whole, part = digits[: len(digits) - body[0]], digits[len(digits) - body[0] :].rstrip("0")
            return f"{sign}{whole}.{part}" if part else f"{sign if unscaled else ''}{whole}"
        case 11:
            return f'"{EPOCH.date() + timedelta(days=struct.unpack("<i", body[:4])[0])}"'
        case 12 | 13:
            return _moment(struct.unpack("<q", body[:8])[0] * 1000, "+00:00" if kind == 12 else "")
        case 14:
            return java_float(_shortest(body[:4]))
        case 15:
            return f'"{base64.b64encode(body[4 : 4 + _number(body, 0, 4)]).decode()}"'
        case 16:
            return _text(body[4 : 4 + _number(body, 0, 4)].decode())
        case 17:
            return (
                '"' + _moment(struct.unpack("<q", body[:8])[0] * 1000, "").strip('"').partition(" ")[2] + '"'
            )
        case 18 | 19:
            return _moment(struct.unpack("<q", body[:8])[0], "+00:00" if kind == 18 else "")
        case 20:
            return f'"{uuid.UUID(bytes=body[:16])}"'
        case _:
            raise ValueError(f"no primitive has the number {kind}")


def _moment(since_epoch: int, zone: str) -> str:
    seconds, fraction = divmod(since_epoch, 10**9)
    moment = datetime.fromtimestamp(0, timezone.utc) + timedelta(seconds=seconds)
    digits = f"{fraction:09}".rstrip("0")
    shown = moment.replace(tzinfo=None).isoformat(" ", "seconds")
    return f'"{shown}{"." + digits if digits else ""}{zone}"'


def _shortest(body: bytes) -> str:
    """Returns the shortest digits that identify a float."""
    (wanted,) = struct.unpack("<f", body)
    texts = (f"{wanted:.{digits}e}" for digits in range(1, 9))
    return next((text for text in texts if ctypes.c_float(float(text)).value == wanted), repr(wanted))


def _digits(value: float) -> str:
    """Returns the shortest digits that identify a double, at least two, as Java formats it."""
    two = f"{value:.1e}"
    return two if float(two) == value else repr(value)


def java_float(text: str) -> str:
    """Converts Python's digits of a float to Java's format."""
    number = Decimal(text)
    if not number.is_finite():
        name = "NaN" if number.is_nan() else "Infinity"
        return f'"{"-" if number.is_signed() and not number.is_nan() else ""}{name}"'
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    shown = "".join(map(str, digits)).lstrip("0")
    minus = "-" if sign else ""
    if not shown:
        return f"{minus}0.0"
    power = len(shown) + exponent - 1
    shown = shown.rstrip("0") or "0"
    if -3 <= power < 0:
        return f"{minus}0.{'0' * (-power - 1)}{shown}"
    if 0 <= power < 7:
        whole = shown[: power + 1].ljust(power + 1, "0")
        return f"{minus}{whole}.{shown[power + 1 :] or '0'}"
    return f"{minus}{shown[0]}.{shown[1:] or '0'}E{power}"


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def _text(text: str) -> str:
    return '"' + "".join(_ESCAPES.get(c) or (f"\\u{ord(c):04X}" if c < " " else c) for c in text) + '"'
