"""Substrait: parses the bytes of an expression into a small tree.

Arrow serializes its expressions in this format, bound to a schema: fields are indices, literals are typed.
Only the messages that a condition needs are parsed; anything else becomes an `Unread` with its name.
The field numbers are those of Substrait's ``algebra.proto`` and ``extended_expression.proto``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from decimal import Context, Decimal

__all__ = ["AnyOf", "Call", "Choice", "Field", "Node", "Unread", "Value", "read_expression"]


@dataclass(frozen=True)
class Field:
    """A column, or a nested field: its index in the schema, then in each nested struct."""

    path: tuple[int, ...]


@dataclass(frozen=True)
class Value:
    """A literal; None for NULL. A time with a zone is aware, one without is naive."""

    value: bool | int | float | str | bytes | Decimal | date | datetime | None


@dataclass(frozen=True)
class Call:
    """A function of Substrait's standard extensions, or one of Arrow's, whose name begins with ``arrow:``."""

    name: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True)
class Choice:
    """One value if a condition holds, another if it does not."""

    condition: Node
    then: Node
    otherwise: Node


@dataclass(frozen=True)
class AnyOf:
    """Whether a value is in a list of literals."""

    value: Node
    values: tuple[Node, ...]


@dataclass(frozen=True)
class Unread:
    """An unsupported part: its name, and the nodes in it, or None if these are not known."""

    what: str
    inside: tuple[Node, ...] | None = None


Node = Field | Value | Call | Choice | AnyOf | Unread

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 (a time without a zone is one of the types)
_DECIMAL_BYTES = 16


def read_expression(data: bytes) -> Node:
    """Parses the only expression of an ``ExtendedExpression`` message.

    Raises:
        ValueError: The bytes are invalid, or nested too deeply.
    """
    try:
        message = _Message(data)
        urns = {_Message(uri).number(1): _Message(uri).text(2) for uri in message.parts(1)}
        functions: dict[int, str] = {}
        for extension in message.parts(2):
            for part in _Message(extension).parts(3):
                function = _Message(part)
                home = urns.get(function.number(1), "")
                own = "/substrait/" in home and home.endswith(".yaml")
                functions[function.number(2)] = ("" if own else "arrow:") + function.text(3)
        [reference] = message.parts(3)
        return _node(_Message(reference).only(1), functions)
    except (IndexError, KeyError, OverflowError, RecursionError, TypeError, struct.error) as error:
        raise ValueError(f"the expression's bytes cannot be read: {error!r}") from error


class _Message:
    """A Protocol Buffers message: its values by field number."""

    def __init__(self, data: bytes) -> None:
        self.values: dict[int, list[int | bytes]] = {}
        for number, value in _fields(data):
            self.values.setdefault(number, []).append(value)

    def parts(self, number: int) -> list[bytes]:
        """Returns all values of a field that holds bytes, strings or messages."""
        values = self.values.get(number, [])
        parts = [value for value in values if isinstance(value, bytes)]
        if len(parts) != len(values):
            raise ValueError(f"the field {number} holds no bytes")
        return parts

    def only(self, number: int) -> bytes:
        """Returns the value of a field that must occur exactly once."""
        [part] = self.parts(number)
        return part

    def text(self, number: int) -> str:
        return b"".join(self.parts(number)[-1:]).decode()

    def number(self, number: int) -> int:
        """Returns the value of a numeric field; 0 if it is absent."""
        value = self.values.get(number, [0])[-1]
        if not isinstance(value, int):
            raise ValueError(f"the field {number} holds no number")
        return value


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, at = _varint(data, at)
            yield number, value
            continue
        if wire == 2:
            length, at = _varint(data, at)
        elif wire in (1, 5):
            length = 8 if wire == 1 else 4
        else:
            raise ValueError(f"there is no wire type {wire}")
        if at + length > len(data):
            raise ValueError("the bytes end in the middle of a field")
        yield number, data[at : at + length]
        at += length


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & (2**64 - 1), at
    raise ValueError("an integer has too many bytes")


def _signed(value: int) -> int:
    return value - 2**64 if value >= 2**63 else value


def _node(data: bytes, functions: dict[int, str]) -> Node:
    message = _Message(data)
    if len(message.values) != 1:
        raise ValueError("an expression is one of its kinds")
    [kind] = message.values
    if kind not in (1, 2, 3, 6, 8, 11):
        return Unread(f"Substrait's expression number {kind}")
    body = _Message(message.only(kind))
    if kind == 1:
        return _literal(body)
    if kind == 2:
        return _reference(body)
    if kind == 3:
        arguments = [_Message(argument) for argument in body.parts(4)]
        return Call(
            functions[body.number(1)],
            tuple(
                _node(argument.only(3), functions) if 3 in argument.values else Unread("an argument")
                for argument in arguments
            ),
        )
    if kind == 6:
        branches = [_Message(branch) for branch in body.parts(1)]
        if len(branches) != 1 or 2 not in body.values:
            return Unread("a choice between many")
        [branch] = branches
        parts = (branch.only(1), branch.only(2), body.only(2))
        return Choice(*(_node(part, functions) for part in parts))
    if kind == 8:
        values = tuple(_node(value, functions) for value in body.parts(2))
        return AnyOf(_node(body.only(1), functions), values)
    return Unread("a cast", (_node(body.only(2), functions),))


def _reference(body: _Message) -> Node:
    # A direct reference to a field of the row itself: not to the result of an expression or an outer row.
    if set(body.values) != {1, 4}:
        return Unread("a reference to something else than a column")
    path: list[int] = []
    segment: bytes | None = body.only(1)
    while segment is not None:
        step = _Message(segment)
        if set(step.values) != {2}:
            return Unread("a reference into a list or a map")
        field = _Message(step.only(2))
        path.append(field.number(1))
        segment = field.only(2) if 2 in field.values else None
    return Field(tuple(path))


def _literal(body: _Message) -> Node:
    # Field 50 is nullability; 51 is a type variation, such as an unsigned integer.
    kinds = set(body.values) - {50}
    if len(kinds) != 1:
        return Unread("a literal of Arrow's own types")
    [kind] = kinds
    if kind == 29:
        return Value(None)
    if kind == 1:
        return Value(bool(body.number(1)))
    if kind in (2, 3, 5, 7):
        return Value(_signed(body.number(kind)))
    if kind == 10:
        return Value(float(struct.unpack("<f", body.only(10))[0]))
    if kind == 11:
        return Value(float(struct.unpack("<d", body.only(11))[0]))
    if kind == 12:
        return Value(body.text(12))
    if kind == 13:
        return Value(body.only(13))
    if kind == 16:
        return Value((_EPOCH + timedelta(days=_signed(body.number(16)))).date())
    if kind in (14, 27):
        time = _EPOCH + timedelta(microseconds=_signed(body.number(kind)))
        return Value(time if kind == 14 else time.replace(tzinfo=timezone.utc))
    if kind == 24:
        return _decimal(_Message(body.only(24)))
    return Unread("a literal of a type that is not compared")


def _decimal(body: _Message) -> Node:
    data, scale = body.only(1), body.number(3)
    if len(data) != _DECIMAL_BYTES or scale > 38:
        raise ValueError("a decimal has 16 bytes and at most 38 digits")
    unscaled = int.from_bytes(data, "little", signed=True)
    return Value(Decimal(unscaled).scaleb(-scale, Context(prec=40)))
