"""Generates thousands of predicates from a seed, most of them well typed."""

from __future__ import annotations

from tests.seed import generator

from .predicate_rows import VALUES

_NUMBERS = [
    "0", "1", "-1", "5", "127", "128", "-128", "-129", "32768", "2147483647", "-2147483648", "2147483648",
    "9223372036854775807", "-9223372036854775808", "9223372036854775808", "99999999999999999999",
    "5Y", "-128Y", "5S", "5L", "9007199254740993", "1.5", "1.50", "-0.01", "0.005", "1.005", "999.99",
    "1000.0",
    ".1", "5.", "0.1", "127.5", "-128.5", "0.00000000005", "1.5BD", "1e2BD", "1.5D", "0.1D", "-0.0D", "1e300",
    "5e-324D", "9007199254740993D", "9.3e18", "1.5F", "0.1F", "16777217F", "3.4e38F", "CAST('NaN' AS DOUBLE)",
    "CAST('Infinity' AS DOUBLE)", "CAST('-inf' AS FLOAT)", "CAST('nan' AS FLOAT)",
]  # fmt: skip
_TEXTS = [
    "''", "'a'", "'ab'", "'abc'", "'a%b'", r"'a\\b'", "'it''s'", r"'it\'s'", '"it\'s"', "'é'", "'\U0001f600'",
    r"'\u00e9'", r"'\U0001F600'", r"r'a\b'", "'a' 'b'", r"'x\ny'", "' 5 '", "'5'", "'true'", r"'\141'",
]  # fmt: skip
_DATES = [
    "DATE '2026-01-01'", "DATE '1970-1-1'", "DATE '1969-12-31'", "DATE '0001-01-01'", "DATE '9999-12-31'",
    "DATE '+10000-01-01'", "DATE '2026'", "DATE '2026-01'", "DATE 'epoch'", "DATE '2026-01-01' + 1",
    "DATE '2026-01-02' - INTERVAL 1 DAY", "DATE '2026-01-31' + INTERVAL 1 MONTH", "DATE '1970-01-01T'",
    "DATE '2024-02-29' + INTERVAL '1' YEAR", "DATE '2025-12-18' + INTERVAL 2 WEEKS", "1 + DATE '1969-12-31'",
]  # fmt: skip
_TIMES = [
    "TIMESTAMP '2026-01-01'", "TIMESTAMP '2026-01-01 12:00:00.5'", "TIMESTAMP '2026-01-01T12:00:00.5Z'",
    "TIMESTAMP '2026-01-01 13:00:00.5+01:00'", "TIMESTAMP '2026-01-01 13:00:00.5 Europe/Rome'",
    "TIMESTAMP '2026-01-01 04:00:00.5 America/Los_Angeles'", "TIMESTAMP '2026-01-01 17:30:00.5Asia/Kolkata'",
    "TIMESTAMP '1970-01-01 00:00:00.0000019'", "TIMESTAMP '1969-12-31 23:59:59.999999'", "TIMESTAMP 'epoch'",
    "TIMESTAMP '1970-01-01 1:0:0 +1'", "TIMESTAMP '1970-1-1 1:0:0UTC+1'", "TIMESTAMP '0001-01-01'",
    "TIMESTAMP_NTZ '2026-01-01 12:00:00.5'", "TIMESTAMP_NTZ '1970-01-01'",
    "TIMESTAMP_NTZ '2026-01-01T00:00:00Z'",
    "TIMESTAMP_LTZ '1970-01-01 00:00'", "TIMESTAMP '2026-01-02' - INTERVAL 12 HOURS",
    "DATE '1970-01-01' + INTERVAL 1 HOUR", "TIMESTAMP '2026-01-02 12:00:00.5' - INTERVAL '1 day'",
    "TIMESTAMP '1970-01-01' + INTERVAL 1 MICROSECOND", "TIMESTAMP_NTZ '2025-12-01' + INTERVAL 1 MONTH",
    "CAST('1970-01-02 00:00:00' AS TIMESTAMP)", "CAST(DATE '1970-01-02' AS TIMESTAMP_NTZ)",
    "CAST(86400 AS TIMESTAMP)",
]  # fmt: skip
_TIME_TEXTS = [
    "'2026-01-01'", "'1970-01-01'", "'1970-01-01 00:00:00'", "'2026-01-01T12:00:00.5Z'", "'2026-1-1'",
    "'1970'",
    "'2026-01-01 13:00:00.5 Europe/Rome'", "'soon'", "'1970-01-01 00:00:00.000001'", "'1970-01-01x'",
    "' 1970-01-02 '",
]  # fmt: skip
_NUMBER_TEXTS = ["'5'", "' 5 '", "'1.5'", "'-1'", "'1e2'", "'NaN'", "'inf'", "'x'", "''", "'+5'", "'1.5d'"]
_BYTES = ["X''", "X'00'", "X'61'", "X'ab'", "X'FF00'", "'a'", "CAST('é' AS BINARY)", "X'F'"]
_UNITS = ["YEAR", "MONTHS", "WEEK", "DAY", "HOURS", "MINUTE", "SECONDS", "MILLISECOND", "MICROSECONDS"]
_TRUTHS = ["TRUE", "FALSE", "NULL", "'true'", "'no'", "1 = 1", "CAST(1 AS BOOLEAN)"]
_NULLS = ["NULL", "CAST(NULL AS INT)", "CAST(NULL AS STRING)", "CAST(NULL AS DATE)", "NULL + 1"]
_PATTERNS = [
    "'a%'", "'%b'", "'%b%'", "'a_b'", "'_'", "'__'", "''", "'%'", r"'a\\%b'", r"'a\\_b'", r"'a\%b'",
    "'a!%b' ESCAPE '!'",
    "'%a%b%'", r"'a\\\\b'", r"'x_y'", "'é'", "'_%_'", "'!' ESCAPE '!'", "'a!x' ESCAPE '!'", "NULL", "'5'",
    "5",
]  # fmt: skip
_TYPES = [
    "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(5,2)", "DECIMAL(3,0)", "DECIMAL",
    "STRING",
    "BINARY", "BOOLEAN", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ",
]  # fmt: skip
_COMPARISONS = ["=", "==", "<>", "!=", "<", "<=", ">", ">=", "<=>"]
_SHAPES = [
    *["{column} {op} {first}"] * 7,
    *["{first} {op} {column}"] * 2,
    *["{column} {maybe_not}IN ({items})"] * 3,
    *["{column} {maybe_not}BETWEEN {first} AND {second}"] * 2,
    "{column} IS {maybe_not}NULL",
    "isnotnull({column})",
    "nest IS {maybe_not}NULL",
    "{column} {op} {other}",
    "flag IS {maybe_not}{truth}",
    "({column} {op} {first}) IS {maybe_not}{truth}",
    "{column} IS {maybe_not}DISTINCT FROM {first}",
    "{first} {op} {second}",
]
_OF_TEXTS = [*["{column} {maybe_not}LIKE {pattern}"] * 6, *["{test}({column}, {text})"] * 4]
_NUMBERS_COLUMNS = ["t8", "i16", "i32", "i64", "f32", "f64", "dec", "big", "nest.n"]


class Maker:
    """Generates predicates; deterministic for a label and seed."""

    def __init__(self, label: str) -> None:
        self._random = generator("predicate texts", label)
        self._pools = {
            **dict.fromkeys(_NUMBERS_COLUMNS, _NUMBERS),
            "txt": _TEXTS,
            "nest.s": _TEXTS,
            "bin": _BYTES,
            "day": _DATES,
            "ts": _TIMES,
            "ntz": _TIMES,
            "flag": _TRUTHS,
        }
        self._loose = {
            **dict.fromkeys(_NUMBERS_COLUMNS, _NUMBER_TEXTS),
            "day": _TIME_TEXTS + _TIMES,
            "ts": _TIME_TEXTS + _DATES,
            "ntz": _TIME_TEXTS + _DATES,
            "txt": _NUMBERS,
            "nest.s": _TEXTS,
            "bin": _TEXTS,
            "flag": _TRUTHS,
        }

    def _one(self, *of: str) -> str:
        return self._random.choice(of)

    def _chance(self, share: float) -> bool:
        return self._random.random() < share

    def column(self) -> str:
        """Returns a column that can be compared."""
        return self._one(*self._pools)

    def arithmetic(self) -> str:
        """Returns an arithmetic expression."""
        left, right = (self._one(*_NUMBERS[:36]) for _ in range(2))
        operator = self._one("+", "-", "*", "/", "%", "DIV")
        shape = self._one(
            "{0} {2} {1}", "({0} {2} {1})", "-({0}) {2} {1}", "{0} {2} {1} * 2", "- {0} {2} ({1})"
        )
        return shape.format(left, right, operator)

    def cast(self) -> str:
        """Returns a literal cast to another type."""
        literal = self._one(
            *_NUMBERS, *_TEXTS, *_DATES, *_TIMES, *_TIME_TEXTS, *_NUMBER_TEXTS, *_BYTES, *_TRUTHS
        )
        kind = self._one(*_TYPES)
        if self._chance(0.15) and " " not in literal:
            return f"{literal}::{kind}"
        return f"{self._one('CAST', 'CAST', 'TRY_CAST')}({literal} AS {kind})"

    def constant(self) -> str:
        """Returns an expression of literals only."""
        dice = self._random.random()
        if dice < 0.35:
            return self.cast()
        if dice < 0.75:
            return self.arithmetic()
        if dice < 0.9:
            date = self._one(*_DATES, *_TIMES)
            count, unit = self._one("1", "'30'", "-5", "400"), self._one(*_UNITS)
            return f"{date} {self._one('+', '-')} INTERVAL {count} {unit}"
        return self._one(*_NUMBERS, *_TEXTS, *_DATES, *_TIMES, *_BYTES, *_NULLS)

    def literal(self, column: str) -> str:
        """Returns a literal, mostly of a type that can be compared with the column."""
        dice = self._random.random()
        if dice < 0.75:
            return self._one(*self._pools[column])
        if dice < 0.83:
            return self._one(*self._loose[column])
        if dice < 0.9 and column in _NUMBERS_COLUMNS:
            return self.arithmetic()
        if dice < 0.95:
            return self._one(*_NULLS[:1] if self._chance(0.7) else _NULLS)
        if dice < 0.985:
            return self.cast()
        return self._one(*_NUMBERS, *_TEXTS, *_DATES, *_TIMES, *_BYTES, *_TRUTHS)

    def _fellow(self, column: str) -> str:
        """Returns another column, mostly of a comparable type."""
        if self._chance(0.1):
            return self.column()
        groups = [_NUMBERS_COLUMNS, ["txt", "nest.s"], ["day", "ts", "ntz"], ["bin"], ["flag"]]
        return self._one(*next(group for group in groups if column in group))

    def leaf(self) -> str:
        """Returns a single condition."""
        column = self.column()
        shapes = [*_SHAPES]
        if column in {"txt", "nest.s"}:
            shapes += _OF_TEXTS
        if column in {"f32", "f64"}:
            shapes += ["isnan({column})"]
        return self._one(*shapes).format(
            column=column,
            other=self._fellow(column),
            first=self.literal(column),
            second=self.literal(column),
            items=", ".join(self.literal(column) for _ in range(self._random.randint(1, 5))),
            op=self._one(*_COMPARISONS),
            maybe_not=self._one("", "NOT "),
            truth=self._one("TRUE", "FALSE", "UNKNOWN", "NULL"),
            pattern=self._one(*_PATTERNS),
            text=self._one(*_TEXTS, "NULL"),
            test=self._one("startswith", "endswith", "contains"),
        )

    def predicate(self, depth: int = 0) -> str:
        """Returns one condition, or several combined."""
        if depth > 2 or self._chance(0.62):
            return self.leaf()
        left, right = self.predicate(depth + 1), self.predicate(depth + 1)
        return self._one(
            f"{left} AND {right}",
            f"{left} OR {right}",
            f"NOT {left}",
            f"!({left})",
            f"({left} OR {right}) AND flag",
            f"({left}) = {self._one(*_TRUTHS)}",
            f"({left}) {self._one(*_COMPARISONS)} {self._one(*_TRUTHS)}",
            f"({left} AND {right}) IS UNKNOWN",
            f"flag OR {left}",
        )


COLUMNS = list(VALUES)
