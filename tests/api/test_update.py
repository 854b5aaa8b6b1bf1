"""`Table.update` and `Transaction.update`: by deletion vectors and by rewriting files."""

# A transaction raises at the end of its block.

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic
from deltaic import _rust
from deltaic.values.commit_options import to_options
from tests.api.log_files import of_kind

ROWS = 40
SCHEMA = pa.schema(
    [("id", pa.int64()), ("name", pa.string()), ("day", pa.int32()), ("price", pa.decimal128(8, 2))]
)
VECTORS = {"delta.enableDeletionVectors": "true"}
FEED = {"delta.enableChangeDataFeed": "true"}
TRACKING = {"delta.enableRowTracking": "true"}
Row = dict[str, Any]


def row_of(i: int) -> Row:
    name = None if i % 10 == 0 else f"n{i}"
    return {"id": i, "name": name, "day": i // 20, "price": None if i % 7 == 0 else Decimal(i) / 4}


def made(root: Path, *, by: list[str] | None = None, **properties: str) -> deltaic.Table:
    """Returns a table of two files with the rows of `row_of`."""
    table = deltaic.Table.create(root, SCHEMA, partition_by=by or [], properties=properties)
    for first in (0, ROWS // 2):
        rows = [row_of(i) for i in range(first, first + ROWS // 2)]
        table.append(pa.Table.from_pylist(rows, SCHEMA))
    return table


def rows_of(table: deltaic.Table) -> list[Row]:
    return table.snapshot().scan().to_arrow().sort_by("id").to_pylist()


def changed(change: Callable[[Row], Row], where: Callable[[Row], bool]) -> list[Row]:
    rows = [row_of(i) for i in range(ROWS)]
    return sorted((change(row) if where(row) else row for row in rows), key=lambda row: row["id"])


@pytest.mark.parametrize("properties", [{}, VECTORS, FEED, {**VECTORS, **FEED, **TRACKING}])
@pytest.mark.parametrize("by", [[], ["day"]])
@pytest.mark.parametrize(
    ("values", "where", "change", "holds"),
    [
        ({"name": "'x'"}, "id = 7", lambda r: {**r, "name": "x"}, lambda r: r["id"] == 7),
        ({"name": None}, None, lambda r: {**r, "name": None}, lambda _: True),
        ({"id": "id + 100"}, "day = 1", lambda r: {**r, "id": r["id"] + 100}, lambda r: r["day"] == 1),
        ({"day": 9}, "id > 35", lambda r: {**r, "day": 9}, lambda r: r["id"] > 35),
        (
            {"id": "-id", "day": "day * 2 + 1"},
            "name IS NULL OR id = 3",
            lambda r: {**r, "id": -r["id"], "day": r["day"] * 2 + 1},
            lambda r: r["name"] is None or r["id"] == 3,
        ),
        (
            {"price": "price * 2"},
            "price > 5",
            lambda r: {**r, "price": r["price"] * 2},
            lambda r: r["price"] is not None and r["price"] > 5,
        ),
    ],
)
def test_rows_of_a_predicate_get_new_values(
    root: Path,
    *,
    values: Any,
    where: str | None,
    change: Any,
    holds: Any,
    by: list[str],
    properties: dict[str, str],
) -> None:
    table = made(root, by=by, **properties)
    expected = changed(change, holds)
    count = sum(holds(row_of(i)) for i in range(ROWS))
    dry = table.update(values, where, dry_run=True)
    commit = table.update(values, where)
    assert rows_of(table) == expected
    assert table.check(deep=True).is_healthy
    assert (commit.version, commit.operation) == (3, "UPDATE")
    assert commit.metrics["numUpdatedRows"] == dry.rows == count
    assert commit.metrics["numAddedFiles"] == sum(
        "deletionVector" not in add for add in of_kind(root, 3, "add")
    )


@pytest.mark.parametrize("properties", [FEED, {**FEED, **VECTORS}])
def test_the_change_feed_has_both_images(root: Path, properties: dict[str, str]) -> None:
    """A version with removed and added rows needs change data files.

    protocol: writer-requirements-for-addcdcfile.2
    """
    table = made(root, by=["day"], **properties)
    table.update({"day": "day + 1", "name": "'moved'"}, "id IN (3, 25)")
    feed = table.changes(3).to_arrow().sort_by([("id", "ascending"), ("_change_type", "descending")])
    found = [(row["_change_type"], row["id"], row["day"], row["name"]) for row in feed.to_pylist()]
    assert found == [
        ("update_preimage", 3, 0, "n3"),
        ("update_postimage", 3, 1, "moved"),
        ("update_preimage", 25, 1, "n25"),
        ("update_postimage", 25, 2, "moved"),
    ]


@pytest.mark.parametrize("properties", [TRACKING, {**TRACKING, **VECTORS}])
def test_updated_rows_keep_their_row_ids(root: Path, properties: dict[str, str]) -> None:
    """Their row commit version is that of the update."""
    table = made(root, **properties)

    def known() -> dict[int, tuple[int, int]]:
        rows = table.snapshot().scan(["id"], row_ids=True).to_arrow().to_pylist()
        return {row["id"]: (row["_row_id"], row["_row_commit_version"]) for row in rows}

    before = known()
    table.update({"name": "'x'"}, "id IN (1, 30)")
    after = known()
    assert {row: row_id for row, (row_id, _) in after.items()} == {
        row: row_id for row, (row_id, _) in before.items()
    }
    assert {row for row in after if after[row] != before[row]} == {1, 30}
    assert {after[row][1] for row in (1, 30)} == {3}
    table.update({"id": "id + 1000"}, "id = 30")
    assert known()[1030] == (before[30][0], 4)
    assert len({row_id for row_id, _ in known().values()}) == ROWS


def test_a_rewritten_file_is_one_file_with_its_rows_in_order(root: Path) -> None:
    """Also if it has deleted rows, which stay deleted."""
    table = made(root, **TRACKING, **VECTORS)
    table.delete("id IN (4, 6)")
    table.alter(deltaic.alter.SetProperties({"delta.enableDeletionVectors": "false"}))
    before = {row["id"]: row for row in table.snapshot().scan(row_ids=True).to_arrow().to_pylist()}
    commit = table.update({"name": "'new'"}, "id IN (5, 7) OR id = 11")
    (added,) = of_kind(root, commit.version, "add")
    assert "deletionVector" not in added
    assert commit.metrics["numUpdatedRows"] == 3
    assert commit.metrics["numCopiedRows"] == ROWS // 2 - 2 - 3
    assert commit.metrics["numRemovedFiles"] == commit.metrics["numAddedFiles"] == 1
    stored = pq.read_table(root / added["path"]).column("id").to_pylist()
    assert stored == [i for i in range(ROWS // 2) if i not in (4, 6)]
    for row in table.snapshot().scan(row_ids=True).to_arrow().to_pylist():
        expected = dict(before.pop(row["id"]))
        if row["id"] in (5, 7, 11):
            expected |= {"name": "new", "_row_commit_version": commit.version}
        assert row == expected
    assert not before


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ({"nme": "'x'"}, ValueError, 'there is no column "nme"'),
        ({"name": "'x'", "NAME": "'y'"}, ValueError, "is set twice"),
        ({}, ValueError, "at least one column"),
        ([("name", "'x'")], TypeError, "must be a mapping"),
        ({"name": "nothing"}, deltaic.InvalidPredicate, "there is no column nothing"),
        ({"name": "'x"}, deltaic.InvalidPredicate, "line 1"),
        ({"name": "id"}, deltaic.SchemaMismatch, "the column name is string, but its new value id is bigint"),
        ({"day": "id"}, deltaic.SchemaMismatch, "cannot hold the bigint"),
        ({"day": "1.5"}, deltaic.SchemaMismatch, r"cannot hold the decimal\(2,1\) 1.5"),
        ({"day": "'1'"}, deltaic.SchemaMismatch, "its new value '1' is string"),
        ({"id": "id / 0"}, deltaic.InvalidPredicate, "division by zero"),
        ({"id": "id % 0"}, deltaic.InvalidPredicate, "division by zero"),
        ({"id": "id * 9223372036854775807"}, deltaic.InvalidPredicate, "out of the range"),
        ({"name": "frobnicate(name)"}, deltaic.UnsupportedExpression, "frobnicate"),
        ({"name": object()}, TypeError, "cannot be used"),
    ],
)
def test_a_wrong_value_changes_nothing(root: Path, values: Any, error: type[Exception], message: str) -> None:
    table = made(root, **FEED)
    before = sorted(root.rglob("*.parquet"))
    table.update({"id": 1 << 40}, "id = 39")
    version = table.snapshot().version
    before = sorted(root.rglob("*.parquet"))
    with pytest.raises(error, match=message):
        table.update(values)
    assert table.snapshot().version == version
    assert sorted(root.rglob("*.parquet")) == before


def test_constraints_of_new_rows(root: Path) -> None:
    """protocol: check-constraints.11."""
    table = made(root)
    table.alter(deltaic.alter.AddConstraint("low", "id < 100"))
    with pytest.raises(deltaic.ConstraintViolation) as caught:
        table.update({"id": "id + 70"}, "id > 20")
    assert caught.value.context["constraint"] == "low"
    table.update({"id": "id + 50"}, "id > 20")
    assert max(row["id"] for row in rows_of(table)) == 89


def test_a_column_that_may_not_be_null(root: Path) -> None:
    schema = pa.schema([pa.field("id", pa.int64(), nullable=False), ("n", pa.int64())])
    table = deltaic.Table.create(root, schema)
    table.append(pa.table({"id": [1, 2], "n": [1, None]}, schema=schema))
    with pytest.raises(deltaic.ConstraintViolation, match="must not be NULL"):
        table.update({"id": "n"})
    assert table.update({"id": "n"}, "n = 1").metrics["numUpdatedRows"] == 1


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("CAST(id AS STRING)", [str(i) for i in range(ROWS)]),
        ("'a'", ["a"] * ROWS),
        ("name", [row_of(i)["name"] for i in range(ROWS)]),
        ("CAST(id > 5 AS STRING)", ["true" if i > 5 else "false" for i in range(ROWS)]),
        ("CAST(price + 0.5 AS STRING)", None),
        ("CAST(DATE '2026-01-01' + day AS STRING)", [f"2026-01-{1 + i // 20:02}" for i in range(ROWS)]),
        ("TRY_CAST(name AS INT)", None),
    ],
)
def test_expressions(root: Path, value: str, expected: list[str | None] | None) -> None:
    table = made(root)
    if value.startswith("TRY_CAST"):
        value = f"CAST({value} AS STRING)"
        expected = [None] * ROWS
    if expected is None:
        prices = [row_of(i)["price"] for i in range(ROWS)]
        expected = [None if price is None else f"{price + Decimal('0.5'):.2f}" for price in prices]
    table.update({"name": value})
    assert [row["name"] for row in rows_of(table)] == expected


def test_values_of_python(root: Path) -> None:
    schema = pa.schema(
        [
            ("i", pa.int16()),
            ("f", pa.float64()),
            ("d", pa.date32()),
            ("t", pa.timestamp("us", "UTC")),
            ("b", pa.bool_()),
        ]
    )
    table = deltaic.Table.create(root, schema)
    table.append(pa.table({"i": [1]}, schema=pa.schema([("i", pa.int16())])))
    moment = dt.datetime(2026, 1, 2, 3, tzinfo=dt.timezone.utc)
    table.update({"i": 7, "f": 2.5, "d": dt.date(2026, 1, 2), "t": moment, "b": deltaic.col("i") == 1})
    assert rows_of_any(table) == [{"i": 7, "f": 2.5, "d": dt.date(2026, 1, 2), "t": moment, "b": True}]
    with pytest.raises(deltaic.SchemaMismatch, match="cannot hold the int 70000"):
        table.update({"i": 70_000})


def rows_of_any(table: deltaic.Table) -> list[Row]:
    return table.snapshot().scan().to_arrow().to_pylist()


def test_nothing_matches(root: Path) -> None:
    table = made(root)
    assert table.update({"name": "'x'"}, "id < 0").skipped
    assert table.snapshot().version == 2


def test_an_append_only_table(root: Path) -> None:
    table = made(root, **{"delta.appendOnly": "true"})
    with pytest.raises(deltaic.ConstraintViolation, match="append-only"):
        table.update({"name": "'x'"})


@pytest.mark.parametrize("properties", [{}, VECTORS, {**FEED, **TRACKING}])
def test_an_update_is_planned_again_after_a_conflict(root: Path, properties: dict[str, str]) -> None:
    made(root, **properties)
    table = _rust.Table(str(root))
    stale = table.snapshot()
    deltaic.Table(root).update({"name": "'first'"}, "id IN (3, 4)")
    options = to_options("update")
    commit = table.update(stale, values=[("day", "day + 7")], predicate="name = 'first'", options=options)
    # In the version that it read first, no row matched.
    assert commit.skipped
    commit = table.update(stale, values=[("day", "day + 7")], predicate="id IN (4, 5)", options=options)
    assert commit.conflicts_resolved
    rows = {row["id"]: (row["name"], row["day"]) for row in rows_of(deltaic.Table(root))}
    assert [rows[i] for i in (3, 4, 5)] == [("first", 0), ("first", 7), ("n5", 7)]
    assert deltaic.Table(root).check(deep=True).is_healthy


@pytest.mark.parametrize("properties", [{}, VECTORS, FEED])
def test_a_failed_update_leaves_no_files(root: Path, properties: dict[str, str]) -> None:
    table = made(root, **properties)
    second = next(iter(table.snapshot().files("id = 30").to_arrow()["path"].to_pylist()))
    whole = (root / second).read_bytes()
    before = sorted(root.rglob("*.*"))
    (root / second).write_bytes(whole[: len(whole) // 3])
    with pytest.raises(deltaic.CorruptData):
        table.update({"name": "'x'"}, "id IN (1, 30)")
    assert sorted(root.rglob("*.*")) == before


def test_default_is_the_default_of_a_column(root: Path) -> None:
    columns = [
        deltaic.Column("id", "int"),
        deltaic.Column("status", "string", default="'open'"),
        deltaic.Column("note", "string"),
    ]
    table = deltaic.Table.create(root, columns)
    table.append(pa.table({"id": pa.array([1, 2], pa.int32()), "status": ["a", "b"], "note": ["x", "y"]}))
    table.update({"status": "DEFAULT", "note": "default"}, "id = 1")
    merge = table.merge(pa.table({"id": pa.array([2, 3], pa.int32())}), "target.id = source.id")
    merge = merge.when_matched_update({"status": "DEFAULT"})
    merge.when_not_matched_insert({"id": "source.id", "status": "DEFAULT", "note": "DEFAULT"}).execute()
    assert table.to_arrow().sort_by("id").to_pylist() == [
        {"id": 1, "status": "open", "note": None},
        {"id": 2, "status": "open", "note": "y"},
        {"id": 3, "status": "open", "note": None},
    ]


def test_a_column_may_be_called_default(root: Path) -> None:
    columns = [deltaic.Column("id", "int"), deltaic.Column("v", "int", default="7")]
    table = deltaic.Table.create(root, columns)
    table.append(pa.table({"id": pa.array([1], pa.int32())}))
    source = pa.table({"id": pa.array([1], pa.int32()), "default": pa.array([100], pa.int32())})
    table.merge(source, "target.id = source.id").when_matched_update({"v": "default"}).execute()
    assert table.to_arrow()["v"].to_pylist() == [100]
    table.update({"v": "default"})
    assert table.to_arrow()["v"].to_pylist() == [7]


@pytest.mark.parametrize("text", ["current_timestamp", "CURRENT_TIMESTAMP()", "now()"])
def test_the_current_time_with_or_without_parentheses(root: Path, text: str) -> None:
    kind = pa.struct([("at", pa.timestamp("us", "UTC")), ("n", pa.int64())])
    schema = pa.schema(
        [("id", pa.int64()), ("at", pa.timestamp("us", "UTC")), ("day", pa.date32()), ("s", kind)]
    )
    table = deltaic.Table.create(root, schema)
    table.append(pa.Table.from_pylist([{"id": 1, "s": {"n": 1}}], schema))
    table.update(
        {"at": text, "day": "current_date", "s.at": text}, f"at IS NULL AND {text} > TIMESTAMP '2026-01-01'"
    )
    [row] = table.to_arrow().to_pylist()
    assert row["at"] == row["s"]["at"]
    assert row["at"].date() == row["day"]
    assert table.snapshot().scan(predicate=f"at <= {text} AND day <= current_date").count() == 1
    merge = table.merge(pa.table({"id": [1, 2]}), f"target.id = source.id AND target.at < {text}")
    merge.when_matched_update({"at": text}).when_not_matched_insert({"id": "source.id", "at": text}).execute()
    assert table.snapshot().scan(predicate="at IS NULL").count() == 0


def test_a_column_may_be_called_like_the_current_time(root: Path) -> None:
    day = pa.array([dt.date(2000, 1, 1)])
    table = deltaic.write(root, pa.table({"current_date": day, "d": day}))
    table.update({"d": "current_date + 1"}, "current_date = DATE '2000-01-01'")
    assert table.to_arrow()["d"].to_pylist() == [dt.date(2000, 1, 2)]
