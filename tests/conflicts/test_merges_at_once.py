"""Two merges, or a merge and another verb, at once: which land together, and which conflict."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic
from deltaic import Transaction

SCHEMA = pa.schema([("id", pa.int64()), ("n", pa.int64())])
FORMS = {"rewriting": {}, "vectors": {"delta.enableDeletionVectors": "true"}}
MIB = 1 << 20
ON = "target.id = source.id"
# A change, staged with further rows of its source.
Change = Callable[[Transaction, pa.Table], object]


def rows(*pairs: tuple[int, int]) -> pa.Table:
    return pa.table({"id": [pair[0] for pair in pairs], "n": [pair[1] for pair in pairs]}, schema=SCHEMA)


NO_ROWS = rows()
# Too many for a source that is held in 1 MiB. They match no row and are not inserted.
MANY_ROWS = pa.table({"id": [None] * 50_000, "n": [0] * 50_000}, schema=SCHEMA)


def made(root: Path, form: str) -> deltaic.Table:
    """Returns a table of three files of ten rows each: 0 to 9, 100 to 109 and 200 to 209."""
    table = deltaic.Table.create(root, SCHEMA, properties=FORMS[form])
    for start in (0, 100, 200):
        table.append(rows(*((start + row, start) for row in range(10))))
    return table


def upsert(*pairs: tuple[int, int]) -> Change:
    def change(tx: Transaction, more: pa.Table) -> object:
        merge = tx.merge(pa.concat_tables([rows(*pairs), more]), on=ON)
        return merge.when_matched_update_all().when_not_matched_insert_all("source.n <> 0").execute()

    return change


def insert(*pairs: tuple[int, int]) -> Change:
    def change(tx: Transaction, more: pa.Table) -> object:
        merge = tx.merge(pa.concat_tables([rows(*pairs), more]), on=ON)
        return merge.when_not_matched_insert_all("source.n <> 0").execute()

    return change


def update_to_large(*pairs: tuple[int, int]) -> Change:
    """Updates only rows whose new value is large."""

    def change(tx: Transaction, more: pa.Table) -> object:
        merge = tx.merge(pa.concat_tables([rows(*pairs), more]), on=ON)
        return merge.when_matched_update_all("source.n > 1000").execute()

    return change


def delete_others(where: str, *pairs: tuple[int, int]) -> Change:
    def change(tx: Transaction, more: pa.Table) -> object:
        merge = tx.merge(pa.concat_tables([rows(*pairs), more]), on=ON)
        return merge.when_not_matched_by_source_delete(where).execute()

    return change


def append(*pairs: tuple[int, int]) -> Change:
    return lambda tx, _: tx.append(rows(*pairs))


def update(where: str) -> Change:
    return lambda tx, _: tx.update({"n": "n + 5"}, where)


def delete(where: str) -> Change:
    return lambda tx, _: tx.delete(where)


def at_once(table: deltaic.Table, first: Change, second: Change, more: pa.Table, memory: int | None) -> None:
    """Stages both on one version; the second commits after the first."""
    with table.transaction(isolation="Serializable", memory=memory) as late:
        second(late, more)
        with table.transaction(isolation="Serializable") as early:
            first(early, NO_ROWS)


def in_order(table: deltaic.Table, *changes: Change) -> None:
    for change in changes:
        with table.transaction() as tx:
            change(tx, NO_ROWS)


def rows_of(table: deltaic.Table) -> list[tuple[int, int]]:
    found = table.snapshot().scan().to_arrow().to_pylist()
    return sorted((row["id"], row["n"]) for row in found)


SOURCES = {"in memory": (NO_ROWS, None), "spilled": (MANY_ROWS, MIB)}
OTHER_FILES = {
    "merges into different files": (upsert((11, -1), (3, -3)), upsert((101, -1), (105, -5))),
    "an update of other keys": (update("id IN (1, 3)"), upsert((101, -1), (205, -5))),
    "a delete of other keys": (delete("id < 5"), upsert((101, -1), (205, -5))),
    "a delete of a file in between": (delete("id BETWEEN 100 AND 109"), upsert((50, -1), (205, -5))),
    "other keys are appended": (append((301, 2), (302, 2)), upsert((101, -1), (205, -5), (250, 1))),
    "other keys are inserted": (insert((301, 2), (101, 1)), insert((305, 2), (306, 1), (205, 1))),
}
# A rewritten file may have one of the keys: its bounds do not exclude it.
OTHER_ROWS = {
    "merges into different rows": (upsert((1, -1), (2, -2)), upsert((5, -5), (7, -7))),
    "an update of other rows": (update("id < 4"), upsert((5, -5), (7, -7))),
    "a delete of a row between the keys": (delete("id = 4"), upsert((3, -3), (7, -7))),
    "a match without a change": (delete("id = 4"), update_to_large((3, -3), (7, 2000))),
    "a match of an insert": (delete("id = 4"), insert((3, -3), (300, 1))),
    "inserts beside an update of a file in between": (
        update("id = 105"),
        insert((50, 1), (150, 1), (250, 1)),
    ),
    "deletes of rows that no source row matches": (
        delete("id >= 108"),
        delete_others("target.id < 50", (1, 1), (101, 1)),
    ),
}


@pytest.mark.parametrize("kept", SOURCES)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", OTHER_FILES)
def test_changes_of_other_files_land_together(tmp_path: Path, case: str, form: str, kept: str) -> None:
    ensure_together(tmp_path, form, OTHER_FILES[case], kept)


@pytest.mark.parametrize("kept", SOURCES)
@pytest.mark.parametrize("case", OTHER_ROWS)
def test_changes_of_other_rows_land_together_with_vectors(tmp_path: Path, case: str, kept: str) -> None:
    ensure_together(tmp_path, "vectors", OTHER_ROWS[case], kept)


def ensure_together(root: Path, form: str, changes: tuple[Change, Change], kept: str) -> None:
    table, expected = made(root / "at once", form), made(root / "in order", form)
    at_once(table, *changes, *SOURCES[kept])
    in_order(expected, *changes)
    assert rows_of(table) == rows_of(expected)


CONFLICTS = {
    "the same row": (upsert((1, -1)), upsert((1, -2), (2, -2))),
    "a matching row is appended": (append((8, 5)), upsert((8, -5), (9, -6))),
    "a matching row is appended before an insert": (append((305, 5)), insert((305, -5))),
    "both insert a key": (upsert((305, 5)), upsert((305, -5))),
    "a matching row is deleted": (delete("id = 5"), upsert((5, -5))),
    "a matching row that does not change is deleted": (delete("id = 5"), update_to_large((5, -5), (7, 2000))),
    "a matching row is deleted before an insert": (delete("id = 5"), insert((5, -5), (300, 1))),
    "a matching row is updated before an insert": (update("id = 5"), insert((5, -5), (300, 1))),
    "a row is appended that no source row matches": (
        append((20, 1)),
        delete_others("target.id < 50", (1, 1)),
    ),
}


@pytest.mark.parametrize("kept", SOURCES)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("case", CONFLICTS)
def test_a_change_that_the_merge_depends_on_conflicts(
    tmp_path: Path, case: str, form: str, kept: str
) -> None:
    table, expected = made(tmp_path / "at once", form), made(tmp_path / "alone", form)
    first, second = CONFLICTS[case]
    with pytest.raises(deltaic.CommitConflict):
        at_once(table, first, second, *SOURCES[kept])
    in_order(expected, first)
    assert rows_of(table) == rows_of(expected)


def test_a_merge_is_planned_again_after_a_conflict(tmp_path: Path) -> None:
    table = made(tmp_path, "vectors")

    def source() -> Iterator[pa.RecordBatch]:
        """The rows are read after the version of the table."""
        deltaic.Table(tmp_path).delete("id = 5")
        yield from rows((5, -5), (7, -7)).to_batches()

    merge = table.merge(pa.RecordBatchReader.from_batches(SCHEMA, source()), on=ON)
    commit = merge.when_matched_update_all().when_not_matched_insert_all().execute()
    assert commit.version == 5
    assert (commit.metrics["numTargetRowsInserted"], commit.metrics["numTargetRowsUpdated"]) == (1, 1)
    assert dict(rows_of(table))[5] == -5
