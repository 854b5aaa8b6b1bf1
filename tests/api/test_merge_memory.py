"""`Table.merge` in bounded memory: with little memory the results are those with much, from temporary files.

Random merges with little memory are compared with a model in `tests/programs/merges`, too.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pytest

import deltaic
from tests.seed import generator

MIB = 1 << 20
SCHEMA = pa.schema([("id", pa.int64()), ("part", pa.int32()), ("count", pa.int64()), ("text", pa.string())])
PROPERTIES = {
    "rewriting": {},
    "vectors": {"delta.enableDeletionVectors": "true"},
    "feed and row ids": {
        "delta.enableDeletionVectors": "true",
        "delta.enableChangeDataFeed": "true",
        "delta.enableRowTracking": "true",
    },
    "feed by rewriting": {"delta.enableChangeDataFeed": "true", "delta.enableRowTracking": "true"},
}
ON = "target.id = source.id"
# The metrics that depend on files or time.
VARIABLE = ("Files", "Bytes", "Ms", "numTargetRowsCopied", "numOutputRows", "DeletionVectors", "Partitions")
Clauses = Callable[[deltaic.Merge], deltaic.Merge]


def rows(
    chance: random.Random, count: int, ids: Callable[[], int | None], text: str = "old"
) -> Iterator[pa.RecordBatch]:
    """Yields rows in batches of different sizes."""
    while count > 0:
        size = min(count, chance.choice([1, 700, 3000, 20_000]))
        columns: list[list[Any]] = [
            [ids() for _ in range(size)],
            [chance.randrange(3) for _ in range(size)],
            [chance.randrange(1000) for _ in range(size)],
            [text * chance.randrange(4) for _ in range(size)],
        ]
        yield pa.record_batch(columns, schema=SCHEMA)
        count -= size


def table_of(root: Path, batches: list[pa.RecordBatch], properties: dict[str, str]) -> deltaic.Table:
    table = deltaic.Table.create(root, SCHEMA, partition_by=["part"], properties=properties)
    rows = pa.Table.from_batches(batches, SCHEMA)
    half = rows.num_rows // 2
    for some in (rows.slice(0, half), rows.slice(half)):
        table.append(some)
    return table


def state_of(table: deltaic.Table, properties: dict[str, str]) -> list[Counter[tuple[Any, ...]]]:
    """Returns the rows, with the ids of those that were not inserted, and the changes of the last version."""
    snapshot = table.snapshot()
    with_ids = "delta.enableRowTracking" in properties
    columns = columns_of(snapshot.scan(row_ids=with_ids).to_arrow())
    if with_ids:
        *_, ids, versions = columns
        inserted_by = snapshot.version
        columns[-2] = [-1 if by == inserted_by else id_ for id_, by in zip(ids, versions, strict=True)]
    state = [Counter(zip(*columns, strict=True))]
    if "delta.enableChangeDataFeed" in properties:
        changes = table.changes(snapshot.version, snapshot.version).to_arrow()
        state.append(Counter(zip(*columns_of(changes.drop_columns(["_commit_timestamp"])), strict=True)))
    return state


def columns_of(rows: pa.Table) -> list[list[Any]]:
    return [
        [repr(value) for value in column.to_pylist()]
        if pa.types.is_nested(column.type)
        else column.to_pylist()
        for column in rows.columns
    ]


def upserted(merge: deltaic.Merge) -> deltaic.Merge:
    return merge.when_matched_update_all().when_not_matched_insert_all()


def of_every_kind(merge: deltaic.Merge) -> deltaic.Merge:
    return (
        merge.when_matched_delete("source.count % 7 = 0")
        .when_matched_update({"text": "concat(target.text, source.text)"}, "source.count % 7 < 4")
        .when_matched_update(
            {"part": "source.part", "count": "target.count + source.count"}, "source.count > 500"
        )
        .when_not_matched_insert({"id": "id", "part": "part", "text": "upper(text)"}, "count % 3 = 0")
        .when_not_matched_insert_all("count % 3 = 1")
        .when_not_matched_by_source_update({"count": "-1"}, "target.count % 2 = 0")
        .when_not_matched_by_source_delete("target.count % 5 = 0")
    )


def deleted(merge: deltaic.Merge) -> deltaic.Merge:
    """Several rows of the source may match."""
    return merge.when_matched_delete().when_not_matched_insert_all("part = 1")


def inserted(merge: deltaic.Merge) -> deltaic.Merge:
    return merge.when_not_matched_insert_all()


def kept(merge: deltaic.Merge) -> deltaic.Merge:
    return merge.when_not_matched_by_source_delete()


def compare(
    root: Path,
    properties: dict[str, str],
    batches: tuple[list[pa.RecordBatch], list[pa.RecordBatch]],
    clauses: Clauses,
    *,
    on: str = ON,
    memory: tuple[int, ...] = (MIB, 4 * MIB),
    schema_mode: Literal["keep", "merge"] = "keep",
) -> None:
    """Compares merges with little memory to one with much."""
    target, source = batches
    table_of(root / "before", target, properties)
    expected = None
    for number, memory_of_merge in enumerate((None, *memory)):
        table = deltaic.Table(shutil.copytree(root / "before", root / str(number)))
        stream = pa.RecordBatchReader.from_batches(source[0].schema, source)
        merge = clauses(table.merge(stream, on, schema_mode=schema_mode))
        try:
            commit = merge.execute(memory=memory_of_merge)
        except deltaic.ConstraintViolation as error:
            assert table.snapshot().version == 2
            found: Any = str(error).splitlines()[0].split(" (")[0]
        else:
            metrics = {
                name: value
                for name, value in commit.metrics.items()
                if not any(part in name for part in VARIABLE)
            }
            found = (metrics, state_of(table, properties))
            assert table.check(deep=True).is_healthy
        if number == 0:
            expected = found
        assert found == expected, f"with {memory_of_merge} bytes"


def every_clause_and_property(*clauses: Clauses) -> pytest.MarkDecorator:
    """Parameters: clauses of every kind with each of the properties, other clauses with most properties."""
    most = PROPERTIES["feed and row ids"]
    cases = [pytest.param(of_every_kind, value, id=name) for name, value in PROPERTIES.items()]
    cases += [pytest.param(clause, most, id=clause.__name__) for clause in clauses]
    return pytest.mark.parametrize(("clauses", "properties"), cases)


@every_clause_and_property(upserted, deleted, inserted, kept)
def test_distinct_keys(root: Path, properties: dict[str, str], clauses: Clauses) -> None:
    """Some keys are NULL: those rows match none."""
    chance = generator("merge memory", 0)
    ids = [*chance.sample(range(60_000), 30_000), *[None] * 50]
    chance.shuffle(ids)
    target = list(rows(chance, 30_000, iter(ids).__next__))
    ids = [*chance.sample(range(60_000), 24_000), *[None] * 50]
    chance.shuffle(ids)
    source = list(rows(chance, 24_000, iter(ids).__next__, "new"))
    compare(root, properties, (target, source), clauses)


@pytest.mark.parametrize("clauses", [upserted, deleted, inserted, kept])
def test_skewed_keys(root: Path, clauses: Clauses) -> None:
    """Half of the rows of the source have one key, so that its part is matched in several steps."""
    chance = generator("merge memory", 1)
    target = list(rows(chance, 3_000, lambda: chance.choice([7, chance.randrange(1000)])))
    source = list(rows(chance, 25_000, lambda: chance.choice([7, chance.randrange(500, 40_000)]), "new"))
    compare(root, PROPERTIES["feed and row ids"], (target, source), clauses)


def test_one_row_is_matched_in_two_steps(root: Path) -> None:
    """Two rows of the source that are never in memory together match one row of the table."""
    chance = generator("merge memory", 2)
    target = list(rows(chance, 10, iter(range(10)).__next__))
    for last in (5, 10_005):
        ids = iter([5, *range(10_000 + 1, 30_000), last])
        source = list(rows(chance, 20_001, ids.__next__, "new"))
        on = "target.id % 2 = source.id % 2 AND target.id = source.id"
        for condition in (on, "target.id <= source.id AND target.id >= source.id"):
            folder = root / str(last) / str(len(condition))
            compare(folder, {}, (target, source), upserted, on=condition, memory=(MIB,))


@pytest.mark.parametrize("clauses", [inserted, deleted, kept])
def test_cross_joins(root: Path, clauses: Clauses) -> None:
    """Without equality keys, all rows are compared."""
    chance = generator("merge memory", 3)
    target = list(rows(chance, 60, lambda: chance.randrange(100)))
    source = list(rows(chance, 12_000, lambda: chance.randrange(90, 200), "new"))
    on = "target.id > source.id AND target.part = 1"
    compare(root, PROPERTIES["vectors"], (target, source), clauses, on=on, memory=(MIB,))


@every_clause_and_property(upserted, kept)
def test_many_changes_by_few_rows(root: Path, properties: dict[str, str], clauses: Clauses) -> None:
    """The source fits in memory, but not what happens to rows of the table."""
    chance = generator("merge memory", 7)
    target = list(rows(chance, 60_000, lambda: chance.randrange(3)))
    source = list(rows(chance, 2, iter([1, 5]).__next__, "new"))
    compare(root, properties, (target, source), clauses, memory=(MIB,))


def test_null_safe_keys(root: Path) -> None:
    chance = generator("merge memory", 4)
    target = list(rows(chance, 5_000, lambda: chance.choice([None, 1, chance.randrange(3000)])))
    source = list(rows(chance, 20_000, iter([None, *range(1, 20_000)]).__next__, "new"))
    compare(root, {}, (target, source), of_every_kind, on="target.id <=> source.id", memory=(MIB,))


def test_new_columns(root: Path) -> None:
    chance = generator("merge memory", 8)
    target = list(rows(chance, 20_000, iter(range(20_000)).__next__))
    source = [
        batch.append_column("new", pa.array([[chance.randrange(9)] for _ in range(batch.num_rows)]))
        for batch in rows(chance, 20_000, iter(range(10_000, 30_000)).__next__, "new")
    ]
    properties = PROPERTIES["feed by rewriting"]
    compare(root, properties, (target, source), upserted, memory=(MIB,), schema_mode="merge")
    assert deltaic.Table(root / "1").snapshot().schema.names[-1] == "new"


def test_a_cross_join_is_announced(root: Path) -> None:
    table = deltaic.Table.create(root, SCHEMA)
    source = pa.table({"id": [1], "part": [1], "count": [1], "text": ["a"]}, schema=SCHEMA)
    merge = table.merge(source, "target.id > source.id").when_not_matched_insert_all()
    dry = merge.execute(dry_run=True)
    assert "\n  warning: the condition has no equality" in str(dry)
    assert len(dry.warnings) == 1
    merge = table.merge(source, ON).when_not_matched_insert_all()
    assert not merge.execute(dry_run=True).warnings


def test_a_dry_run_with_little_memory(root: Path) -> None:
    chance = generator("merge memory", 5)
    table = table_of(root, list(rows(chance, 10_000, iter(range(10_000)).__next__)), {})
    source = list(rows(chance, 20_000, iter(range(5_000, 25_000)).__next__))
    files = sorted(root.rglob("*"))
    merge = upserted(table.merge(pa.Table.from_batches(source, SCHEMA), ON))
    dry = merge.execute(dry_run=True, memory=MIB)
    assert (dry.rows, dry.added_rows) == (5_000, 15_000)
    assert sorted(root.rglob("*")) == files


def test_a_conflict_does_not_read_the_source_again(root: Path) -> None:
    """The rows of a stream can be read once; another writer commits before."""
    chance = generator("merge memory", 6)
    table = table_of(root, list(rows(chance, 2_000, iter(range(2_000)).__next__)), {})
    source = list(rows(chance, 20_000, iter(range(1_000, 21_000)).__next__, "new"))

    def stream() -> Iterator[pa.RecordBatch]:
        yield from source
        deltaic.Table(root).update({"count": "5000"}, "id < 1500")

    merge = upserted(table.merge(pa.RecordBatchReader.from_batches(SCHEMA, stream()), ON))
    commit = merge.execute(memory=MIB)
    assert commit.version == 4
    found = table.snapshot().scan().to_arrow()
    assert sorted(found["id"].to_pylist()) == list(range(21_000))
    assert found["count"].to_pylist().count(5000) == 1_000


# Prints the files of the folder for temporary files during a merge and after it.
LEFT_OVER = """
import os, sys, pyarrow as pa, deltaic
table = deltaic.Table(sys.argv[1])
schema = pa.schema([("id", pa.int64()), ("text", pa.string())])

def stream():
    for batch in range(20):
        ids = range(batch * 5000, batch * 5000 + 5000)
        yield pa.record_batch([list(ids), ["x" * 20] * 5000], schema=schema)
    assert not os.listdir(os.environ["TMPDIR"])
    if sys.argv[2] == "kill":
        os.kill(os.getpid(), 9)
    if sys.argv[2] == "fail":
        raise ValueError("failed")

source = pa.RecordBatchReader.from_batches(schema, stream())
merge = table.merge(source, "target.id = source.id").when_matched_update_all().when_not_matched_insert_all()
merge.execute(memory=1 << 20)
"""


@pytest.mark.parametrize(("end", "code"), [("succeed", 0), ("fail", 1), ("kill", -9)])
def test_no_temporary_files_are_left(root: Path, tmp_path: Path, end: str, code: int) -> None:
    schema = pa.schema([("id", pa.int64()), ("text", pa.string())])
    deltaic.Table.create(root, schema).append(pa.table({"id": [1, 2], "text": ["a", "b"]}, schema=schema))
    spill = tmp_path / "spill"
    spill.mkdir()
    program = [sys.executable, "-c", LEFT_OVER, str(root), end]
    ended = subprocess.run(
        program, env={**os.environ, "TMPDIR": str(spill)}, check=False, capture_output=True
    )
    assert ended.returncode == code, ended.stderr.decode()
    assert not list(spill.iterdir())
