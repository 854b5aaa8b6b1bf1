"""Casts, and expressions of numbers."""

from __future__ import annotations

from itertools import product

from .columns import EXACT, NUMBERS, PRIMITIVES, over

TARGETS = [
    "BOOLEAN",
    "TINYINT",
    "SMALLINT",
    "INT",
    "BIGINT",
    "FLOAT",
    "DOUBLE",
    "DECIMAL(9,2)",
    "DECIMAL(38,0)",
]
TARGETS += ["DECIMAL(38,37)", "DECIMAL(3,3)", "STRING", "BINARY", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ"]


def casts(name: str) -> list[str]:
    return [f"{form}({name} AS {to})" for to in TARGETS for form in ("CAST", "TRY_CAST")] + [
        f"{name}::STRING"
    ]


def arithmetic(operator: str) -> list[str]:
    pairs = [f"{left} {operator} {right}_2" for left, right in product(NUMBERS, NUMBERS)]
    return [
        *pairs,
        *over([f"{{x}} {operator} digits_2", f"digits {operator} {{x}}_2", f"7 {operator} {{x}}"], NUMBERS),
        f"digits {operator} digits_2",
        *over([f"NULL {operator} {{x}}", f"{{x}} {operator} NULL"], [*NUMBERS, "digits"]),
    ]


OF_NUMBERS: dict[str, list[str]] = {
    **{f"cast {name}": casts(name) for name in [*PRIMITIVES, "digits", "dates", "raw", "NULL"]},
    "add": arithmetic("+"),
    "subtract": arithmetic("-"),
    "multiply": arithmetic("*"),
    "divide": arithmetic("/"),
    "remainder": [*arithmetic("%"), *over(["mod({x}, {y})", "{x} mod 7"], NUMBERS)],
    "div": [f"{left} DIV {right}_2" for left, right in product(EXACT, EXACT)]
    + over(["{x} DIV 7", "7 DIV {x}"], EXACT),
    "signs": [
        *over(["-{x}", "+{x}", "- -{x}", "abs({x})"], NUMBERS),
        "-digits",
        "abs(digits)",
        "abs(NULL)",
        "-NULL",
        "abs(flag)",
        "-day",
    ],
    "rounding": [
        f"round({name}{places})"
        for name in NUMBERS
        for places in (
            "",
            ", 0",
            ", 1",
            ", 2",
            ", 5",
            ", 18",
            ", 40",
            ", -1",
            ", -2",
            ", -9",
            ", -18",
            ", -40",
        )
    ]
    + over(["floor({x})", "ceil({x})", "ceiling({x})"], NUMBERS)
    + ["round(digits)", "round(digits, 2)", "floor(digits)", "ceil(digits)", "round(NULL)", "floor(NULL)"]
    + ["round(f64, NULL)", "round(i32, CAST(1 AS BIGINT))", "round(2.5)", "floor(flag)", "round(d18, 1 + 1)"],
    "powers": [
        f"{name}({left}, {right}_2)"
        for left, right in product(
            ["f64", "f32", "i8", "i32", "d9", "digits"], ["f64", "f32", "i8", "i32", "d9"]
        )
        for name in ("power", "pow")
    ]
    + over(
        ["power({x}, 2)", "power({x}, 0.5)", "power(2, {x})", "power({x}, -1)", "power(NULL, {x})"], NUMBERS
    )
    + over(["sqrt({x})"], [*NUMBERS, "digits", "NULL"]),
}
