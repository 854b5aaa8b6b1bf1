"""Hints of the writing verbs: following one works."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import deltaic
from deltaic import Column

DAY = dt.date(2026, 11, 1)
NOON = pd.Timestamp("2026-11-01 12:00:00.000000001")

Make = Callable[[Path], deltaic.Table]
Do = Callable[[deltaic.Table], object]


def table_of(*columns: Column, **options: Any) -> Make:
    """A table with these columns and one row, whose first column is 1."""

    def make(root: Path) -> deltaic.Table:
        table = deltaic.Table.create(root, list(columns), **options)
        table.append(pa.table({columns[0].name: pa.array([1], pa.int64())}))
        return table

    return make


ONE = table_of(Column("id", "bigint"), Column("v", "int"))
TIME = table_of(Column("id", "bigint"), Column("v", "timestamp"))
NAIVE = table_of(Column("id", "bigint"), Column("v", "timestamp_ntz"))
DATE = table_of(Column("id", "bigint"), Column("v", "date"))
TEXT = table_of(Column("id", "bigint"), Column("v", "string"))
STRUCT = table_of(Column("id", "bigint"), Column("v", "struct<a: int>"))
CHECKED = table_of(Column("id", "bigint"), Column("v", "int"), constraints={"small": "v IS NULL OR v < 10"})
SHORT = table_of(Column("id", "bigint"), Column("v", "varchar(3)"))
PARTS = table_of(Column("id", "bigint"), Column("v", "string"), partition_by=["v"])
IDENTITY = table_of(Column("v", "bigint"), Column("id", "bigint", identity=deltaic.Identity()))


def append(**columns: Any) -> Do:
    return lambda table: table.append(pa.table(columns))


def frame(make: Callable[[pd.DataFrame], object], values: Any) -> Do:
    """Appends a frame whose column ``v`` is made from another frame's."""
    return lambda table: table.append(pd.DataFrame({"id": [2], "v": make(pd.DataFrame({"v": values}))}))


def update(value: Any) -> Do:
    return lambda table: table.update({"v": value})


def merge(*rows: dict[str, Any], on: str = "target.id = source.id", **values: str) -> Do:
    def do(table: deltaic.Table) -> object:
        source = pa.Table.from_pylist(list(rows))
        started = table.merge(source, on)
        return (
            started.when_matched_update(values) if values else started.when_matched_update_all()
        ).execute()

    return do


TWICE = [{"id": 1, "v": 5}, {"id": 1, "v": 6}]
HINTS: dict[str, tuple[Make, Do, str, Do]] = {
    "a wide number": (
        ONE,
        append(id=[2], v=[1.5]),
        "round the values, or replace them by values of the type int",
        lambda table: table.append(pa.table({"id": [2], "v": pa.array([1.5]).cast(pa.int32(), safe=False)})),
    ),
    "text for a number": (
        ONE,
        append(id=[2], v=["1"]),
        "cast the column to the table's type",
        lambda table: table.append(pa.table({"id": [2], "v": pa.array(["1"]).cast(pa.int32())})),
    ),
    "a time without a zone": (
        TIME,
        frame(lambda of: of["v"], [pd.Timestamp("2026-11-01")]),
        "timestamps need a time zone: use .dt.tz_localize('UTC'), or a timestamp_ntz column",
        frame(lambda of: of["v"].dt.tz_localize("UTC"), [pd.Timestamp("2026-11-01")]),
    ),
    "a time with a zone": (
        NAIVE,
        frame(lambda of: of["v"], [pd.Timestamp("2026-11-01", tz="UTC")]),
        "remove the time zone: use .dt.tz_localize(None), or a timestamp column",
        frame(lambda of: of["v"].dt.tz_localize(None), [pd.Timestamp("2026-11-01", tz="UTC")]),
    ),
    "a time for a date": (
        DATE,
        frame(lambda of: of["v"], [pd.Timestamp("2026-11-01")]),
        "convert the timestamps to dates: use .dt.date",
        frame(lambda of: of["v"].dt.date, [pd.Timestamp("2026-11-01")]),
    ),
    "nanoseconds": (
        NAIVE,
        frame(lambda of: of["v"].astype("datetime64[ns]"), [NOON]),
        "round the times to microseconds first",
        frame(lambda of: of["v"].dt.round("us"), [NOON]),
    ),
    "a period": (
        DATE,
        lambda table: table.append(
            pd.DataFrame({"id": [2], "v": pd.Series(pd.period_range(DAY, periods=1))})
        ),
        'convert it first: df["v"] = df["v"].dt.to_timestamp()',
        lambda table: table.append(
            pd.DataFrame(
                {"id": [2], "v": pd.Series(pd.period_range(DAY, periods=1)).dt.to_timestamp().dt.date}
            )
        ),
    ),
    "a column that the table lacks": (
        ONE,
        append(id=[2], more=[1]),
        'pass schema_mode="merge" to add it, or drop it; the table\'s columns are: id, v',
        lambda table: table.append(pa.table({"id": [2], "more": [1]}), schema_mode="merge"),
    ),
    "a misspelt column": (
        ONE,
        append(ids=[2]),
        'did you mean id? Rename or drop the column, or pass schema_mode="merge" to add it',
        lambda table: table.append(pa.table({"ids": [2]}).rename_columns(["id"])),
    ),
    "a field that the table lacks": (
        STRUCT,
        append(v=[{"a": 1, "b": 2}]),
        "drop the field; the table's schema does not have it",
        append(v=[{"a": 1}]),
    ),
    "a pandas index": (
        ONE,
        lambda table: table.append(pd.DataFrame({"id": [2]}, index=[7])),
        "call df.reset_index(drop=True)",
        lambda table: table.append(pd.DataFrame({"id": [2]}, index=[7]).reset_index(drop=True)),
    ),
    "a NULL that may not be": (
        table_of(Column("id", "bigint", nullable=False), Column("v", "int")),
        append(id=pa.array([2, None])),
        "fill in the values, or drop the rows",
        lambda table: table.append(pa.table({"id": pa.array([2, None])}).drop_null()),
    ),
    "a violated constraint": (
        CHECKED,
        append(id=[2], v=pa.array([20], pa.int32())),
        "correct the row, or drop the constraint if it no longer applies",
        append(id=[2], v=pa.array([2], pa.int32())),
    ),
    "an empty text as a partition value": (
        PARTS,
        append(id=[2], v=[""]),
        'empty_partition_text="null" replaces empty text by NULL',
        lambda table: table.append(pa.table({"id": [2], "v": [""]}), empty_partition_text="null"),
    ),
    "a value for an identity": (
        IDENTITY,
        append(id=[2], v=[2]),
        "drop the column from the data",
        append(v=[2]),
    ),
    "an unknown column to set": (
        ONE,
        lambda table: table.update({"w": "1"}),
        "did you mean v?",
        update("1"),
    ),
    "a new value of another type": (
        TEXT,
        update("id"),
        "write CAST(id AS string)",
        update("CAST(id AS string)"),
    ),
    "a new value that is not kept": (
        ONE,
        update("id + 0.5"),
        "write CAST(id + 0.5 AS int) to round or cut off values",
        update("CAST(id + 0.5 AS int)"),
    ),
    "text without quotes": (
        TEXT,
        lambda table: table.delete("v = open"),
        "text needs quotes: 'open'",
        lambda table: table.delete("v = 'open'"),
    ),
    "a merge without the columns": (
        ONE,
        lambda table: (
            table.merge(pa.table({"id": [1]}), "target.id = source.id").when_matched_update_all().execute()
        ),
        "name the columns to set, add the column to the source",
        lambda table: (
            table.merge(pa.table({"id": [1]}), "target.id = source.id", schema_mode="merge")
            .when_matched_update_all()
            .execute()
        ),
    ),
    "a row that matches twice": (
        ONE,
        merge(*TWICE),
        'df.drop_duplicates(subset=[...], keep="last")',
        lambda table: (
            table.merge(
                pd.DataFrame(TWICE).drop_duplicates(subset=["id"], keep="last"), "target.id = source.id"
            )
            .when_matched_update_all()
            .execute()
        ),
    ),
    "a column of both sides": (
        ONE,
        merge({"id": 1, "v": 5}, on="id = source.id"),
        "write target.id or source.id",
        merge({"id": 1, "v": 5}, on="target.id = source.id"),
    ),
    "a table that is there": (
        ONE,
        lambda table: deltaic.write(table.uri, pa.table({"id": [2]}), "error"),
        'pass mode="append" or mode="overwrite"',
        lambda table: deltaic.write(table.uri, pa.table({"id": [2]}), "append"),
    ),
}


@pytest.mark.parametrize("case", HINTS)
def test_a_hint_that_is_followed_helps(root: Path, case: str) -> None:
    make, wrong, hint, right = HINTS[case]
    table = make(root)
    before = table.snapshot().version
    with pytest.raises((deltaic.DeltaicError, ValueError, TypeError)) as caught:
        wrong(table)
    assert hint in str(getattr(caught.value, "hint", None) or caught.value)
    assert table.snapshot().version == before
    right(table)


def test_the_aliases_of_a_merge_are_named(root: Path) -> None:
    table = ONE(root)
    started = table.merge(pa.table({"id": [1]}), "t.id = s.id", source_alias="src")
    with pytest.raises(deltaic.InvalidPredicate, match="there is no column or alias t") as caught:
        started.when_matched_delete().execute()
    assert "the aliases are target and src" in str(caught.value.hint)


@pytest.mark.parametrize("keys", [[3], [3, 5, 7, 9, 11, 13]])
def test_several_matches_name_their_keys(root: Path, keys: list[int]) -> None:
    table = deltaic.write(root, pa.table({"id": range(20), "v": range(20)}))
    source = pa.table({"id": [*keys, *keys, 0], "v": [0] * (2 * len(keys) + 1)})
    with pytest.raises(deltaic.ConstraintViolation, match="several rows of the source match") as caught:
        table.merge(source, "target.id = source.id").when_matched_update_all().execute()
    assert caught.value.context["keys"] == "; ".join(f"id = {key}" for key in keys[:5])
    with pytest.raises(deltaic.ConstraintViolation) as caught:
        table.merge(source, "target.id < source.id").when_matched_update_all().execute()
    assert "{id: 0}" in caught.value.context["keys"]


@pytest.mark.parametrize("verb", ["append", "merge", "update", "overwrite"])
def test_a_null_that_may_not_be_names_its_row(root: Path, verb: str) -> None:
    columns = [Column("id", "bigint"), Column("v", "string", nullable=False)]
    table = deltaic.Table.create(root, columns)
    table.append(pa.table({"id": [1, 2, 3], "v": ["a", "b", "c"]}))
    rows = pa.table({"id": [7, 8, 9], "v": ["x", None, "z"]})
    verbs: dict[str, Do] = {
        "append": lambda table: table.append(rows),
        "overwrite": lambda table: table.overwrite(rows),
        "update": update("if(id = 2, NULL, v)"),
        "merge": lambda table: (
            table.merge(rows, "target.id = source.id").when_not_matched_insert_all().execute()
        ),
    }
    with pytest.raises(deltaic.ConstraintViolation, match="v must not be NULL, but is in a row") as caught:
        verbs[verb](table)
    assert caught.value.context["field"] == "v"
    assert caught.value.context["row"] == f"id = {2 if verb == 'update' else 8}, v = NULL"


def test_a_null_in_a_struct_names_its_row(root: Path) -> None:
    table = deltaic.Table.create(
        root, [Column("id", "bigint"), Column("s", "struct<l: array<struct<a: int NOT NULL>>>")]
    )
    kind = pa.struct([("l", pa.list_(pa.struct([("a", pa.int32())])))])
    values = pa.array([{"l": [{"a": 1}, {"a": 2}]}, {"l": [{"a": 1}, {"a": None}]}], kind)
    with pytest.raises(deltaic.ConstraintViolation, match=r"s\.l\.element\.a must not be NULL") as caught:
        table.append(pa.table({"id": [1, 2], "s": values}))
    assert str(caught.value.context["row"]).startswith("id = 2, s = ")
