"""Expressions of dates and timestamps, and of nested values."""

from __future__ import annotations

from itertools import product

from .columns import INTEGERS, PRIMITIVES, over

OF_TIMES: dict[str, list[str]] = {
    "days": over(["day + {x}", "{x} + day", "day - {x}"], [*INTEGERS, "d9", "f64"])
    + [
        f"{column} {sign} INTERVAL {length}"
        for column, sign, length in product(
            ["day", "at", "ntz"],
            ["+", "-"],
            [
                "3 DAYS",
                "'1' MONTH",
                "-13 MONTHS",
                "2 YEARS",
                "90 MINUTES",
                "1 HOUR",
                "1 SECOND",
                "1 MICROSECOND",
            ],
        )
    ]
    + [
        "INTERVAL 1 DAY + day",
        "INTERVAL 1 WEEK + at",
        "at + INTERVAL '1 day 2 hours'",
        "dates + INTERVAL 1 DAY",
    ],
    "fields of times": [
        *over(
            [
                f"{name}({{x}})"
                for name in ("year", "quarter", "month", "day", "dayofmonth", "hour", "minute", "second")
            ]
            + [
                f"EXTRACT({field} FROM {{x}})"
                for field in (
                    *(
                        "YEAR",
                        "QUARTER",
                        "MONTH",
                        "DAY",
                        "HOUR",
                        "MINUTE",
                        "SECOND",
                        "Y",
                        "YEARS",
                        "YR",
                        "YRS",
                        "QTR",
                    ),
                    *(
                        "MON",
                        "MONS",
                        "MONTHS",
                        "D",
                        "DAYS",
                        "H",
                        "HOURS",
                        "HR",
                        "HRS",
                        "M",
                        "MIN",
                        "MINS",
                        "MINUTES",
                    ),
                    *("S", "SEC", "SECONDS", "SECS"),
                )
            ],
            ["day", "at", "ntz", "dates"],
        ),
        "year(NULL)",
        "hour(NULL)",
        "year(i32)",
        "EXTRACT(SECOND FROM NULL)",
    ],
    "days and dates": [
        f"{name}({date}, {days})"
        for name in ("date_add", "dateadd", "date_sub")
        for date in ("day", "at", "ntz", "dates")
        for days in ("pos_2", "i8_2", "i16_2", "i32_2", "7", "digits_2", "NULL")
    ]
    + [
        f"{name}({left}, {right}_2)"
        for name in ("datediff", "date_diff")
        for left, right in product(["day", "at", "ntz", "dates"], ["day", "at", "ntz", "dates"])
    ]
    + over(["to_date({x})"], [*PRIMITIVES, "dates", "NULL", "digits"])
    + over(["date_add(day, {x}_2)", "date_sub(day, {x}_2)", "datediff(day, {x}_2)"], PRIMITIVES),
    "truncated times": [
        f"date_trunc({unit}, {time})"
        for time in ("day", "at", "ntz", "dates")
        for unit in ("unit_2", "'YEAR'", "'week'", "'dd'", "'hour'", "'MILLISECOND'", "NULL", "'nothing'")
    ]
    + [
        f"trunc({time}, {unit})"
        for time in ("day", "at", "ntz", "dates")
        for unit in ("unit_2", "'YEAR'", "'week'", "'mon'", "'MM'", "'quarter'", "'day'", "NULL")
    ],
    "formatted times": [
        f"date_format({time}, {pattern})"
        for time in ("day", "at", "ntz", "dates")
        for pattern in (
            "'yyyy-MM-dd'",
            "'yyyy-MM'",
            "'yyyyMMdd'",
            "'HH:mm:ss'",
            "'dd/MM/yyyy HH:mm'",
            "'yyyy'",
            "'_.,'",
        )
    ],
    "nested values": [
        *("named_struct('a', i32, 'B', text)", "named_struct('a', i32).a", "struct(i32, text AS t, 1 + i8)"),
        *(
            "named_struct('x', named_struct('y', i64)).x.y",
            "nested.a",
            "nested.text",
            "nested.TEXT",
            "nested.deep.b",
        ),
        *("nested.deep", "nested.deep.list", "nested.deep.list[0]", "nested.deep.list[pos]", "nested['a']"),
        *("element_at(list, 1)", "element_at(list, -1)", "element_at(list, pos)", "element_at(list, i8_2)"),
        *("list[0]", "list[pos]", "list[i8_2]", "list[i64_2]", "element_at(list, NULL)", "list[NULL]"),
        *(
            "element_at(list, i64_2)",
            "keyed['a']",
            "keyed.a",
            "keyed['']",
            "keyed[text_2]",
            "element_at(keyed, 'key')",
        ),
        *(
            "element_at(keyed, text_2)",
            "counted[1]",
            "counted[pos]",
            "element_at(counted, pos)",
            "counted[i8_2]",
        ),
        *(
            "element_at(counted, i64_2)",
            "keyed[NULL]",
            "element_at(counted, NULL)",
            "list['1']",
            "list[digits_2]",
        ),
        *(
            "counted[digits_2]",
            "keyed[pos]",
            "list[f64_2]",
            "counted[f64_2]",
            "element_at(keyed, pos)",
            "counted[i16_2]",
        ),
        *("list", "keyed", "nested", "nested.missing", "text.a", "named_struct('a', nested, 'b', list)"),
    ],
    "current times": [
        *(
            "current_date() = CAST(current_timestamp() AS DATE)",
            "now() = current_timestamp()",
            "current_timestamp() > at",
        ),
        *("curdate() > day", "year(current_date()) - year(now())", "datediff(current_date(), curdate())"),
    ],
}
