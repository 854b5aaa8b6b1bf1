"""A predicate has the same result as in Spark for every row, or is refused.

The session is in UTC, deltaic's zone for literals without one, and in ANSI mode, the default since Spark 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import pytest

import deltaic

from .predicate_rows import ROWS, as_arrow, as_sql
from .predicate_texts import Maker

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Answers = tuple[bool | None, ...]
"""TRUE, FALSE or NULL for each row."""


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> deltaic.Snapshot:
    """The rows in one file."""
    data = as_arrow()
    table = deltaic.Table.create(tmp_path_factory.mktemp("predicates") / "table", data.schema)
    table.append(data)
    return table.snapshot()


@pytest.fixture(scope="module")
def frame(spark: SparkSession) -> DataFrame:
    """The rows in Spark, which evaluates them on its driver."""
    if tuple(int(part) for part in spark.version.split(".")[:2]) < (4, 3):
        pytest.skip("predicates mean what they mean in Spark 4.3")
    return spark.sql(as_sql())


def here(snapshot: deltaic.Snapshot, predicate: str) -> Answers | deltaic.DeltaicError:
    """Returns deltaic's results, from the rows that match the predicate and those that match its negation."""
    try:
        true, false = (
            set(snapshot.scan(["id"], text).to_arrow()["id"].to_pylist())
            for text in (predicate, f"NOT ({predicate})")
        )
    except (deltaic.InvalidPredicate, deltaic.UnsupportedExpression) as error:
        return error
    assert not true & false, predicate
    return tuple(True if row["id"] in true else False if row["id"] in false else None for row in ROWS)


def there(frame: DataFrame, predicates: Sequence[str]) -> list[Answers | Exception]:
    """Returns Spark's results for many predicates at once; if one of them fails, bisects them."""
    columns = [f"(({text}) AND TRUE) AS p{number}" for number, text in enumerate(predicates)]
    try:
        rows = frame.selectExpr("id", *columns).collect()
    except Exception as error:  # noqa: BLE001
        if len(predicates) == 1:
            return [error]
        middle = len(predicates) // 2
        return there(frame, predicates[:middle]) + there(frame, predicates[middle:])
    by_id = {row["id"]: row for row in rows}
    return [tuple(by_id[row["id"]][f"p{at}"] for row in ROWS) for at in range(len(predicates))]


def pairs(
    snapshot: deltaic.Snapshot, frame: DataFrame, predicates: Sequence[str]
) -> Iterator[tuple[str, Answers | Exception, Answers | Exception]]:
    """Yields each predicate with both results. Spark evaluates a third of those that deltaic refuses."""
    found = {text: here(snapshot, text) for text in predicates}
    answered = [text for text in found if not isinstance(found[text], Exception)]
    parts = [answered[start : start + 100] for start in range(0, len(answered), 100)]
    parts += [[text] for text in [text for text in found if isinstance(found[text], Exception)][::3]]
    for part in parts:
        for text, expected in zip(part, there(frame, part), strict=True):
            yield text, found[text], expected


def compare(snapshot: deltaic.Snapshot, frame: DataFrame, predicates: Sequence[str]) -> tuple[int, int]:
    """Compares the results; returns the number of common results, and of those that only deltaic refuses."""
    answered = refused = 0
    wrong: list[str] = []
    for text, found, expected in pairs(snapshot, frame, predicates):
        if isinstance(expected, Exception):
            if not isinstance(found, Exception):
                wrong.append(f"{text}\n  Spark refuses: {str(expected).strip()[:160]}")
            continue
        if isinstance(found, Exception):
            refused += 3
            continue
        answered += 1
        if found != expected:
            apart = [(ROWS[at]["id"], *pair) for at, pair in enumerate(zip(found, expected, strict=True))]
            apart = [(row, ours, theirs) for row, ours, theirs in apart if ours is not theirs]
            wrong.append(f"{text}\n  rows (id, here, Spark): {apart}")
    assert not wrong, f"{len(wrong)} predicates differ:\n" + "\n".join(wrong[:40])
    return answered, refused


def test_predicates_answer_like_spark_or_not_at_all(snapshot: deltaic.Snapshot, frame: DataFrame) -> None:
    maker = Maker("answers")
    answered, refused = compare(snapshot, frame, [maker.predicate() for _ in range(1_000)])
    assert answered > 700
    # The remaining refusals: casts of columns, strings compared with numbers, numbers with too many digits.
    assert refused / answered < 0.05, f"{refused} beside {answered} are refused"


# Former bugs, and cases where Spark's result is unexpected.
KEPT = [
    # Beyond 64 bits a comparison has one result for all rows, also for NULL; but not an equality.
    "i16 >= 9223372036854775808",
    "9223372036854775808 > i64",
    "i64 = 9223372036854775808",
    "i64 < -(9223372036854775809)",
    "CAST(NULL AS INT) <= 99999999999999999999",
    # Timestamps with and without a zone, outside of a calendar library's range.
    "ntz <= ts",
    "day <=> ntz",
    "ts > TIMESTAMP '+294247-01-10 04:00:54.775807'",
    # In the wrong precision these have other results.
    "f32 = 0.1",
    "f32 = 0.1F",
    "f32 > CAST(0.1F AS DECIMAL(38,30))",
    "i64 = 9007199254740993D",
    "dec = 1.5D",
    "big > 0.1D",
    "big = f32",
    "dec = CAST(1.005 AS DECIMAL(5,2))",
    "dec BETWEEN 1.495 AND 1.505",
    "i64 IN (9007199254740993, 0.5D)",
    "t8 IN (1000, -1.0, 5L)",
    # NaN is equal to itself and greater than infinity; -0.0 equals 0.0.
    "f64 > CAST('inf' AS DOUBLE)",
    "f64 NOT IN (0, CAST('NaN' AS DOUBLE))",
    "f64 = -0.0D",
    # Operator precedence as in Spark; a minus before a number is part of the literal.
    "NOT flag = TRUE AND i32 > 0",
    "i32 > 0 IS NOT NULL",
    "t8 = -128Y",
    "i32 = - 2147483648",
    "1 = 1 = flag",
    "i32 > 7 -2 /* two */ - -2",
    # Strings: escapes, characters outside of the Basic Multilingual Plane, patterns.
    r"txt = 'a\\b'",
    r"txt LIKE 'a\%%'",
    r"txt LIKE 'a\%%'".replace("\\", "\\\\"),
    "txt LIKE '_'",
    r"txt = '\uD83D\uDE00'",
    "txt > '\uffff'",
    "txt IN ('a' 'b', \"it's\", 'it''s')",
    "nest.s LIKE 'é%' OR nest IS NULL",
]


@pytest.mark.parametrize("predicate", KEPT)
def test_repairs_remain(snapshot: deltaic.Snapshot, frame: DataFrame, predicate: str) -> None:
    assert here(snapshot, predicate) == there(frame, [predicate])[0]


def test_literals_are_folded_to_sparks_values(snapshot: deltaic.Snapshot, frame: DataFrame) -> None:
    maker = Maker("literals")
    constants = [maker.constant() for _ in range(500)]
    is_null = {text: here(snapshot, f"({text}) IS NULL") for text in constants}
    folded = [text for text, found in is_null.items() if not isinstance(found, Exception)]
    assert len(folded) > 300
    wrong: list[str] = []
    for start in range(0, len(folded), 100):
        for text, told in zip(part := folded[start : start + 100], values(frame, part), strict=True):
            if isinstance(told, Exception):
                wrong.append(f"{text}\n  Spark refuses: {str(told).strip()[:160]}")
                continue
            kind, written = told
            if kind == "void" or written is None:
                same = is_null[text] == (True,) * len(ROWS)
            else:
                literal = (
                    f"X'{written}'" if kind == "binary" else f"CAST(CAST(X'{written}' AS STRING) AS {kind})"
                )
                same = here(snapshot, f"({text}) <=> {literal}") == (True,) * len(ROWS)
            if not same:
                wrong.append(f"{text}\n  in Spark {kind} {written and bytes.fromhex(written)}")
    assert not wrong, f"{len(wrong)} values differ:\n" + "\n".join(wrong[:40])


def values(frame: DataFrame, texts: Sequence[str]) -> list[tuple[str, str | None] | Exception]:
    """Returns each value's type in Spark and the bytes of its text, in hexadecimal."""
    columns = [
        f"struct(typeof({text}), hex(CAST(CAST(({text}) AS STRING) AS BINARY))) AS v{number}"
        for number, text in enumerate(texts)
    ]
    # Binary values are not converted to text.
    columns += [
        f"hex({text}) AS b{number}"
        for number, text in enumerate(texts)
        if text.startswith("X'") or "BINARY" in text
    ]
    try:
        row = frame.limit(1).selectExpr(*columns).collect()[0]
    except Exception as error:  # noqa: BLE001
        if len(texts) == 1:
            return [error]
        middle = len(texts) // 2
        return values(frame, texts[:middle]) + values(frame, texts[middle:])
    found: list[tuple[str, str | None] | Exception] = []
    for number in range(len(texts)):
        kind, written = row[f"v{number}"]
        found.append((kind, row[f"b{number}"] if kind == "binary" else written))
    return found
