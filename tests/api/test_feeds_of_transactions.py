"""The change data feed of a commit of several verbs has every change of the commit.

Readers of a version with change data files use no other file of it.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic
from tests.api.log_files import of_kind
from tests.seed import generator

SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string()), ("day", pa.int32())])
FEED = {"delta.enableChangeDataFeed": "true"}
VECTORS = {**FEED, "delta.enableDeletionVectors": "true"}
MAPPED = {**FEED, "delta.columnMapping.mode": "name"}
TRACKED = {**FEED, "delta.enableRowTracking": "true"}
FORMS = {"rewriting": FEED, "vectors": VECTORS, "mapped": MAPPED, "tracked": TRACKED}
DAYS, PER_DAY = 6, 8

Rows = Counter[tuple[Hashable, ...]]
Verb = Callable[[deltaic.Transaction, int], Rows]


def rows(*ids: int, day: int) -> pa.Table:
    names = [None if i % 5 == 0 else f"n{i}" for i in ids]
    return pa.table({"id": ids, "name": names, "day": [day] * len(ids)}, schema=SCHEMA)


def made(root: Path, properties: dict[str, str], by: list[str] | None = None) -> deltaic.Table:
    """Returns a table with a file for each day."""
    table = deltaic.Table.create(root, SCHEMA, partition_by=by or [], properties=properties)
    for day in range(DAYS):
        table.append(rows(*range(day * PER_DAY, (day + 1) * PER_DAY), day=day))
    return table


def counted(table: pa.Table) -> Rows:
    return Counter(tuple(row.values()) for row in table.to_pylist())


def of_day(table: deltaic.Table, day: int) -> Rows:
    return counted(table.snapshot().scan(predicate=f"day = {day}").to_arrow())


def feed(table: deltaic.Table, version: int) -> Rows:
    columns = [*SCHEMA.names, "_change_type"]
    return counted(table.changes(version, version).to_arrow().select(columns))


def typed(change: str, changed: Rows) -> Rows:
    return Counter({(*row, change): count for row, count in changed.items()})


class Steps:
    """Verbs of a transaction, each with the changes that the feed must have of it. A verb changes one day."""

    def __init__(self, table: deltaic.Table, root: Path, chance: random.Random) -> None:
        self.table, self.root, self.chance = table, root, chance
        self.ids: Iterator[int] = iter(range(1000, 2000))

    def new(self, day: int) -> pa.Table:
        return rows(*(next(self.ids) for _ in range(self.chance.randint(1, 3))), day=day)

    def before(self, day: int, where: str = "true") -> Rows:
        return counted(self.table.snapshot().scan(predicate=f"day = {day} AND {where}").to_arrow())

    def append(self, tx: deltaic.Transaction, day: int) -> Rows:
        new = self.new(day)
        tx.append(new)
        return typed("insert", counted(new))

    def delete(self, tx: deltaic.Transaction, day: int) -> Rows:
        where = self.chance.choice(["true", "id % 2 = 0", "id % 8 = 3"])
        tx.delete(f"day = {day} AND {where}")
        return typed("delete", self.before(day, where))

    def update(self, tx: deltaic.Transaction, day: int) -> Rows:
        where = self.chance.choice(["true", "id % 2 = 1", "id % 8 = 5"])
        tx.update({"name": "concat('u', id)"}, f"day = {day} AND {where}")
        before = self.before(day, where)
        after: Rows = Counter({(row[0], f"u{row[0]}", row[2]): count for row, count in before.items()})
        return typed("update_preimage", before) + typed("update_postimage", after)

    def merge(self, tx: deltaic.Transaction, day: int) -> Rows:
        """Updates a row, deletes a row and inserts new ones."""
        first, new = day * PER_DAY, self.new(day)
        source = pa.concat_tables([rows(first, first + 1, day=day), new])
        merge = tx.merge(source, on="target.id = source.id AND target.day = source.day")
        merge = merge.when_matched_delete("target.id % 2 = 1").when_matched_update({"name": "'merged'"})
        changed = merge.when_not_matched_insert_all().execute()
        assert changed == 2 + new.num_rows
        updated: Rows = Counter({(first, "merged", day): 1})
        return (
            typed("delete", counted(rows(first + 1, day=day)))
            + typed("update_preimage", counted(rows(first, day=day)))
            + typed("update_postimage", updated)
            + typed("insert", counted(new))
        )

    def overwrite(self, tx: deltaic.Transaction, day: int) -> Rows:
        where, new = self.chance.choice(["true", "id % 2 = 0"]), self.new(day)
        new = new.filter(pa.array([where == "true" or i % 2 == 0 for i in new["id"].to_pylist()]))
        tx.overwrite(new, f"day = {day} AND {where}")
        return typed("delete", self.before(day, where)) + typed("insert", counted(new))

    def remove(self, tx: deltaic.Transaction, day: int) -> Rows:
        tx.remove(tx.files(f"day = {day}"))
        return typed("delete", self.before(day))

    def dynamic(self, tx: deltaic.Transaction, day: int) -> Rows:
        new = self.new(day)
        tx.overwrite(new, partitions="dynamic")
        return typed("delete", self.before(day)) + typed("insert", counted(new))

    def delete_rows(self, tx: deltaic.Transaction, day: int) -> Rows:
        [path] = tx.files(f"day = {day}").to_arrow()["path"].to_pylist()
        assert tx.delete_rows({path: [1, 4]}) == 2
        deleted = rows(day * PER_DAY + 1, day * PER_DAY + 4, day=day)
        return typed("delete", counted(deleted))

    def add(self, tx: deltaic.Transaction, day: int) -> Rows:
        new, name = self.new(day), f"given-{day}.parquet"
        pq.write_table(new, self.root / name)
        file = {
            "path": name,
            "size": (self.root / name).stat().st_size,
            "modification_time": 1_793_491_200_000,
            "stats": f'{{"numRecords": {new.num_rows}}}',
        }
        tx.add([file])
        return typed("insert", counted(new))


def verbs(steps: Steps, properties: dict[str, str], by: list[str]) -> list[Verb]:
    found: list[Verb] = [steps.append, steps.delete, steps.update, steps.merge]
    found += [steps.overwrite, steps.remove]
    if by:
        found.append(steps.dynamic)
    if properties is VECTORS:
        found.append(steps.delete_rows)
    if not by and properties is not MAPPED:
        found.append(steps.add)
    return found


@pytest.mark.parametrize("by", [[], ["day"]], ids=["plain", "partitioned"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("number", range(6))
def test_the_feed_is_the_difference_of_the_versions(
    tmp_path: Path, form: str, by: list[str], number: int
) -> None:
    """protocol: writer-requirements-for-addcdcfile.2, change-data-files.2."""
    properties = FORMS[form]
    table = made(tmp_path, properties, by)
    steps = Steps(table, tmp_path, generator("feeds", form, by, number))
    chosen = [steps.chance.choice(verbs(steps, properties, by)) for _ in range(steps.chance.randint(2, DAYS))]
    before = counted(table.snapshot().scan().to_arrow())
    expected: Rows = Counter()
    with table.transaction() as tx:
        for day, verb in zip(steps.chance.sample(range(DAYS), len(chosen)), chosen, strict=True):
            expected += verb(tx, day)
    assert tx.committed is not None
    after = counted(table.snapshot().scan().to_arrow())
    assert feed(table, tx.committed.version) == expected
    net: Rows = Counter()
    for (*row, change), count in expected.items():
        net[tuple(row)] += count if change in ("insert", "update_postimage") else -count
    before.update(net)
    assert +before == after
    assert table.check(deep=True).is_healthy


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_rows_of_new_columns_are_recorded(tmp_path: Path, order: list[int]) -> None:
    """An append that adds a column, before or after a change that writes change data files."""
    table = made(tmp_path, FEED)
    wide = rows(1000, day=0).append_column("extra", pa.array([7], pa.int32()))
    with table.transaction() as tx:
        calls = [lambda: tx.append(wide, schema_mode="merge"), lambda: tx.delete("id = 1")]
        for index in order:
            calls[index]()
    assert tx.committed is not None
    changes = table.changes(tx.committed.version).to_arrow().select([*SCHEMA.names, "extra", "_change_type"])
    assert sorted(map(tuple, (row.values() for row in changes.to_pylist()))) == [
        (1, "n1", 0, None, "delete"),
        (1000, None, 0, 7, "insert"),
    ]


def test_without_rewritten_files_nothing_is_written_twice(tmp_path: Path) -> None:
    """Readers derive the changes from added and removed files and from deletion vectors."""
    table = made(tmp_path, VECTORS)
    with table.transaction() as tx:
        tx.delete("id = 1")
        tx.append(rows(1000, day=0))
    assert tx.committed is not None
    assert not of_kind(tmp_path, tx.committed.version, "cdc")
    assert feed(table, tx.committed.version) == Counter(
        {(1, "n1", 0, "delete"): 1, (1000, None, 0, "insert"): 1}
    )


def test_files_with_the_same_rows_are_no_change(tmp_path: Path) -> None:
    """Files added and removed with `data_change=False` are not in the feed."""
    table = made(tmp_path, FEED)
    with table.transaction() as tx:
        [path] = tx.files("day = 2").to_arrow()["path"].to_pylist()
        pq.write_table(tx.read("day = 2").to_arrow(), tmp_path / "same.parquet")
        file = {
            "path": "same.parquet",
            "size": (tmp_path / "same.parquet").stat().st_size,
            "modification_time": 1_793_491_200_000,
            "stats": f'{{"numRecords": {PER_DAY}}}',
            "data_change": False,
        }
        tx.add([file])
        tx.remove([path], data_change=False)
        tx.delete("id = 1")
    assert tx.committed is not None
    assert feed(table, tx.committed.version) == Counter({(1, "n1", 0, "delete"): 1})


def test_the_files_of_a_failed_block_are_deleted(tmp_path: Path) -> None:
    table = made(tmp_path, FEED)
    before = sorted(tmp_path.rglob("*.parquet"))

    def block() -> None:
        with table.transaction() as tx:
            tx.append(rows(1000, day=0))
            tx.delete("id = 1")
            raise KeyError

    with pytest.raises(KeyError):
        block()
    assert sorted(tmp_path.rglob("*.parquet")) == before


def test_a_conflict_deletes_the_change_data_files(tmp_path: Path) -> None:
    table = made(tmp_path, FEED)

    def block() -> None:
        with table.transaction() as tx:
            tx.append(rows(1000, day=0))
            tx.delete("id = 1")
            deltaic.Table(tmp_path).delete("id = 2")

    with pytest.raises(deltaic.CommitConflict):
        block()
    named = {
        action["path"]
        for version in range(table.snapshot().version + 1)
        for kind in ("add", "cdc")
        for action in of_kind(tmp_path, version, kind)
    }
    files = (path for path in tmp_path.rglob("*.parquet") if "_delta_log" not in path.parts)
    assert {str(path.relative_to(tmp_path)) for path in files} == named
