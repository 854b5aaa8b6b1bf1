"""Random conditions and values, as SQL text and as functions of a row with Spark's semantics."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from tests.golden.naive_predicate import COMPARISONS, key_of

from .values import CONTEXT, INTEGERS, Row, is_leaf, literal, neighbour, quoted, random_value, single


class Overflow(Exception):
    """A value does not fit its type: Spark raises an error, and the verb changes nothing."""


@dataclass(frozen=True)
class Expression:
    """A condition or a value of a row."""

    sql: str
    kind: pa.DataType
    of: Callable[[Row], Any]
    is_char: bool = False
    """Whether it is a column of the type char(n): comparisons pad the shorter text."""

    def __str__(self) -> str:
        return self.sql

    def holds(self, row: Row) -> bool:
        """Whether a condition is true, not false or NULL."""
        return self.of(row) is True


def leaves_of(schema: pa.Schema, chars: Collection[str] = ()) -> Iterator[Expression]:
    """Yields the primitive columns and fields of structs; `chars` are the columns of the type char(n)."""
    for field in schema:
        if is_leaf(field.type):
            is_char = field.name in chars
            yield Expression(quoted(field.name), field.type, lambda row, name=field.name: row[name], is_char)
        elif pa.types.is_struct(field.type):
            for inner in field.type:
                if is_leaf(inner.type):
                    yield Expression(
                        f"{quoted(field.name)}.{quoted(inner.name)}",
                        inner.type,
                        lambda row, name=field.name, part=inner.name: (row[name] or {}).get(part),
                    )


class Conditions:
    """Generates conditions on the columns of a schema, with values of the given rows and their neighbours."""

    def __init__(
        self, schema: pa.Schema, rows: list[Row], chance: random.Random, chars: Collection[str] = ()
    ) -> None:
        self.schema = schema
        self.leaves = list(leaves_of(schema, chars))
        self.rows = rows
        self.chance = chance

    def condition(self, depth: int = 2) -> Expression:
        """Returns a condition, nested at most so deep."""
        word = self.chance.choice(["leaf", "leaf", "and", "or", "not"]) if depth else "leaf"
        if word == "leaf" or not self.leaves:
            return self._leaf()
        left = self.condition(depth - 1)
        if word == "not":
            return _bool(f"NOT ({left})", lambda row: _not(left.of(row)))
        right = self.condition(depth - 1)
        if word == "and":
            return _bool(f"({left} AND {right})", lambda row: conjunction(left.of(row), right.of(row)))
        return _bool(
            f"({left} OR {right})", lambda row: _not(conjunction(_not(left.of(row)), _not(right.of(row))))
        )

    def _leaf(self) -> Expression:
        if not self.leaves:
            return self._null()
        shapes = [
            self._compare,
            self._compare,
            self._null,
            self._in,
            self._between,
            self._text,
            self._columns,
        ]
        return self.chance.choice(shapes)()

    def _value(self, column: Expression) -> Any:
        if self.rows and self.chance.random() < 0.8:
            found = column.of(self.chance.choice(self.rows))
            if found is not None:
                return neighbour(found, column.kind, self.chance)
        return random_value(column.kind, self.chance, 0.0)

    def _compare(self) -> Expression:
        column = self.chance.choice(self.leaves)
        value = self._value(column)
        op = self.chance.choice(["=", "=", "<>", "<", "<=", ">", ">=", "<=>"])
        sql = f"{column} {op} {literal(value, column.kind)}"
        return _bool(sql, lambda row: compared(op, column.of(row), value, column.kind, pads=column.is_char))

    def _null(self) -> Expression:
        field = self.chance.choice(list(self.schema))
        negated = self.chance.random() < 0.5
        sql = f"{quoted(field.name)} IS {'NOT ' if negated else ''}NULL"
        return _bool(sql, lambda row: (row[field.name] is None) != negated)

    def _in(self) -> Expression:
        column = self.chance.choice(self.leaves)
        values = [self._value(column) for _ in range(self.chance.randint(1, 4))]
        padded = trimmed if column.is_char else lambda value: value
        keys = {key_of(padded(value), column.kind) for value in values}
        negated = self.chance.random() < 0.3
        texts = ", ".join(literal(value, column.kind) for value in values)
        sql = f"{column} {'NOT ' if negated else ''}IN ({texts})"

        def of(row: Row) -> bool | None:
            value = column.of(row)
            return None if value is None else (key_of(padded(value), column.kind) in keys) != negated

        return _bool(sql, of)

    def _between(self) -> Expression:
        column = self.chance.choice(self.leaves)
        low, high = self._value(column), self._value(column)
        kind = column.kind
        sql = f"{column} BETWEEN {literal(low, kind)} AND {literal(high, kind)}"
        return _bool(
            sql,
            lambda row: conjunction(
                compared(">=", column.of(row), low, kind), compared("<=", column.of(row), high, kind)
            ),
        )

    def _text(self) -> Expression:
        texts = [leaf for leaf in self.leaves if pa.types.is_string(leaf.kind)]
        if not texts:
            return self._compare()
        column = self.chance.choice(texts)
        text = self._value(column)[: self.chance.choice([0, 1, 2, 33])]
        name, test = self.chance.choice(
            [("startswith", str.startswith), ("endswith", str.endswith), ("contains", str.__contains__)]
        )
        sql = f"{name}({column}, {literal(text, pa.string())})"
        return _bool(sql, lambda row: None if (value := column.of(row)) is None else bool(test(value, text)))

    def _columns(self) -> Expression:
        left = self.chance.choice(self.leaves)
        right = self.chance.choice([leaf for leaf in self.leaves if leaf.kind == left.kind])
        op = self.chance.choice([*COMPARISONS, "<=>"])
        pads = left.is_char and right.is_char
        return _bool(
            f"{left} {op} {right}",
            lambda row: compared(op, left.of(row), right.of(row), left.kind, pads=pads),
        )


class Values:
    """Generates new values for columns, as an UPDATE sets them."""

    def __init__(self, schema: pa.Schema, pool: Callable[[str], Any], chance: random.Random) -> None:
        self.schema = schema
        self.pool = pool
        self.chance = chance

    def value(self, field: pa.Field) -> Expression:
        """Returns a value that the column can be set to; it may violate what the table requires."""
        kind = field.type
        shapes: list[Callable[[pa.Field], Expression]] = [self._other_column]
        if is_leaf(kind):
            shapes += [self._literal, self._literal]
        # Of wider decimals, Spark's result has fewer digits after the point.
        is_decimal = pa.types.is_decimal(kind) and kind.precision <= 18
        if kind in INTEGERS or pa.types.is_floating(kind) or is_decimal:
            shapes += [self._computed, self._computed]
        if self.chance.random() < 0.1:
            return Expression("NULL", kind, lambda _: None)
        return self.chance.choice(shapes)(field)

    def _literal(self, field: pa.Field) -> Expression:
        value = self.pool(field.name)
        return Expression(literal(value, field.type), field.type, lambda _: value)

    def _other_column(self, field: pa.Field) -> Expression:
        other = self.chance.choice([other for other in self.schema if other.type == field.type])
        return Expression(quoted(other.name), field.type, lambda row: row[other.name])

    def _computed(self, field: pa.Field) -> Expression:
        op, number = self.chance.choice("+-*"), self.chance.choice([0, 1, 2, 3, 100])
        column, kind = quoted(field.name), field.type
        if pa.types.is_floating(kind):
            sql = f"{column} {op} {number}.5D"
            sql = f"CAST({sql} AS FLOAT)" if kind == pa.float32() else sql
            return Expression(sql, kind, lambda row: floating(op, row[field.name], number + 0.5, kind))
        return Expression(
            f"{column} {op} {number}", kind, lambda row: exact(op, row[field.name], number, kind)
        )


def floating(op: str, value: float | None, number: float, kind: pa.DataType) -> float | None:
    """Returns the result of a float or double and a double, as the column's type."""
    if value is None:
        return None
    found = {"+": value + number, "-": value - number, "*": value * number}[op]
    return single(found) if kind == pa.float32() else found


def exact(op: str, value: Any, number: int, kind: pa.DataType) -> Any:
    """Returns the result of integers or decimals, computed in Spark's type and assigned to the column's."""
    if value is None:
        return None
    if pa.types.is_decimal(kind):
        found = {"+": CONTEXT.add, "-": CONTEXT.subtract, "*": CONTEXT.multiply}[op](value, number)
        if abs(found) >= CONTEXT.scaleb(1, kind.precision - kind.scale):
            raise Overflow(f"{value} {op} {number}")
        return CONTEXT.quantize(found, CONTEXT.scaleb(1, -kind.scale))
    found = {"+": value + number, "-": value - number, "*": value * number}[op]
    limit = 2 ** (INTEGERS[kind] - 1)
    if not -limit <= found < limit:
        raise Overflow(f"{value} {op} {number}")
    return found


def _bool(sql: str, of: Callable[[Row], bool | None]) -> Expression:
    return Expression(sql, pa.bool_(), of)


def trimmed(text: str | None) -> str | None:
    """Returns a text without the spaces at its end, in which padded texts differ."""
    return None if text is None else text.rstrip(" ")


def compared(op: str, left: Any, right: Any, kind: pa.DataType, *, pads: bool = False) -> bool | None:
    """Returns the result of a comparison, of texts of one length if it pads; None for NULL."""
    if pads and left is not None and right is not None:
        length = max(len(left), len(right))
        left, right = left.ljust(length), right.ljust(length)
    left, right = key_of(left, kind), key_of(right, kind)
    if op == "<=>":
        return left == right
    return None if left is None or right is None else bool(COMPARISONS[op](left, right))


def _not(value: bool | None) -> bool | None:
    return None if value is None else not value


def conjunction(left: bool | None, right: bool | None) -> bool | None:
    """Returns the result of AND in three-valued logic."""
    if left is False or right is False:
        return False
    return None if left is None or right is None else True
