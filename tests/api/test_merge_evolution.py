"""`schema_mode="merge"` of merges, by the rules that delta-spark follows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic
from tests.api.log_files import of_kind
from tests.interop.merge_evolution import EVOLUTIONS, ROWS, SCHEMA, Evolution

VECTORS = {"delta.enableDeletionVectors": "true"}
FEED = {"delta.enableChangeDataFeed": "true"}
FORMS = {
    "rewriting": {},
    "vectors": VECTORS,
    "feed": FEED,
    "mapped": {"delta.columnMapping.mode": "name", "delta.enableRowTracking": "true", **VECTORS, **FEED},
}
REFUSALS = (ValueError, deltaic.InvalidPredicate, deltaic.SchemaMismatch)


def made(root: Path, rule: Evolution, form: dict[str, str]) -> deltaic.Table:
    properties = {**form, **rule.properties}
    constraint = properties.pop("delta.constraints.c", None)
    table = deltaic.Table.create(root, SCHEMA, properties=properties)
    table.append(pa.Table.from_pylist([{"id": key, **row} for key, row in ROWS.items()], SCHEMA))
    if constraint:
        table.alter(deltaic.alter.AddConstraint("c", constraint))
    return table


def merged(merge: Any, rule: Evolution) -> Any:
    for name, values, condition in rule.clauses:
        method = getattr(merge, name)
        merge = method(condition=condition) if values is None else method(values, condition=condition)
    return merge


def rows_of(table: deltaic.Table) -> list[dict[str, Any]]:
    return table.snapshot().scan().to_arrow().sort_by("id").to_pylist()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", EVOLUTIONS)
def test_rules(root: Path, name: str, form: str) -> None:
    rule = EVOLUTIONS[name]
    table = made(root, rule, FORMS[form])
    before, rows = table.snapshot(), rows_of(table)
    merge = table.merge(rule.table, on=rule.on, target_alias="t", source_alias="s", schema_mode="merge")
    if rule.refused is not None:
        with pytest.raises(REFUSALS):
            merged(merge, rule).execute()
        assert (table.snapshot().version, rows_of(table)) == (before.version, rows)
        return
    dry = merged(merge, rule).execute(dry_run=True)
    commit = merged(merge, rule).execute()
    after = table.snapshot()
    assert pa.schema(after.schema) == rule.schema
    assert rows_of(table) == rule.expected
    inserted = [key for key in rule.rows if key not in ROWS]
    assert dry.added_rows == commit.metrics["numTargetRowsInserted"] == len(inserted)
    assert table.check(deep=True).is_healthy
    if "feed" in form and commit.metrics["numTargetRowsUpdated"]:
        found = table.changes(commit.version, commit.version).to_arrow().to_pylist()
        images = {"preimage": [], "postimage": []}
        for row in found:
            if row["_change_type"].startswith("update"):
                values = {column: row[column] for column in rule.schema.names}
                images[row["_change_type"].removeprefix("update_")].append(values)
        keys = {row["id"] for row in images["postimage"]}
        by_id = lambda row: row["id"]  # noqa: E731
        expected = [row for row in rule.expected if row["id"] in keys]
        assert sorted(images["postimage"], key=by_id) == expected
        assert {row["id"] for row in images["preimage"]} == keys
        new = set(rule.schema.names) - set(SCHEMA.names)
        assert all(row[column] is None for row in images["preimage"] for column in new)


@pytest.mark.parametrize("name", ["all columns", "new fields", "a wider type"])
def test_rules_in_a_transaction(root: Path, name: str) -> None:
    rule = EVOLUTIONS[name]
    table = made(root, rule, {})
    with table.transaction() as tx:
        tx.append(pa.table({"id": pa.array([90], pa.int32()), "m": ["q"]}), schema_mode="merge")
        merge = tx.merge(rule.table, on=rule.on, target_alias="t", source_alias="s", schema_mode="merge")
        merged(merge, rule).execute()
        tx.append(pa.table({"id": pa.array([91], pa.int32())}))
    found = [row for row in rows_of(table) if row["id"] < 90]
    assert {row.pop("m") for row in found} == {None}
    assert found == rule.expected
    assert [row["m"] for row in rows_of(table) if row["id"] >= 90] == ["q", None]
    assert table.check(deep=True).is_healthy


def test_the_schema_changes_even_if_no_row_does(root: Path) -> None:
    table = made(root, EVOLUTIONS["no match"], {})
    merge = table.merge(
        EVOLUTIONS["no match"].table, "t.id = s.id", target_alias="t", source_alias="s", schema_mode="merge"
    ).when_matched_update_all()
    commit = merge.execute()
    assert (commit.version, commit.operation, commit.skipped) == (2, "MERGE", False)
    assert len(of_kind(root, 2, "metaData")) == 1
    assert not of_kind(root, 2, "add")
    assert commit.metrics["numSourceRows"] == 1
    assert merge.execute().skipped
    assert repr(merge).startswith("MERGE WITH SCHEMA EVOLUTION INTO t USING s ON t.id = s.id\n")


def test_a_failed_merge_leaves_the_schema(root: Path) -> None:
    table = made(root, EVOLUTIONS["all columns"], {})
    twice = pa.table({"id": pa.array([1, 1], pa.int32()), "n": [1, 2]})
    with table.transaction() as tx:
        merge = tx.merge(twice, "target.id = source.id", schema_mode="merge").when_matched_update_all()
        with pytest.raises(deltaic.ConstraintViolation, match="several rows of the source"):
            merge.execute()
        tx.append(pa.table({"id": pa.array([7], pa.int32())}))
    assert table.snapshot().schema.names == SCHEMA.names


def test_after_a_conflict_the_schema_changes_again(root: Path) -> None:
    """Another writer adds a column of the source, and a row, while the source is read."""
    table, other = made(root, EVOLUTIONS["all columns"], {}), deltaic.Table(root)
    schema = pa.schema({"id": pa.int32(), "m": pa.int64(), "n": pa.int64()})

    def source() -> Any:
        other.append(pa.table({"id": [9], "m": [5]}, schema=schema.remove(2)), schema_mode="merge")
        yield pa.record_batch([[1, 9], [6, 6], [7, 7]], schema=schema)

    stream = pa.RecordBatchReader.from_batches(schema, source())
    merge = table.merge(stream, on="target.id = source.id", schema_mode="merge")
    merge.when_matched_update_all().when_not_matched_insert_all().execute()
    assert table.snapshot().schema.names == [*SCHEMA.names, "m", "n"]
    assert {row["id"]: (row["m"], row["n"]) for row in rows_of(table)} == {
        1: (6, 7),
        2: (None, None),
        3: (None, None),
        9: (6, 7),
    }


def test_defaults_of_columns_that_the_source_lacks(root: Path) -> None:
    """All columns are then those that the source has; others get their default, or are computed."""
    columns = [
        deltaic.Column("id", pa.int64()),
        deltaic.Column("a", pa.int64(), default="42"),
        deltaic.Column("g", pa.int64(), generated="id + 1"),
    ]
    table = deltaic.Table.create(root, columns)
    table.append(pa.table({"id": [1], "a": [5]}))
    source = pa.table({"id": [1, 2], "n": [7, 8]})
    merge = table.merge(source, on="target.id = source.id", schema_mode="merge")
    merge.when_matched_update_all().when_not_matched_insert_all().execute()
    assert rows_of(table) == [{"id": 1, "a": 5, "g": 2, "n": 7}, {"id": 2, "a": 42, "g": 3, "n": 8}]


def test_not_null_columns_that_the_source_lacks(root: Path) -> None:
    schema = pa.schema([pa.field("id", pa.int64()), pa.field("a", pa.int64(), nullable=False)])
    table = deltaic.Table.create(root, schema)
    table.append(pa.table({"id": [1], "a": [5]}, schema=schema))
    source = pa.table({"id": [1, 2], "n": [7, 8]})
    merge = table.merge(source, on="target.id = source.id", schema_mode="merge").when_matched_update_all()
    with pytest.raises((deltaic.ConstraintViolation, deltaic.SchemaMismatch), match="a"):
        merge.when_not_matched_insert_all().execute()
    merge.execute()
    assert rows_of(table) == [{"id": 1, "a": 5, "n": 7}]


def test_a_column_twice_or_without_a_type_is_refused(root: Path) -> None:
    table = made(root, EVOLUTIONS["all columns"], {})
    ids = pa.array([1], pa.int32())
    twice = pa.Table.from_arrays([ids, ids, ids], names=["id", "n", "N"])
    for source in (twice, pa.table({"id": ids, "n": pa.nulls(1)})):
        merge = table.merge(source, on="target.id = source.id", schema_mode="merge").when_matched_update_all()
        with pytest.raises(deltaic.DeltaicError):
            merge.execute()
    assert table.snapshot().version == 1


@pytest.mark.parametrize("mode", ["replace", "other"])
def test_other_modes(root: Path, mode: Any) -> None:
    table = made(root, EVOLUTIONS["all columns"], {})
    merge = table.merge(pa.table({"id": [1]}), on="target.id = source.id", schema_mode=mode)
    with pytest.raises(ValueError, match="schema"):
        merge.when_matched_delete().execute()


def test_without_it_the_table_keeps_its_schema(root: Path) -> None:
    table = made(root, EVOLUTIONS["all columns"], {})
    source = pa.table({"id": pa.array([1], pa.int32()), "n": [7]})
    merge = table.merge(source, on="target.id = source.id")
    with pytest.raises(ValueError, match='no column "n" to set'):
        merge.when_matched_update({"n": "source.n"}).execute()
    with pytest.raises(deltaic.SchemaMismatch, match="the source has no column a"):
        merge.when_matched_update_all().execute()


def test_partition_columns_keep_their_type(root: Path) -> None:
    properties = {"delta.enableTypeWidening": "true"}
    schema = pa.schema({"id": pa.int32(), "day": pa.int32()})
    table = deltaic.Table.create(root, schema, partition_by=["day"], properties=properties)
    table.append(pa.Table.from_pylist([{"id": 1, "day": 1}], schema))
    for day, fits in ((7, True), (1 << 40, False)):
        source = pa.table({"id": [1, 2], "day": [day] * 2})
        merge = table.merge(source, on="target.id = source.id", schema_mode="merge").when_matched_update_all()
        merge = merge.when_not_matched_insert_all("id > 1")
        if fits:
            merge.execute()
        else:
            with pytest.raises(deltaic.SchemaMismatch, match="day is int, which cannot hold the bigint"):
                merge.execute()
    assert pa.schema(table.snapshot().schema) == pa.schema({"id": pa.int64(), "day": pa.int32()})
    assert rows_of(table) == [{"id": 1, "day": 7}, {"id": 2, "day": 7}]
    assert table.check(deep=True).is_healthy


SMALL = pa.struct([("a", pa.int32())])
LARGE = pa.struct([("a", pa.int64()), ("b", pa.string())])
OLD, NEW = {"a": 1}, {"a": 2**40, "b": "x"}
GROWN = {"a": 1, "b": None}


@pytest.mark.parametrize(
    ("types", "old", "new", "grown"),
    [
        ((pa.list_(SMALL), pa.list_(LARGE)), [OLD], [NEW], [GROWN]),
        (
            (pa.map_(pa.string(), SMALL), pa.map_(pa.string(), LARGE)),
            [("k", OLD)],
            [("k", NEW)],
            [("k", GROWN)],
        ),
        (
            (pa.map_(SMALL, pa.string()), pa.map_(LARGE, pa.string())),
            [(OLD, "v")],
            [(NEW, "v")],
            [(GROWN, "v")],
        ),
        (
            (
                pa.struct([("items", pa.list_(SMALL))]),
                pa.struct([("items", pa.list_(LARGE)), ("n", pa.int32())]),
            ),
            {"items": [OLD]},
            {"items": [NEW], "n": 5},
            {"items": [GROWN], "n": None},
        ),
    ],
    ids=["array", "map value", "map key", "array in a struct"],
)
def test_structs_in_collections_grow_and_widen(
    root: Path, types: tuple[pa.DataType, pa.DataType], old: object, new: object, grown: object
) -> None:
    schema = pa.schema([("id", pa.int32()), ("c", types[0])])
    table = deltaic.Table.create(root, schema, properties={"delta.enableTypeWidening": "true"})
    table.append(pa.Table.from_pydict({"id": [1, 2], "c": [old, old]}, schema))
    source = pa.Table.from_pydict({"id": [2, 3], "c": [new, new]}, schema.set(1, pa.field("c", types[1])))
    merge = table.merge(source, "target.id = source.id", schema_mode="merge")
    merge.when_matched_update_all().when_not_matched_insert_all().execute()
    assert [row["c"] for row in rows_of(table)] == [grown, new, new]
