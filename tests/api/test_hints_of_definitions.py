"""Hints about definitions of tables and modes of verbs: following one works."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic
from deltaic import Column, Identity
from deltaic.alter import (
    AddConstraint,
    ChangeType,
    ClusterBy,
    DropColumn,
    DropConstraint,
    RenameColumn,
    SetProperties,
)

Make = Callable[[Path], deltaic.Table]
Do = Callable[[deltaic.Table], object]
ID, V = Column("id", "bigint"), Column("v", "int")
MAPPED = {"delta.columnMapping.mode": "name"}


def rows(**columns: Any) -> pa.Table:
    return pa.table(columns)


def table_of(*columns: Column, **options: Any) -> Make:
    """An empty table."""
    return lambda root: deltaic.Table.create(root, list(columns), **options)


def two_rows(*columns: Column, **options: Any) -> Make:
    """A table whose first column is 1 and 2."""

    def make(root: Path) -> deltaic.Table:
        table = deltaic.Table.create(root, list(columns), **options)
        table.append(pa.table({columns[0].name: [1, 2]}))
        return table

    return make


def create(*columns: Column, **options: Any) -> Do:
    """Creates another table."""
    return lambda table: deltaic.Table.create(f"{table.uri.rstrip('/')}-2", list(columns), **options)


def then(*steps: Do) -> Do:
    return lambda table: [step(table) for step in steps]


def alter(*changes: Any) -> Do:
    return lambda table: table.alter(*changes)


def append(new: pa.Table, **options: Any) -> Do:
    return lambda table: table.append(new, **options)


def overwrite(new: pa.Table, *where: str, **options: Any) -> Do:
    return lambda table: table.overwrite(new, *where, **options)


ONE = two_rows(ID, V)
CLUSTERED = two_rows(ID, V, cluster_by=["id"])
NUMBERED = two_rows(Column("n", "bigint"), Column("id", "bigint", identity=Identity()))
APPEND_ONLY = two_rows(ID, V, properties={"delta.appendOnly": "true"})
COMPUTED = table_of(ID, Column("g", "bigint", generated="id + 1"))
FAR = pa.array([1 << 61, 0], pa.timestamp("s"))
FAR_DATES = pa.array([1 << 60, 0], pa.date64())
HINTS: dict[str, tuple[Make, Do, str, Do]] = {
    "two columns for one": (
        ONE,
        append(pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["id", "ID"])),
        "drop or rename one of them",
        append(rows(id=[1])),
    ),
    "a column that may not be NULL": (
        table_of(Column("id", "bigint", nullable=False), V),
        append(rows(v=pa.array([1], pa.int32()))),
        "add the column to the data",
        append(rows(id=[1], v=pa.array([1], pa.int32()))),
    ),
    "times out of range": (
        table_of(ID, Column("v", "timestamp_ntz")),
        append(rows(v=FAR)),
        "replace or drop the times beyond",
        append(rows(v=FAR.slice(1))),
    ),
    "dates out of range": (
        table_of(ID, Column("v", "date")),
        append(rows(v=FAR_DATES)),
        "replace or drop the dates beyond",
        append(rows(v=FAR_DATES.slice(1))),
    ),
    "a text that is too long": (
        table_of(Column("v", "varchar(3)")),
        append(rows(v=["abcd"])),
        "shorten the text",
        append(rows(v=["abc"])),
    ),
    "a row that does not replace": (
        ONE,
        overwrite(rows(id=[5]), "id = 1"),
        "only rows that match the predicate can replace the rows that match it",
        overwrite(rows(id=[5]), "id = 1 OR id = 5"),
    ),
    "a new value of an identity": (
        NUMBERED,
        lambda table: table.update({"id": "3", "n": "3"}),
        "leave the column out of the values to set",
        lambda table: table.update({"n": "3"}),
    ),
    "an identity to insert": (
        NUMBERED,
        lambda table: (
            table.merge(rows(n=[9]), "target.n = source.n")
            .when_not_matched_insert({"n": "source.n", "id": "3"})
            .execute()
        ),
        "leave the column out of the values to insert",
        lambda table: (
            table.merge(rows(n=[9]), "target.n = source.n")
            .when_not_matched_insert({"n": "source.n"})
            .execute()
        ),
    ),
    "a generated value": (
        COMPUTED,
        append(rows(id=[1], g=[5])),
        "drop the column from the data: its values are computed then",
        append(rows(id=[1])),
    ),
    "partitions to optimize": (
        ONE,
        lambda table: table.optimize("id = 1"),
        "the table has no partition columns: omit where",
        lambda table: table.optimize(),
    ),
    "partitions of a clustered table": (
        CLUSTERED,
        lambda table: table.optimize("id = 1"),
        "omit where: rows are clustered by the clustering columns",
        lambda table: table.optimize(),
    ),
    "Z-order of a clustered table": (
        CLUSTERED,
        lambda table: table.optimize(zorder_by=["v"]),
        "omit zorder_by",
        lambda table: table.optimize(),
    ),
    "clustering without columns": (
        ONE,
        lambda table: table.optimize(full=True),
        "omit full, or set clustering columns first",
        then(alter(ClusterBy("id")), lambda table: table.optimize(full=True)),
    ),
    "the last column": (
        table_of(ID, properties=MAPPED),
        alter(DropColumn("id")),
        "add another one first",
        then(append(rows(w=[1]), schema_mode="merge"), alter(DropColumn("id"))),
    ),
    "a name that files have": (
        ONE,
        alter(RenameColumn("id", "x")),
        "set the property delta.columnMapping.mode to name first",
        then(alter(SetProperties(MAPPED)), alter(RenameColumn("id", "x"))),
    ),
    "a type that files have": (
        ONE,
        alter(ChangeType("v", "bigint")),
        "set the property delta.enableTypeWidening to true first",
        then(
            alter(SetProperties({"delta.enableTypeWidening": "true"})),
            alter(ChangeType("v", "bigint")),
        ),
    ),
    "a column of a constraint": (
        two_rows(ID, V, properties=MAPPED, constraints={"c": "v > 0 OR v IS NULL"}),
        alter(DropColumn("v")),
        "drop the constraint first",
        then(alter(DropConstraint("c")), alter(DropColumn("v"))),
    ),
    "a constraint that rows violate": (
        ONE,
        alter(AddConstraint("c", "id > 1")),
        "find them with the predicate (id > 1) IS NOT TRUE, and correct or delete them first",
        then(
            lambda table: table.delete("(id > 1) IS NOT TRUE"),
            alter(AddConstraint("c", "id > 1")),
        ),
    ),
    "a reserved name": (
        ONE,
        create(Column("_change_type", "string"), properties={"delta.enableChangeDataFeed": "true"}),
        "rename the column, or leave delta.enableChangeDataFeed false",
        create(Column("change_type", "string"), properties={"delta.enableChangeDataFeed": "true"}),
    ),
    "rows that stay": (
        APPEND_ONLY,
        lambda table: table.delete("id = 1"),
        "set delta.appendOnly to false first",
        then(
            alter(SetProperties({"delta.appendOnly": "false"})),
            lambda table: table.delete("id = 1"),
        ),
    ),
    "a generated column of another type": (
        ONE,
        create(ID, Column("g", "string", generated="id + 1")),
        "write CAST(id + 1 AS string)",
        create(ID, Column("g", "string", generated="CAST(id + 1 AS string)")),
    ),
    "columns without a type": (
        table_of(Column("x", "void")),
        append(rows(x=pa.nulls(1))),
        "add a column of another type first",
        append(rows(x=pa.nulls(1), w=[1]), schema_mode="merge"),
    ),
    "partitions by a struct": (
        ONE,
        create(ID, Column("s", "struct<a: int>"), partition_by=["s"]),
        "partition by columns of primitive types",
        create(ID, Column("s", "struct<a: int>"), partition_by=["id"]),
    ),
    "partition columns of new data": (
        ONE,
        overwrite(rows(a=[1]), schema_mode="replace", partition_by=["b"]),
        "partition by columns of the data",
        overwrite(rows(a=[1], b=[1]), schema_mode="replace", partition_by=["b"]),
    ),
    "partition columns of a table that stays": (
        ONE,
        overwrite(rows(id=[1], v=[1]), partition_by=["id"]),
        'it requires schema_mode="replace"',
        overwrite(rows(id=[1], v=[1]), partition_by=["id"], schema_mode="replace"),
    ),
    "a table that exists": (
        ONE,
        lambda table: deltaic.Table.create(table.uri, [ID]),
        'pass if_exists="ignore"',
        lambda table: deltaic.Table.create(table.uri, [ID], if_exists="ignore"),
    ),
}


@pytest.mark.parametrize("case", HINTS)
def test_a_hint_that_is_followed_helps(root: Path, case: str) -> None:
    make, wrong, hint, right = HINTS[case]
    table = make(root)
    before = table.snapshot().version
    with pytest.raises((deltaic.DeltaicError, ValueError)) as caught:
        wrong(table)
    assert hint in f"{caught.value} {getattr(caught.value, 'hint', '')}"
    assert table.snapshot().version == before
    right(table)
