"""The columns of `values.table()` by kind, and expressions that are repeated for columns."""

from __future__ import annotations

from .values import TYPES

INTEGERS = ["i8", "i16", "i32", "i64"]
EXACT = [*INTEGERS, "d9", "d18", "d38", "m38", "f38"]
NUMBERS = [*EXACT, "f32", "f64"]
PRIMITIVES = list(TYPES)
OTHERS = ["flag", "text", "bytes", "day", "at", "ntz"]


def over(texts: list[str], columns: list[str]) -> list[str]:
    """Returns the texts with `x` and `y` in place of the columns of a type."""
    return [text.replace("{x}", name).replace("{y}", f"{name}_2") for name in columns for text in texts]
