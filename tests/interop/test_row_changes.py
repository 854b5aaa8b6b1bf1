"""Programs of row changes by deltaic and delta-spark in turn: both read the same after each step."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import deltaic
from tests.seed import generator

from .test_delta_spark import spark, theirs  # noqa: F401 - a fixture

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROGRAMS = 12
STEPS = 6
SCHEMA = pa.schema([("id", pa.int64()), ("part", pa.string()), ("n", pa.int32())])
Row = tuple[int, str | None, int | None]
Model = Counter[Row]

FORMS: list[dict[str, str]] = [
    {},
    {"delta.enableDeletionVectors": "true"},
    {"delta.enableChangeDataFeed": "true"},
    {"delta.enableChangeDataFeed": "true", "delta.enableDeletionVectors": "true"},
    {"delta.enableRowTracking": "true"},
    {"delta.columnMapping.mode": "name", "delta.enableDeletionVectors": "true"},
    {"delta.columnMapping.mode": "id", "delta.enableChangeDataFeed": "true"},
    {"delta.enableTypeWidening": "true", "delta.checkpointPolicy": "v2"},
    {
        "delta.enableRowTracking": "true",
        "delta.enableDeletionVectors": "true",
        "delta.enableChangeDataFeed": "true",
    },
]

PREDICATES: list[tuple[str, Callable[[Row], bool]]] = [
    ("id < 5", lambda row: row[0] < 5),
    ("id IN (1, 4, 9, 16, 25)", lambda row: row[0] in (1, 4, 9, 16, 25)),
    ("part = 'a'", lambda row: row[1] == "a"),
    ("part IS NULL", lambda row: row[1] is None),
    ("n > 2 AND part <> 'b'", lambda row: row[2] is not None and row[2] > 2 and row[1] in ("a", "c")),
    ("n IS NULL OR id = 7", lambda row: row[2] is None or row[0] == 7),
    ("NOT (n = 1)", lambda row: row[2] is not None and row[2] != 1),
]

UPDATES: list[tuple[dict[str, str], Callable[[Row], Row]]] = [
    ({"part": "'c'"}, lambda row: (row[0], "c", row[2])),
    ({"id": "id + 1", "n": "NULL"}, lambda row: (row[0] + 1, row[1], None)),
    ({"n": "n * 2 - 1"}, lambda row: (row[0], row[1], None if row[2] is None else row[2] * 2 - 1)),
    ({"n": "5", "part": "NULL"}, lambda row: (row[0], None, 5)),
]


def some_rows(chance: random.Random, holds: Callable[[Row], bool] = lambda _: True) -> list[Row]:
    candidates: list[Row] = []
    while len(candidates) < chance.randint(1, 12):
        row = (chance.randint(0, 30), chance.choice(["a", "b", "c", None]), chance.choice([0, 1, 2, 3, None]))
        if holds(row):
            candidates.append(row)
    return candidates


def to_arrow(rows: list[Row]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in rows], SCHEMA)


def values(rows: list[Row]) -> str:
    def literal(value: object) -> str:
        return "NULL" if value is None else repr(value)

    return ", ".join(
        f"({row[0]}L, CAST({literal(row[1])} AS STRING), CAST({literal(row[2])} AS INT))" for row in rows
    )


def counted(table: pa.Table) -> Model:
    return Counter(tuple(row[name] for name in SCHEMA.names) for row in table.to_pylist())  # type: ignore[misc]


class Program:
    """A table, the model of its rows, and the steps that change both."""

    def __init__(self, spark: SparkSession, root: Path, chance: random.Random) -> None:  # noqa: F811
        self.spark, self.root = spark, root
        self.chance = chance
        self.form = self.chance.choice(FORMS)
        by = self.chance.choice([[], ["part"]])
        self.table = deltaic.Table.create(root, SCHEMA, partition_by=by, properties=self.form)
        self.model: Model = Counter()
        self.sql_name = f"delta.`{root}`"

    def append(self, *, by_spark: bool) -> None:
        rows = some_rows(self.chance)
        if by_spark:
            self.spark.sql(f"INSERT INTO {self.sql_name} VALUES {values(rows)}").collect()  # noqa: S608
        else:
            self.table.append(to_arrow(rows))
        self.model.update(rows)

    def delete(self, *, by_spark: bool) -> None:
        where, holds = self.chance.choice(PREDICATES)
        deleted = sum(count for row, count in self.model.items() if holds(row))
        if by_spark:
            [answer] = self.spark.sql(f"DELETE FROM {self.sql_name} WHERE {where}").collect()  # noqa: S608
            assert answer[0] == deleted
        else:
            commit = self.table.delete(where)
            assert commit.skipped == (deleted == 0)
            if deleted:
                assert commit.metrics["numDeletedRows"] == deleted
        self.model = Counter({row: count for row, count in self.model.items() if not holds(row)})

    def overwrite(self, *, by_spark: bool) -> None:
        where, holds = self.chance.choice(PREDICATES)
        rows = some_rows(self.chance, holds)
        if by_spark:
            frame = self.spark.sql(f"SELECT * FROM VALUES {values(rows)} AS t(id, part, n)")  # noqa: S608
            writer = frame.write.format("delta").mode("overwrite").option("replaceWhere", where)
            writer.save(str(self.root))
        else:
            self.table.overwrite(to_arrow(rows), where)
        self.model = Counter({row: count for row, count in self.model.items() if not holds(row)})
        self.model.update(rows)

    def update(self, *, by_spark: bool) -> None:
        where, holds = self.chance.choice(PREDICATES)
        values, change = self.chance.choice(UPDATES)
        updated = sum(count for row, count in self.model.items() if holds(row))
        if by_spark:
            assignments = ", ".join(f"{column} = {value}" for column, value in values.items())
            [answer] = self.spark.sql(f"UPDATE {self.sql_name} SET {assignments} WHERE {where}").collect()  # noqa: S608
            assert answer[0] == updated
        else:
            commit = self.table.update(values, where)
            assert commit.skipped == (updated == 0)
            if updated:
                assert commit.metrics["numUpdatedRows"] == updated
        after: Model = Counter()
        for row, count in self.model.items():
            after[change(row) if holds(row) else row] += count
        self.model = after

    def step(self) -> str:
        by_spark = self.chance.random() < 0.3
        verb = self.chance.choice([self.append, self.delete, self.overwrite, self.update, self.update])
        before, version = self.model.copy(), self.table.snapshot().version
        verb(by_spark=by_spark)
        how = f"{verb.__name__} by {'delta-spark' if by_spark else 'deltaic'}"
        assert counted(self.table.snapshot().scan().to_arrow()) == self.model, how
        assert counted(theirs(self.spark, self.root).toArrow()) == self.model, how
        newest = self.table.snapshot().version
        if "delta.enableChangeDataFeed" in self.form and newest > version:
            self.compare_changes(before, newest, how)
        return how

    def compare_changes(self, before: Model, version: int, how: str) -> None:
        """Both readers report changes that turn the model before the version into the one after it."""
        reader = self.spark.read.format("delta").option("readChangeFeed", True)
        reader = reader.option("startingVersion", version).option("endingVersion", version)
        feeds: list[Any] = [
            self.table.changes(version, version).to_arrow(),
            reader.load(str(self.root)).toArrow(),
        ]
        for feed in feeds:
            after = before.copy()
            for row in feed.to_pylist():
                change = {"insert": 1, "update_postimage": 1, "delete": -1, "update_preimage": -1}
                after[tuple(row[name] for name in SCHEMA.names)] += change[row["_change_type"]]  # type: ignore[index]
            assert {row: count for row, count in after.items() if count} == dict(self.model), how
        assert len(feeds[0]) == len(feeds[1]), how

    def ensure_row_ids(self) -> None:
        """Row ids are unique, and both readers report the same."""
        if "delta.enableRowTracking" not in self.form:
            return
        ours = self.table.snapshot().scan(row_ids=True).to_arrow().to_pylist()
        frame = theirs(self.spark, self.root)
        columns = [*SCHEMA.names, "_metadata.row_id", "_metadata.row_commit_version"]
        other = frame.selectExpr(*columns).toArrow().to_pylist()
        found = sorted((row["_row_id"], row["_row_commit_version"], row["id"]) for row in ours)
        expected = sorted((row["row_id"], row["row_commit_version"], row["id"]) for row in other)
        assert found == expected
        assert len({row_id for row_id, _, _ in found}) == len(found)


@pytest.mark.parametrize("number", range(PROGRAMS))
def test_programs(spark: SparkSession, tmp_path: Path, number: int) -> None:  # noqa: F811 - the fixture
    program = Program(spark, tmp_path / "t", generator("row changes", number))
    program.append(by_spark=False)
    for _ in range(STEPS):
        program.step()
        program.ensure_row_ids()
    assert program.table.check(deep=True).is_healthy
