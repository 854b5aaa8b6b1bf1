"""Generates predicates for a given table from its own values and their neighbours."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from tests.seed import generator

from .naive_predicate import COMPARISONS, NULL, TRUE, Column, Predicate, key_of

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
DAYS = (date.min - EPOCH.date()).days, (date.max - EPOCH.date()).days
PLAIN = {
    pa.int8(): 8,
    pa.int16(): 16,
    pa.int32(): 32,
    pa.int64(): 64,
}


KINDS = {"compare": 10, "null": 3, "in": 3, "between": 3, "text": 3, "columns": 2, "flag": 2}
"""The kinds of conditions, and how often each of them is generated."""


class Generator:
    """Generates predicates over the given columns; deterministic for a label and seed."""

    def __init__(self, columns: list[Column], label: str) -> None:
        self.columns = columns
        self.compared = [column for column in columns if column.order]
        self.random = generator("predicates", label)

    def predicates(self, count: int) -> Iterator[Predicate]:
        """Yields the given number of predicates, simple ones first."""
        for index in range(count):
            yield self.leaf() if index < count // 2 else self.tree(2)

    def shapes(self, trees: int) -> Iterator[Predicate]:
        """Yields a condition of each kind, and the given number of trees."""
        for kind in KINDS:
            yield self.of_kind(kind)
        for _ in range(trees):
            yield self.tree(2)

    def tree(self, depth: int) -> Predicate:
        """Returns a tree of AND, OR and NOT."""
        if depth == 0:
            return self.leaf()
        word = self.random.choice(["and", "or", "or", "not", "leaf"])
        if word == "leaf":
            return self.leaf()
        if word == "not":
            return ~self.tree(depth - 1)
        left, right = self.tree(depth - 1), self.tree(depth - 1)
        return left & right if word == "and" else left | right

    def leaf(self) -> Predicate:
        """Returns a condition on one column or two."""
        return self.of_kind(self.random.choices(list(KINDS), list(KINDS.values()))[0])

    def of_kind(self, kind: str) -> Predicate:
        """Returns a condition of a kind, or a test for NULL if no column is fit for it."""
        made = getattr(self, f"_{kind}")() if self.compared else self._null()
        return made or self._null()

    def _compare(self) -> Predicate | None:
        column = self.random.choice(self.compared)
        found = self._value(column)
        if found is None:
            return None
        key, sql = found
        op = self.random.choice([*COMPARISONS, "<=>"])
        return Predicate(f"{column.sql} {op} {sql}", column.compared(op, key))

    def _null(self) -> Predicate:
        column = self.random.choice(self.columns)
        negated = self.random.random() < 0.5
        answers = (column.is_null != negated).astype(np.int8)
        return Predicate(f"{column.sql} IS {'NOT ' if negated else ''}NULL", answers)

    def _in(self) -> Predicate | None:
        column = self.random.choice(self.compared)
        values = [found for _ in range(3) if (found := self._value(column))]
        if not values:
            return None
        texts = [sql for _, sql in values]
        answers = np.max([column.compared("=", key) for key, _ in values], axis=0)
        if self.random.random() < 0.2:
            texts.append("NULL")
            answers = np.where(answers == TRUE, TRUE, NULL)
        answers = np.where(column.is_null, NULL, answers)
        made = Predicate(f"{column.sql} IN ({', '.join(texts)})", answers)
        return self._perhaps_not(made, f"{column.sql} NOT IN ({', '.join(texts)})")

    def _between(self) -> Predicate | None:
        column = self.random.choice(self.compared)
        low, high = self._value(column), self._value(column)
        if low is None or high is None:
            return None
        both = Predicate("", column.compared(">=", low[0]))
        both &= Predicate("", column.compared("<=", high[0]))
        both.sql = f"{column.sql} BETWEEN {low[1]} AND {high[1]}"
        return self._perhaps_not(both, f"{column.sql} NOT BETWEEN {low[1]} AND {high[1]}")

    def _text(self) -> Predicate | None:
        texts = [column for column in self.compared if pa.types.is_string(column.kind)]
        if not texts:
            return None
        column = self.random.choice(texts)
        key = self.random.choice(column.order).decode()
        prefix = key[: self.random.choice([0, 1, 2, 5, 32, 33])]
        if _quoted(prefix) is None:
            return None
        sought = prefix.encode()
        name, holds = self.random.choice(
            [
                (f"startswith({column.sql}, {_quoted(prefix)})", bytes.startswith),
                (f"endswith({column.sql}, {_quoted(prefix)})", bytes.endswith),
                (f"contains({column.sql}, {_quoted(prefix)})", bytes.__contains__),
            ]
        )
        if name.startswith("starts") and not {"%", "_"} & set(prefix) and self.random.random() < 0.5:
            name = f"{column.sql} LIKE {_quoted(prefix + '%')}"
        of_values = [int(holds(key, sought)) for key in column.order]
        return Predicate(name, np.array([*of_values, NULL], dtype=np.int8)[column.ranks])

    def _columns(self) -> Predicate | None:
        left = self.random.choice(self.compared)
        others = [column for column in self.compared if column.kind == left.kind]
        right = self.random.choice(others)
        op = self.random.choice([*COMPARISONS, "<=>"])
        return Predicate(f"{left.sql} {op} {right.sql}", left.compared_with(op, right))

    def _flag(self) -> Predicate | None:
        flags = [column for column in self.compared if pa.types.is_boolean(column.kind)]
        if not flags:
            return self._compare()
        column = self.random.choice(flags)
        return Predicate(column.sql, column.compared("=", True))

    def _perhaps_not(self, made: Predicate, negated: str) -> Predicate:
        if self.random.random() < 0.7:
            return made
        return Predicate(negated, (~made).answers)

    def _value(self, column: Column) -> tuple[Any, str] | None:
        """Returns key and literal of a column value or a neighbour; None if no literal is exact."""
        near = self.random.choice([0, 0, 0, 1, -1])
        return _literal(self.random.choice(column.order), column.kind, near)


def _literal(key: Any, kind: pa.DataType, near: int) -> tuple[Any, str] | None:
    if bits := PLAIN.get(kind):
        value = max(min(key + near, 2 ** (bits - 1) - 1), 1 - 2 ** (bits - 1))
        return value, str(value)
    if pa.types.is_floating(kind):
        return _floating(key, kind, near)
    if pa.types.is_decimal(kind):
        unit = Decimal(1).scaleb(-kind.scale)
        value = key + near * unit
        if abs(value) >= Decimal(1).scaleb(kind.precision - kind.scale):
            value = key
        return value, f"CAST('{value:f}' AS DECIMAL({kind.precision}, {kind.scale}))"
    if pa.types.is_date32(kind):
        value = key + near
        if not DAYS[0] < value < DAYS[1]:
            return None
        return value, f"DATE '{date.fromordinal(EPOCH.toordinal() + value).isoformat()}'"
    if pa.types.is_timestamp(kind):
        value = key + near
        if not DAYS[0] < value // 86_400_000_000 < DAYS[1]:
            return None
        text = f"{EPOCH + timedelta(microseconds=value):%Y-%m-%d %H:%M:%S.%f}".zfill(26)
        return value, f"TIMESTAMP '{text}Z'" if kind.tz else f"TIMESTAMP_NTZ '{text}'"
    if pa.types.is_boolean(kind):
        return key, str(key).upper()
    if pa.types.is_binary(kind):
        value = key + b"\0" if near > 0 else key[:near] if near else key
        return value, f"X'{value.hex()}'"
    value = key.decode() + "a" if near > 0 else key.decode()[: near or None]
    sql = _quoted(value)
    return None if sql is None else (key_of(value, kind), sql)


def _floating(key: tuple[bool, float], kind: pa.DataType, near: int) -> tuple[Any, str]:
    is_single = kind == pa.float32()
    number: Any = np.float32(key[1]) if is_single else np.float64(key[1])
    if key[0]:
        number = type(number)(math.nan)
    elif near:
        number = np.nextafter(number, type(number)(near * math.inf))
    text = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(str(number), str(number))
    return key_of(float(number), kind), f"CAST('{text}' AS {'FLOAT' if is_single else 'DOUBLE'})"


def _quoted(text: str) -> str | None:
    # Escape sequences differ between dialects; separate tests cover such strings.
    return None if any(one in "'\\" or ord(one) < 32 for one in text) else f"'{text}'"
