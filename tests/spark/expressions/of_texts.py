"""Expressions of strings and bytes, and digests."""

from __future__ import annotations

from itertools import product

from .columns import EXACT, OTHERS, PRIMITIVES, over

OF_TEXTS: dict[str, list[str]] = {
    "concatenation": [
        *over(["concat({x}, {y})", "{x} || '-' || {y}", "concat({x})"], [*EXACT, *OTHERS, "raw"]),
        "concat()",
        "concat(text, NULL)",
        "concat(text, bytes)",
        "text || i32 || flag",
        "concat(text, NULL, CAST(digits AS INT))",
        "concat(raw, bytes, raw_2)",
    ],
    "case of letters": over(
        ["upper({x})", "lower({x})", "ucase({x})", "lcase({x})"], ["text", "digits", "pattern"]
    )
    + over(["upper({x})", "lower({x})"], ["i32", "d9", "day", "flag", "bytes", "NULL"]),
    "trimming": [
        *over(
            [
                *(
                    "trim({x})",
                    "ltrim({x})",
                    "rtrim({x})",
                    "trim(BOTH {y} FROM {x})",
                    "trim(LEADING {y} FROM {x})",
                ),
                *(
                    "trim(TRAILING {y} FROM {x})",
                    "trim({y} FROM {x})",
                    "trim(BOTH FROM {x})",
                    "trim(LEADING FROM {x})",
                ),
                *(
                    "trim(TRAILING FROM {x})",
                    "trim({x}, {y})",
                    "ltrim({x}, {y})",
                    "rtrim({x}, {y})",
                    "trim('a ' FROM {x})",
                ),
            ],
            ["text", "digits", "pattern"],
        ),
        "trim(i32)",
        "ltrim(bytes)",
        "trim('1' FROM i32)",
    ],
    "replacing": [
        *over(
            [
                "replace({x}, {y})",
                "replace({x}, {y}, 'zz')",
                "replace({x}, 'a', {y})",
                "replace({x}, '', 'q')",
            ],
            ["text", "digits"],
        ),
        "replace(text, pattern, text_2)",
        "replace(i32, 1, 2)",
        "replace(text, 'a', NULL)",
    ],
    "padding": [
        f"{name}({text}, {length}{pad})"
        for name in ("lpad", "rpad")
        for text, length in product(
            ["text", "bytes", "raw"], ["least(pos, 400)", "i8", "7", "pos DIV 100000000"]
        )
        for pad in (["", ", 'xy'", ", text_2", ", ''", ", raw_2"])
    ]
    + ["lpad(i32, 12, 0)", "rpad(text, 5, NULL)", "lpad(text, f64_2 % 10, 'x')", "rpad(raw, 60, X'00ff')"],
    "substrings": [
        f"{name}({text}, {start}{length})"
        for name in ("substring", "substr")
        for text in ("text", "raw")
        for start in ("pos", "i32", "2", "-3")
        for length in ("", ", pos_2", ", 3", ", i32_2")
    ]
    + [
        "substring(text FROM pos FOR 2)",
        "substr(text FROM pos)",
        "substring(i64, 2, 3)",
        "substring(bytes, i8, 4)",
    ]
    + ["substring(text, i64, 2)", "substring(text, digits, 2)", "substr(text, f64_2, 2)"],
    "lengths": over(
        ["length({x})", "char_length({x})", "character_length({x})", "len({x})"],
        ["text", "bytes", "raw", "pattern"],
    )
    + over(["length({x})"], ["i64", "d38", "day", "at", "flag", "NULL"]),
    "tests of strings": [
        *over(
            [
                *(
                    "{x} LIKE {y}",
                    "startswith({x}, {y})",
                    "endswith({x}, {y})",
                    "contains({x}, {y})",
                    "{x} LIKE 'a%'",
                ),
                *(
                    "{x} LIKE '%b%'",
                    "{x} LIKE '_'",
                    "{x} NOT LIKE '%_a'",
                    "startswith({x}, 'a')",
                    "contains({x}, '')",
                ),
                *("endswith({x}, 'é')", "{x} LIKE '%\\\\_%'", "{x} LIKE ''"),
            ],
            ["text", "digits", "pattern"],
        ),
        *("text LIKE pattern", "text NOT LIKE pattern", "pattern LIKE text", "text LIKE pattern ESCAPE '/'"),
        *("text LIKE '%/%%' ESCAPE '/'", "text LIKE NULL", "i32 LIKE '1%'", "startswith(text, NULL)"),
        *(
            "contains(i32, '1')",
            "text LIKE concat(text, '%')",
            "contains(raw, raw_2)",
            "startswith(bytes, bytes_2)",
        ),
        "endswith(raw, raw_2)",
    ],
    "digests": [
        f"{text}({name})" for text in ("md5",) for name in ("text", "raw", "bytes", "i32", "NULL", "pattern")
    ]
    + [
        f"sha2({name}, {bits})"
        for name in ("text", "raw", "bytes")
        for bits in (0, 1, 224, 256, 384, 512, "i32_2")
    ]
    + ["sha2(text, NULL)", "sha2(NULL, 256)"],
    "hashes": [
        *over(
            ["hash({x})", "hash({x}, {y})", "xxhash64({x})", "xxhash64({x}, {y}, {x})"],
            [*PRIMITIVES, "raw", "pattern"],
        ),
        "hash(NULL)",
        "xxhash64(NULL, i32)",
        "hash(i8, text, f64, d38, day, at, flag)",
        "xxhash64(i8, text, f64, d38, day, at, flag)",
        "hash(text)",
        "hash(list)",
        "xxhash64(nested)",
    ],
}
