"""Comparisons, conditions and branches."""

from __future__ import annotations

from itertools import product

from .columns import NUMBERS, PRIMITIVES, over

SIGNS = ["=", "<>", "<", "<=", ">", ">=", "<=>"]

OF_CONDITIONS: dict[str, list[str]] = {
    **{
        f"compare {name}": over([f"{{x}} {sign} {{y}}" for sign in SIGNS], [name])
        + over(
            [
                *("{x} IN ({y}, {x})", "{x} NOT IN ({y}, NULL)", "{x} BETWEEN {y} AND {x}", "{x} IS NULL"),
                *("{x} NOT BETWEEN {y} AND {x}", "{x} IS NOT NULL", "isnull({x})", "isnotnull({x})"),
                *("{x} IS DISTINCT FROM {y}", "{x} IS NOT DISTINCT FROM {y}", "NOT {x} = {y}", "{x} == {y}"),
                *("{x} = {x}", "{x} != {y}", "{x} <=> NULL", "NULL = {x}"),
            ],
            [name],
        )
        for name in [*PRIMITIVES, "raw"]
    },
    "compare types": [
        f"{left} {sign} {right}_2"
        for left, right in product([*PRIMITIVES, "digits", "dates"], [*PRIMITIVES, "digits"])
        for sign in ("=", "<")
        if left != right
    ],
    "logic": [
        *over(
            [
                *(
                    "{x} AND {y}",
                    "{x} OR {y}",
                    "NOT {x}",
                    "{x} AND NULL",
                    "NULL OR {x}",
                    "{x} IS TRUE",
                    "{x} IS NOT TRUE",
                ),
                *(
                    "{x} IS FALSE",
                    "{x} IS NOT FALSE",
                    "{x} IS UNKNOWN",
                    "{x} IS NOT UNKNOWN",
                    "{x} OR NOT {y}",
                    "!{x}",
                ),
            ],
            ["flag"],
        ),
        "i32 = 0 OR 10 / i32 > 1",
        "i32 <> 0 AND 10 / i32 > 1",
        "flag AND CAST(digits AS INT) > 0",
        "flag OR CAST(digits AS INT) > 0",
        "f64 IS NULL OR f64 > 0 AND isnan(f64_2)",
        "isnan(f64)",
        "isnan(f32)",
        "i32 < CAST(digits_2 AS INT)",
    ],
    "branches": over(
        [
            *("CASE WHEN flag THEN {x} END", "CASE WHEN flag THEN {x} ELSE {y} END", "if(flag, {x}, {y})"),
            *("CASE {x} WHEN {y} THEN 1 WHEN NULL THEN 2 ELSE 3 END", "coalesce({x}, {y})", "nvl({x}, {y})"),
            *("ifnull({x}, {y})", "nullif({x}, {y})", "coalesce(NULL, {x})", "if({x} IS NULL, NULL, {x})"),
        ],
        PRIMITIVES,
    )
    + [f"coalesce({left}, {right}_2)" for left, right in product(PRIMITIVES, PRIMITIVES) if left != right]
    + [
        "CASE WHEN i32 = 0 THEN 0 WHEN i32_2 = 0 THEN 10 DIV i32 ELSE 10 DIV i32_2 END",
        "CASE WHEN CAST(digits AS INT) > 0 THEN 1 WHEN CAST(dates AS DATE) > day THEN 2 END",
        "if(i32 = 0, NULL, 10 % i32)",
        "coalesce(TRY_CAST(digits AS INT), CAST(digits_2 AS INT))",
        "nullif(i32, i64_2)",
        "nullif(day, dates_2)",
        "coalesce(i8)",
        "if(NULL, 1, 2)",
        "nvl(text, i32)",
        "coalesce(nested.a, i64)",
        "if(flag, nested, nested_2)",
        "coalesce(list, list_2)",
    ],
    "extremes": over(
        ["greatest({x}, {y})", "least({x}, {y}, NULL)", "greatest({x}, {x}, {y})"], [*PRIMITIVES, "raw"]
    )
    + [
        f"{name}({left}, {right}_2)"
        for left, right in product(NUMBERS, NUMBERS)
        for name in ("greatest", "least")
    ]
    + [
        "greatest(text, i32)",
        "least(day, at)",
        "greatest(day, ntz)",
        "least(at, ntz)",
        "greatest(digits, i8)",
    ],
}
