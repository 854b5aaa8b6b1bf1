"""What a predicate means is what Spark says it means: the same answer for every row, or a refusal here.

The session is in UTC, as a literal without a zone is here, and in ANSI mode, as Spark is from version 4 on.
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
    """The rows in Spark, which answers them on its driver."""
    from pyspark.sql import functions

    if not hasattr(functions, "try_mod"):
        pytest.skip("this Spark is older than the meaning that predicates have")
    return spark.sql(as_sql())


def here(snapshot: deltaic.Snapshot, predicate: str) -> Answers | deltaic.DeltaicError:
    """Our answers, by the rows of the predicate and those of its opposite."""
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
    """Spark's answers to many predicates at once; where one of them fails, to each half by itself."""
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
    """Each predicate with our answers and Spark's. What is refused here is asked alone there."""
    found = {text: here(snapshot, text) for text in predicates}
    answered = [text for text in found if not isinstance(found[text], Exception)]
    parts = [answered[start : start + 100] for start in range(0, len(answered), 100)]
    parts += [[text] for text in found if isinstance(found[text], Exception)]
    for part in parts:
        for text, expected in zip(part, there(frame, part), strict=True):
            yield text, found[text], expected


def compare(snapshot: deltaic.Snapshot, frame: DataFrame, predicates: Sequence[str]) -> tuple[int, int]:
    """Compare the answers; how many predicates Spark answers, and how many of these are refused here."""
    answered = refused = 0
    wrong: list[str] = []
    for text, found, expected in pairs(snapshot, frame, predicates):
        if isinstance(expected, Exception):
            if not isinstance(found, Exception):
                wrong.append(f"{text}\n  Spark refuses: {str(expected).strip()[:160]}")
            continue
        answered += 1
        if isinstance(found, Exception):
            refused += 1
        elif found != expected:
            apart = [(ROWS[at]["id"], *pair) for at, pair in enumerate(zip(found, expected, strict=True))]
            apart = [(row, ours, theirs) for row, ours, theirs in apart if ours is not theirs]
            wrong.append(f"{text}\n  rows (id, here, Spark): {apart}")
    assert not wrong, f"{len(wrong)} predicates differ:\n" + "\n".join(wrong[:40])
    return answered, refused


def test_predicates_answer_like_spark_or_not_at_all(snapshot: deltaic.Snapshot, frame: DataFrame) -> None:
    maker = Maker(seed=43)
    answered, refused = compare(snapshot, frame, [maker.predicate() for _ in range(3_000)])
    assert answered > 2_000
    # What is left to refuse: casts of columns, texts beside numbers, numbers with too many digits.
    assert refused / answered < 0.1, f"{refused} of {answered} are refused"
