"""Predicates built in Python: `col("amount") > 9.5` instead of SQL text.

An `Expression` only renders itself as SQL, with Spark's syntax of names and literals. The only parser is in
the Rust core, so that a predicate means the same in both forms.
"""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Iterable
from datetime import date, datetime, time, timezone
from decimal import Decimal
from typing import NoReturn

__all__ = ["Expression", "Literal", "col"]

Literal = bool | int | float | Decimal | str | bytes | date | datetime
"""A Python value that a column can be compared with."""

_MAX_DECIMAL_DIGITS = 38


class Expression:
    """A column or a condition on columns; `str()` is its SQL text.

    Comparisons (``==  !=  <  <=  >  >=``) and `is_null`, `is_in`, … make conditions; ``&``, ``|`` and
    ``~`` combine them by SQL's three-valued logic. As in Python generally, ``&`` and ``|`` bind tighter than
    comparisons, so comparisons need parentheses.

    >>> print((col("day") >= date(2026, 11, 1)) & ((col("region") == "EU") | (col("amount") > 9.5)))
    (`day` >= DATE '2026-11-01') AND ((`region` = 'EU') OR (`amount` > 9.5D))
    """

    __slots__ = ("_sql",)

    # Otherwise NumPy scalars would treat a comparison with an expression as one with an array.
    __array_ufunc__ = None

    def __init__(self, sql: str) -> None:
        self._sql = sql

    @property
    def sql(self) -> str:
        """The SQL text, as `Snapshot.scan(predicate=…)` takes it."""
        return self._sql

    def __str__(self) -> str:
        return self._sql

    def __repr__(self) -> str:
        return f"<deltaic.Expression {self._sql}>"

    # Equality builds a condition, not a bool, so expressions cannot be members of a set.
    def __eq__(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, other: object
    ) -> Expression:
        return self._compare("=", other)

    def __ne__(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, other: object
    ) -> Expression:
        return self._compare("!=", other)

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __lt__(self, other: Literal | Expression) -> Expression:
        return self._compare("<", other)

    def __le__(self, other: Literal | Expression) -> Expression:
        return self._compare("<=", other)

    def __gt__(self, other: Literal | Expression) -> Expression:
        return self._compare(">", other)

    def __ge__(self, other: Literal | Expression) -> Expression:
        return self._compare(">=", other)

    def eq_null_safe(self, other: Literal | Expression | None) -> Expression:
        """Equality that treats two NULLs as equal and is never NULL itself.

        >>> print(col("region").eq_null_safe(None))
        `region` <=> NULL
        """
        return Expression(f"{_operand(self)} <=> {'NULL' if other is None else _operand(other)}")

    def is_null(self) -> Expression:
        """True if the value is NULL, else false.

        >>> print(col("region").is_null())
        `region` IS NULL
        """
        return Expression(f"{_operand(self)} IS NULL")

    def is_not_null(self) -> Expression:
        """True if the value is not NULL, else false.

        >>> print(col("region").is_not_null())
        `region` IS NOT NULL
        """
        return Expression(f"{_operand(self)} IS NOT NULL")

    def is_in(self, values: Iterable[Literal | None]) -> Expression:
        """True if the value is one of `values`; NULL if it is not and one of them is None.

        False for every row if `values` is empty.

        >>> print(col("region").is_in(["EU", "US"]))
        `region` IN ('EU', 'US')
        """
        if isinstance(values, (str, bytes)):
            raise TypeError(f"is_in() takes a list of values: write is_in([{values!r}])")
        literals = ["NULL" if value is None else literal(value) for value in values]
        # SQL has no empty list.
        return Expression(f"{_operand(self)} IN ({', '.join(literals)})" if literals else "FALSE")

    def between(self, low: Literal | Expression, high: Literal | Expression) -> Expression:
        """True if ``low <= value <= high``: both bounds are inclusive.

        >>> print(col("month").between(3, 5))
        `month` BETWEEN 3 AND 5
        """
        return Expression(f"{_operand(self)} BETWEEN {_operand(low)} AND {_operand(high)}")

    def starts_with(self, prefix: str) -> Expression:
        """True if a string begins with `prefix`, taken literally: ``%`` and ``_`` are not wildcards.

        >>> print(col("name").starts_with("10%"))
        startswith(`name`, '10%')
        """
        return self._text_test("startswith", prefix)

    def ends_with(self, suffix: str) -> Expression:
        """True if a string ends with `suffix`, taken literally.

        >>> print(col("name").ends_with("_id"))
        endswith(`name`, '_id')
        """
        return self._text_test("endswith", suffix)

    def contains(self, part: str) -> Expression:
        """True if a string contains `part`, taken literally.

        >>> print(col("name").contains("50%"))
        contains(`name`, '50%')
        """
        return self._text_test("contains", part)

    def like(self, pattern: str, escape: str = "\\") -> Expression:
        r"""True if a whole string matches a pattern: ``_`` matches one character, ``%`` any number of them.

        After the character `escape`, each of the two, and the escape itself, is literal.

        Raises:
            ValueError: The escape is not one character.

        >>> print(col("name").like("A%"))
        `name` LIKE 'A%'
        >>> print(col("discount").like("10!%", escape="!"))
        `discount` LIKE '10!%' ESCAPE '!'
        """
        if len(escape) != 1:
            raise ValueError(f"the escape of a pattern must be one character, not {escape!r}")
        behind = "" if escape == "\\" else f" ESCAPE {literal(escape)}"
        return Expression(f"{_operand(self)} LIKE {_text(pattern)}{behind}")

    def is_nan(self) -> Expression:
        """True if a floating-point number is NaN; false for NULL.

        >>> print(col("ratio").is_nan())
        isnan(`ratio`)
        """
        return Expression(f"isnan({self._sql})")

    def __and__(self, other: Expression | bool) -> Expression:
        return self._combine("AND", other)

    def __or__(self, other: Expression | bool) -> Expression:
        return self._combine("OR", other)

    def __rand__(self, other: bool) -> Expression:
        return _condition(other) & self

    def __ror__(self, other: bool) -> Expression:
        return _condition(other) | self

    def __invert__(self) -> Expression:
        return Expression(f"NOT {_operand(self)}")

    def __bool__(self) -> NoReturn:
        raise TypeError(
            f"the condition {self._sql} has no truth value until it is evaluated on rows: combine conditions "
            "with & | ~ instead of and, or, not (comparisons in parentheses), and write low <= x <= high as "
            "x.between(low, high)"
        )

    def __iter__(self) -> NoReturn:
        raise TypeError(f"the expression {self._sql} is not a sequence")

    def _compare(self, operator: str, other: object) -> Expression:
        if other is None:
            use = "is_not_null()" if operator == "!=" else "is_null()"
            raise TypeError(f"a comparison with NULL is true for no row: use {use}, or eq_null_safe(None)")
        return Expression(f"{_operand(self)} {operator} {_operand(other)}")

    def _combine(self, operator: str, other: object) -> Expression:
        return _Chain(operator, [*_links(self, operator), *_links(_condition(other), operator)])

    def _text_test(self, function: str, part: str) -> Expression:
        return Expression(f"{function}({self._sql}, {_text(part)})")


class _Chain(Expression):
    """Conditions joined by one operator in a flat list, because the parser limits the nesting depth."""

    __slots__ = ("links", "word")

    def __init__(self, word: str, links: list[str]) -> None:
        super().__init__(f" {word} ".join(links))
        self.word = word
        self.links = links


def _links(condition: Expression, word: str) -> list[str]:
    if isinstance(condition, _Chain) and condition.word == word:
        return condition.links
    return [_operand(condition)]


_NAME = re.compile(r"`(?:[^`]|``)+`(?:\.`(?:[^`]|``)+`)*")
_PART = re.compile(r"`(?P<quoted>(?:[^`]|``)+)`|(?P<plain>[^.`]+)")


def col(name: str) -> Expression:
    """Refers to a column by name.

    A dot selects a nested field, as in SQL: ``col("address.city")``. A name that contains a dot is quoted in
    backticks: ``col("`address.city`")``.

    Raises:
        ValueError: The name is empty or its backticks do not match.

    >>> print(col("address.city") == "Rome")
    `address`.`city` = 'Rome'
    >>> print(col("`address.city`") == "Rome")
    `address.city` = 'Rome'
    """
    parts: list[str] = []
    position = 0
    while True:
        part = _PART.match(name, position)
        if part is None:
            break
        quoted: str | None = part["quoted"]
        parts.append(part["plain"].replace("`", "``") if quoted is None else quoted)
        position = part.end()
        if position == len(name):
            return Expression(".".join(f"`{text}`" for text in parts))
        if name[position] != ".":
            break
        position += 1
    raise ValueError(
        f"{name!r} is not a column name: write a, or a.b for a field of a struct, or `a.b` in backticks "
        "for a name with a dot (a backtick inside is doubled)"
    )


def literal(value: object) -> str:
    """Renders a Python value as SQL text, of the SQL type that represents it exactly.

    An aware datetime becomes a TIMESTAMP in UTC, a naive one a TIMESTAMP_NTZ.

    Raises:
        TypeError: No SQL type represents such a value.
        ValueError: The value is outside of the range of the SQL type.

    >>> literal(9.5), literal(Decimal("9.50")), literal("it's")
    ('9.5D', '9.50BD', "'it''s'")
    >>> literal(datetime(2026, 11, 1, 12, tzinfo=timezone.utc))
    "TIMESTAMP '2026-11-01 12:00:00Z'"
    >>> literal(float("nan"))
    "CAST('NaN' AS DOUBLE)"
    """
    # The order matters: bool is an int, datetime is a date.
    if isinstance(value, bool) or _is_numpy_bool(value):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        # Spark reads a backslash in a literal as an escape and two quotes as one.
        return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'"
    if isinstance(value, (bytes, bytearray)):
        return f"X'{bytes(value).hex().upper()}'"
    if isinstance(value, datetime):
        return _timestamp(value)
    if isinstance(value, date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, Decimal):
        return _decimal(value)
    # Abstract classes, so that NumPy scalars are accepted.
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Rational):
        return _double(float(value))
    raise TypeError(
        f"a value of type {type(value).__name__} cannot be used in a predicate: "
        "use bool, int, float, Decimal, str, bytes, date or datetime"
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a text is expected, not {type(value).__name__}")
    return literal(value)


def _is_numpy_bool(value: object) -> bool:
    # The one NumPy scalar that is not registered with the abstract classes of `numbers`.
    return getattr(getattr(value, "dtype", None), "kind", None) == "b" and getattr(value, "ndim", None) == 0


def _double(value: float) -> str:
    if math.isnan(value):
        return "CAST('NaN' AS DOUBLE)"
    if math.isinf(value):
        return f"CAST('{'-' if value < 0 else ''}Infinity' AS DOUBLE)"
    return f"{value!r}D"


def _decimal(value: Decimal) -> str:
    if not value.is_finite():
        raise ValueError(f"the decimal {value} is not a number that SQL can hold")
    text = format(value, "f")
    if sum(character.isdigit() for character in text.lstrip("-0.")) > _MAX_DECIMAL_DIGITS:
        raise ValueError(f"the decimal {value} has more than {_MAX_DECIMAL_DIGITS} digits")
    return f"{text}BD"


def _timestamp(value: datetime) -> str:
    if getattr(value, "nanosecond", 0):
        raise ValueError(
            f"{value} is finer than a microsecond, which a timestamp cannot hold: round it first"
        )
    zoned = value.utcoffset() is not None
    utc = value.astimezone(timezone.utc) if zoned else value
    # Built from its parts: subclasses (pandas) have another text format.
    clock = time(utc.hour, utc.minute, utc.second, utc.microsecond)
    text = f"{date(utc.year, utc.month, utc.day).isoformat()} {clock.isoformat()}"
    return f"TIMESTAMP '{text}Z'" if zoned else f"TIMESTAMP_NTZ '{text}'"


def _operand(value: object) -> str:
    if not isinstance(value, Expression):
        return literal(value)
    # A name needs no parentheses; everything else gets them, regardless of precedence.
    return value.sql if _NAME.fullmatch(value.sql) else f"({value.sql})"


def _condition(value: object) -> Expression:
    if isinstance(value, Expression):
        return value
    if isinstance(value, bool):
        return Expression(literal(value))
    raise TypeError(
        f"a condition can only be combined with another condition, not with {type(value).__name__}: "
        "put comparisons in parentheses, (col('a') > 1) & (col('b') < 2)"
    )
