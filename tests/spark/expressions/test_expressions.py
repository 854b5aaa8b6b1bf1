"""Each function, operator and cast has the values, types and errors of Spark 4.3 in ANSI mode."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from . import compare
from .compare import Evaluator, columns_of, difference
from .exceptions import DIFFERENCES, Difference, exception
from .families import FAMILIES
from .values import table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TOP = Path(__file__).parents[3]
ROWS = table()
ALL = [text for texts in FAMILIES.values() for text in texts]

# Functions without inputs, and those of a truth value.
FEW = {"current_date", "curdate", "current_timestamp", "now", "struct"}


@pytest.fixture(scope="module")
def evaluator(small_queries: SparkSession) -> Evaluator:
    if tuple(int(part) for part in small_queries.version.split(".")[:2]) < (4, 3):
        pytest.skip("expressions mean what they mean in Spark 4.3")
    return Evaluator(small_queries, ROWS)


@pytest.mark.parametrize("family", FAMILIES)
def test_expressions_are_those_of_spark(evaluator: Evaluator, family: str) -> None:
    texts = FAMILIES[family]
    results = zip(texts, evaluator.results(texts), strict=True)
    found = [difference(ROWS, text, expected) for text, expected in results]
    wrong = [text for text in found if text is not None]
    assert not wrong, f"{len(wrong)} of {len(texts)} expressions differ:\n" + "\n".join(wrong)


@pytest.mark.parametrize("known", DIFFERENCES, ids=lambda known: known.documented)
def test_documented_differences_exist(evaluator: Evaluator, known: Difference) -> None:
    expected = evaluator.results([known.example])[0]
    assert expected.refused is None
    found = compare.here(ROWS.select(columns_of(ROWS, known.example) or ["id"]), known.example)
    errors = [found.refused] if found.refused is not None else found.errors
    rows = range(len(errors)) if found.refused is None else range(1)
    assert any(
        exception(known.example, errors[row]) == known and expected.values[row] is not compare.RAISES
        for row in rows
    )
    page = (TOP / "docs/reference/expressions.md").read_text()
    assert known.documented in " ".join(page.split())


def _names() -> set[str]:
    """Returns the names of functions that the core accepts."""
    source = TOP / "rust/protocol/src/expr"
    rows = "".join(file.read_text() for file in sorted((source / "functions").glob("*.rs")))
    calls = re.findall(r'\("(\w+)", \d+, (?:\d+|MANY)\)', rows)
    parsed = (source / "parse/calls.rs").read_text()
    special = re.findall(r'\("([A-Z]+)", Some', parsed) + re.findall(
        r'"([A-Z]+)"(?: if .*)? => return', parsed
    )
    assert len(calls) > 50
    assert {"ISNULL", "TRIM", "EXTRACT"} <= set(special)
    return {name.lower() for name in calls + special}


def test_each_function_has_unusual_inputs() -> None:
    few: dict[str, int] = {}
    cells = {name: [repr(value) for value in compare.plain(ROWS[name])] for name in ROWS.column_names}
    for name in _names() - FEW:
        counts = [0]
        for text in ALL:
            if re.search(rf"\b{name}\(", text, re.IGNORECASE) and counts[-1] < 200:
                counts.append(
                    len(set(zip(*(cells[column] for column in columns_of(ROWS, text)), strict=False)))
                )
        if max(counts) < 200:
            few[name] = max(counts)
    assert not few, "each function needs an expression in families.py with at least 200 inputs"


def test_each_operator_of_the_documentation_is_compared() -> None:
    page = (TOP / "docs/reference/expressions.md").read_text()
    rows = re.findall(r"^\| (`.*?) \|", page.replace("\\|", "\N{VERTICAL LINE EXTENSION}"), re.MULTILINE)
    tokens = [token for row in rows for token in re.findall(r"`([^`]+)`", row)]
    assert len(tokens) > 80
    text = "\n".join(ALL).lower()
    missing = [token for token in tokens if _plain(token) not in text]
    assert not missing


def _plain(token: str) -> str:
    token = token.replace("\N{VERTICAL LINE EXTENSION}", "|").replace(" …", "").replace("()", "").lower()
    return {"-x": "-i8", "s.field": "nested.a", "a[0]": "list[0]", "m['key']": "keyed['a']"}.get(token, token)
