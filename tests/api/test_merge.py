"""`Table.merge`: clauses and their conditions, matches, files, changes, and what is refused.

Random merges are compared with a model in `tests/programs/merges`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic
from tests.api.log_files import of_kind

SCHEMA = pa.schema([("id", pa.int64()), ("day", pa.int32()), ("name", pa.string())])
VECTORS = {"delta.enableDeletionVectors": "true"}
FEED = {"delta.enableChangeDataFeed": "true"}
TRACKING = {"delta.enableRowTracking": "true"}
ON = "target.id = source.id"
Row = dict[str, Any]
WAYS = pytest.mark.parametrize("properties", [{}, VECTORS], ids=["rewriting", "vectors"])


def rows(*ids: int | None, day: int = 0, name: str = "old") -> pa.Table:
    return pa.table(
        {"id": list(ids), "day": pa.array([day] * len(ids), pa.int32()), "name": [name] * len(ids)},
        schema=SCHEMA,
    )


def made(root: Path, *, by: list[str] | None = None, **properties: str) -> deltaic.Table:
    """Returns a table of two files, with the ids 1 to 5 and 6 to 10."""
    table = deltaic.Table.create(root, SCHEMA, partition_by=by or [], properties=properties)
    table.append(rows(1, 2, 3, 4, 5))
    table.append(rows(6, 7, 8, 9, 10, day=1))
    return table


def names_of(table: deltaic.Table) -> dict[int | None, str]:
    found = table.snapshot().scan(["id", "name"]).to_arrow().to_pylist()
    assert len({row["id"] for row in found}) == len(found)
    return {row["id"]: row["name"] for row in found}


@WAYS
def test_rows_are_updated_deleted_and_inserted(root: Path, properties: dict[str, str]) -> None:
    table = made(root, **properties, **FEED, **TRACKING)
    before = {row["id"]: row for row in table.snapshot().scan(row_ids=True).to_arrow().to_pylist()}
    merge = (
        table.merge(rows(3, 4, 11, 12, name="new"), ON)
        .when_matched_delete("source.id = 4")
        .when_matched_update({"name": "concat(target.name, '+', source.name)"})
        .when_not_matched_insert_all("id = 11")
        .when_not_matched_by_source_update({"name": "'gone'"}, "id = 6")
        .when_not_matched_by_source_delete("day = 1 AND id > 9")
    )
    dry = merge.execute(dry_run=True)
    assert (dry.rows, dry.added_rows) == (4, 1)
    assert str(dry).startswith("MERGE of version 2 would update or delete 4 rows and add 1 row:")
    commit = merge.execute()
    assert (commit.version, commit.operation) == (3, "MERGE")
    expected = dict.fromkeys(range(1, 12), "old") | {3: "old+new", 6: "gone", 11: "new"}
    del expected[4], expected[10]
    assert names_of(table) == expected
    metrics = {name: value for name, value in commit.metrics.items() if name.startswith("numTargetRows")}
    copied = metrics.pop("numTargetRowsCopied")
    assert copied == (0 if properties else 6)
    assert metrics == {
        "numTargetRowsInserted": 1,
        "numTargetRowsUpdated": 2,
        "numTargetRowsDeleted": 2,
        "numTargetRowsMatchedUpdated": 1,
        "numTargetRowsMatchedDeleted": 1,
        "numTargetRowsNotMatchedBySourceUpdated": 1,
        "numTargetRowsNotMatchedBySourceDeleted": 1,
    }
    assert commit.metrics["numSourceRows"] == 4
    assert commit.metrics["numOutputRows"] == 3 + copied
    assert repr(commit).endswith(": 2 rows updated, 2 rows deleted, 1 row inserted>")
    feed = table.changes(3, 3).to_arrow().to_pylist()
    assert sorted((row["_change_type"], row["id"], row["name"]) for row in feed) == [
        ("delete", 4, "old"),
        ("delete", 10, "old"),
        ("insert", 11, "new"),
        ("update_postimage", 3, "old+new"),
        ("update_postimage", 6, "gone"),
        ("update_preimage", 3, "old"),
        ("update_preimage", 6, "old"),
    ]
    for row in table.snapshot().scan(row_ids=True).to_arrow().to_pylist():
        if row["id"] in before:
            assert row["_row_id"] == before[row["id"]]["_row_id"]
            assert (row["_row_commit_version"] == 3) == (row["id"] in (3, 6))
    assert table.check(deep=True).is_healthy


@WAYS
def test_only_files_with_a_key_are_read(root: Path, properties: dict[str, str]) -> None:
    """The file of the other rows may be missing."""
    table = made(root, **properties)
    [missing] = of_kind(root, 1, "add")
    (root / missing["path"]).unlink()
    table.merge(rows(7, 99), ON).when_matched_update_all().when_not_matched_insert_all().execute()
    assert {add["path"] for add in of_kind(root, 3, "remove")} == {
        add["path"] for add in of_kind(root, 2, "add")
    }


def test_rows_that_are_only_inserted_rewrite_nothing(root: Path) -> None:
    table = made(root, **FEED)
    commit = table.merge(rows(1, 11, 11), ON).when_not_matched_insert_all().execute()
    assert commit.metrics["numTargetRowsInserted"] == 2
    assert not of_kind(root, 3, "remove")
    assert not of_kind(root, 3, "cdc")
    assert table.changes(3, 3).to_arrow()["id"].to_pylist() == [11, 11]


@pytest.mark.parametrize(
    ("source", "add"),
    [
        (rows(), lambda merge: merge.when_matched_delete().when_not_matched_insert_all()),
        (rows(77), lambda merge: merge.when_matched_delete()),
        (rows(1), lambda merge: merge.when_not_matched_insert_all()),
        (rows(1), lambda merge: merge.when_matched_delete("target.day > 5")),
    ],
)
def test_a_merge_that_changes_nothing_commits_nothing(
    root: Path, source: pa.Table, add: Callable[[deltaic.Merge], deltaic.Merge]
) -> None:
    table = made(root)
    commit = add(table.merge(source, ON)).execute()
    assert commit.skipped
    assert table.snapshot().version == 2


def test_null_and_nan_keys(root: Path) -> None:
    """NULL equals nothing, except by `<=>`; NaN equals NaN, and 0.0 equals -0.0."""
    schema = pa.schema([("k", pa.float64()), ("v", pa.string())])
    keys = [None, float("nan"), -0.0, 1.5]
    for on, expected in (("t.k = s.k", "oxxx"), ("t.k <=> s.k", "xxxx")):
        table = deltaic.Table.create(root, schema, if_exists="replace")
        table.append(pa.table({"k": keys, "v": ["o"] * 4}, schema=schema))
        source = pa.table({"k": [None, float("nan"), 0.0, 1.5]}, schema=schema.remove(1))
        merge = table.merge(source, on, target_alias="t", source_alias="s")
        merge.when_matched_update({"v": "'x'"}).execute()
        assert "".join(table.snapshot().scan().to_arrow()["v"].to_pylist()) == expected


def test_nan_of_any_sign_is_the_greatest_key(root: Path) -> None:
    """The range of very many keys is that of Spark's order, in which NaN follows the numbers."""
    schema = pa.schema([("k", pa.float64()), ("v", pa.string())])
    table = deltaic.Table.create(root, schema, partition_by=["k"])
    table.append(pa.table({"k": [1.0, 2.0, float("nan")], "v": ["o"] * 3}, schema=schema))
    keys = [math.copysign(math.nan, -1.0), *map(float, range(1, 20_000))]
    table.merge(pa.table({"k": keys}), ON.replace("id", "k")).when_matched_update({"v": "'x'"}).execute()
    assert table.snapshot().scan(["v"]).to_arrow()["v"].to_pylist() == ["x"] * 3


def test_metrics_are_those_of_spark(root: Path) -> None:
    """The history of delta-spark 4.4 has these, and the time to copy the source."""
    changes = ["Inserted", "Updated", "Deleted", "Copied", "MatchedUpdated", "MatchedDeleted"]
    changes += ["NotMatchedBySourceUpdated", "NotMatchedBySourceDeleted"]
    expected = {f"numTargetRows{name}" for name in changes} | {"numSourceRows", "numOutputRows"}
    expected |= {f"numTargetFiles{name}" for name in ("Added", "Removed")}
    expected |= {f"numTargetBytes{name}" for name in ("Added", "Removed")}
    expected |= {f"numTargetDeletionVectors{name}" for name in ("Added", "Removed", "Updated")}
    expected |= {"numTargetChangeFilesAdded", "executionTimeMs", "scanTimeMs", "rewriteTimeMs"}
    assert set(made(root).merge(rows(1), ON).when_matched_delete().execute().metrics) == expected


@WAYS
def test_rows_move_to_other_partitions(root: Path, properties: dict[str, str]) -> None:
    table = made(root, by=["day"], **properties)
    source = rows(1, 7, day=5, name="moved")
    table.merge(source, f"{ON} AND target.day < 2").when_matched_update_all().execute()
    moved = table.snapshot().scan(["id"], "day = 5").to_arrow()["id"].to_pylist()
    assert sorted(moved) == [1, 7]
    assert len(names_of(table)) == 10


def test_the_source_may_be_a_scan_of_the_table(root: Path) -> None:
    table = made(root)
    merge = table.merge(table.snapshot().scan(predicate="id < 4"), ON)
    commit = merge.when_matched_update({"name": "upper(source.name)"}).execute()
    assert commit.metrics["numTargetRowsUpdated"] == 3


def test_fields_of_structs_are_set(root: Path) -> None:
    schema = pa.schema([("id", pa.int64()), ("s", pa.struct([("a", pa.int64()), ("b", pa.string())]))])
    table = deltaic.Table.create(root, schema)
    table.append(pa.table({"id": [1, 2], "s": [{"a": 1, "b": "x"}, None]}, schema=schema))
    merge = table.merge(rows(1, 2, name="n"), ON)
    merge.when_matched_update({"target.s.B": "source.name"}).execute()
    assert table.snapshot().scan().to_arrow().sort_by("id")["s"].to_pylist() == [
        {"a": 1, "b": "n"},
        {"a": None, "b": "n"},
    ]


def test_several_matches_of_a_row(root: Path) -> None:
    """Conditions of clauses do not count, as in Spark; only a single unconditional deletion is free of it."""
    table = made(root)
    twice = rows(3, 3)
    for refused in (
        table.merge(twice, ON).when_matched_update_all(),
        table.merge(twice, ON).when_matched_delete("source.day = 9"),
        table.merge(twice, ON).when_not_matched_by_source_delete("id = 99"),
    ):
        with pytest.raises(deltaic.ConstraintViolation, match="several rows of the source match") as caught:
            refused.execute()
        assert caught.value.context["row"] == 2
    commit = table.merge(twice, ON).when_matched_delete().execute()
    assert commit.metrics["numTargetRowsDeleted"] == 1
    assert 3 not in names_of(table)


@pytest.mark.parametrize(
    ("add", "error", "message"),
    [
        (lambda merge: merge, ValueError, "needs at least one clause"),
        (
            lambda merge: merge.when_matched_delete().when_matched_update_all(),
            ValueError,
            "WHEN MATCHED without a condition is not the last",
        ),
        (lambda merge: merge.when_matched_update({"nme": "1"}), ValueError, 'no column "nme" to set'),
        (
            lambda merge: merge.when_matched_update({"name": "source.name", "target.NAME": "'x'"}),
            ValueError,
            "set twice",
        ),
        (
            lambda merge: merge.when_matched_update({"name": "name"}),
            deltaic.InvalidPredicate,
            "name is in both target and source",
        ),
        (
            lambda merge: merge.when_not_matched_insert({"id": "target.id"}),
            deltaic.InvalidPredicate,
            "target has no row",
        ),
        (
            lambda merge: merge.when_not_matched_by_source_delete("source.id = 1"),
            deltaic.InvalidPredicate,
            "source has no row",
        ),
        (
            lambda merge: merge.when_matched_update({"day": "source.id * 9223372036854775807"}),
            deltaic.InvalidPredicate,
            "out of the range",
        ),
        (lambda merge: merge.when_matched_update({"day": "source.name"}), deltaic.SchemaMismatch, "day"),
    ],
)
def test_a_wrong_merge_changes_nothing(
    root: Path,
    add: Callable[[deltaic.Merge], deltaic.Merge],
    error: type[Exception],
    message: str,
) -> None:
    table = made(root, **FEED)
    files = sorted(root.rglob("*.parquet"))
    with pytest.raises(error, match=message):
        add(table.merge(rows(3, 4), ON)).execute()
    assert table.snapshot().version == 2
    assert sorted(root.rglob("*.parquet")) == files


def test_all_columns_must_be_in_the_source(root: Path) -> None:
    table = made(root)
    source = rows(3, 33).drop(["day"])
    for merge in (
        table.merge(source, ON).when_matched_update_all(),
        table.merge(source, ON).when_not_matched_insert_all(),
    ):
        with pytest.raises(deltaic.SchemaMismatch, match="the source has no column day"):
            merge.execute()
    table.merge(source, ON).when_not_matched_insert({"id": "id"}).execute()
    assert names_of(table)[33] is None


@pytest.mark.parametrize("made_by", [{"identity": deltaic.Identity()}, {"generated": "n + 1"}], ids=str)
def test_all_columns_include_those_that_the_table_makes(root: Path, made_by: dict[str, Any]) -> None:
    """As in delta-spark, which takes a source without them only with schema evolution."""
    columns = [deltaic.Column(name, "bigint") for name in ("id", "n")]
    table = deltaic.Table.create(root, [*columns, deltaic.Column("made", "bigint", **made_by)])
    table.append(pa.table({"id": [1], "n": [1]}))
    source = pa.table({"id": [1, 2], "n": [5, 6]})
    for merge in (
        table.merge(source, ON).when_matched_update_all(),
        table.merge(source, ON).when_not_matched_insert_all(),
    ):
        with pytest.raises(deltaic.SchemaMismatch, match="the source has no column made"):
            merge.execute()
    merge = table.merge(source, ON, schema_mode="merge")
    merge.when_matched_update_all().when_not_matched_insert_all().execute()
    assert sorted(table.snapshot().scan(["id", "n"]).to_arrow().to_pylist(), key=str) == source.to_pylist()


@pytest.mark.parametrize(("updated", "inserted"), [(0, 100), (100, 0), (100, 100)])
@WAYS
def test_a_failed_write_leaves_no_file(
    root: Path, properties: dict[str, str], updated: int, inserted: int
) -> None:
    """New rows are written while rows of the table are changed: either may fail."""
    table = made(root, **properties, **FEED)
    table.alter(deltaic.alter.AddConstraint("small", "id < 100"))
    files = sorted(root.rglob("*.parquet"))
    merge = table.merge(rows(3, 33), ON).when_matched_update({"id": f"target.id + {updated}"})
    with pytest.raises(deltaic.ConstraintViolation, match="small"):
        merge.when_not_matched_insert({"id": f"id + {inserted}"}).execute()
    assert sorted(root.rglob("*.parquet")) == files
    merge = table.merge(rows(3, 33), ON).when_matched_update({"id": "target.id + 1"})
    assert merge.when_not_matched_insert({"id": "id"}).execute().metrics["numTargetRowsInserted"] == 1


def test_constraints_of_merged_rows(root: Path) -> None:
    table = made(root)
    table.alter(deltaic.alter.AddConstraint("small", "id < 100"))
    with pytest.raises(deltaic.ConstraintViolation, match="small"):
        table.merge(rows(3), ON).when_matched_update({"id": "source.id + 100"}).execute()
    with pytest.raises(deltaic.ConstraintViolation, match="small"):
        table.merge(rows(300), ON).when_not_matched_insert_all().execute()


def test_an_append_only_table_takes_only_new_rows(root: Path) -> None:
    table = made(root, **{"delta.appendOnly": "true"})
    with pytest.raises(deltaic.ConstraintViolation, match="append-only"):
        table.merge(rows(3), ON).when_matched_delete().execute()
    table.merge(rows(3, 33), ON).when_not_matched_insert_all().execute()
    assert 33 in names_of(table)


@WAYS
def test_after_a_conflict_the_rows_are_matched_again(root: Path, properties: dict[str, str]) -> None:
    """Another writer inserts a key and deletes another while the source is read."""
    table, other = made(root, **properties), deltaic.Table(root)

    def source() -> Any:
        other.append(rows(11, name="theirs"))
        other.delete("id = 3")
        yield from rows(3, 11, name="ours").to_batches()

    stream = pa.RecordBatchReader.from_batches(SCHEMA, source())
    merge = table.merge(stream, ON).when_matched_update_all().when_not_matched_insert_all()
    commit = merge.execute()
    assert commit.version == 5
    assert (commit.metrics["numTargetRowsUpdated"], commit.metrics["numTargetRowsInserted"]) == (1, 1)
    assert {key: name for key, name in names_of(table).items() if name != "old"} == {3: "ours", 11: "ours"}


def test_a_merge_is_shown_as_sql(root: Path) -> None:
    merge = made(root).merge(rows(1), deltaic.col("t.id") == 3, target_alias="t", source_alias="s")
    merge = merge.when_matched_update({"name": "s.name", "day": 3}, "s.id > 1").when_matched_update_all()
    merge = merge.when_not_matched_insert({"id": "id", "name": "'x'"}).when_not_matched_by_source_delete()
    assert repr(merge).splitlines()[1:] == [
        "WHEN MATCHED AND s.id > 1 THEN UPDATE SET name = s.name, day = 3",
        "WHEN MATCHED THEN UPDATE SET *",
        "WHEN NOT MATCHED THEN INSERT (id, name) VALUES (id, 'x')",
        "WHEN NOT MATCHED BY SOURCE THEN DELETE",
    ]


def test_names_of_columns_are_no_condition(tmp_path: Path) -> None:
    """The error writes the condition."""
    table, names = made(tmp_path), ["id", "day"]
    with pytest.raises(TypeError, match=r'write on="target\.id = source\.id AND target\.day = source\.day"'):
        table.merge(rows(1), on=names)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match=r'on must be a condition, not list: write on="t\.id = s\.id"'):
        table.merge(rows(1), on=["id"], target_alias="t", source_alias="s")  # pyright: ignore[reportArgumentType]
