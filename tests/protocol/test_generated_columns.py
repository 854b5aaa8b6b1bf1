"""Generated Columns: computed if the data lack them, and checked if the data have them."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic
from deltaic import Column
from deltaic.alter import AddColumn, SetProperties

from .handmade_log import Action, HandmadeTable, field, metadata, protocol, schema

NEEDS = [protocol(1, 4), protocol(1, 7, None, ["generatedColumns"])]
KEY = "delta.generationExpression"


def made(
    root: Path, expression: str, kind: Any = "long", needs: Action = NEEDS[0], **others: Any
) -> deltaic.Table:
    table = HandmadeTable(root)
    generated = field("g", kind, **{KEY: expression})
    table.commit(needs, metadata(schema(field("id"), field("s", "string"), generated), **others))
    return deltaic.Table(root)


def values(table: deltaic.Table) -> list[Any]:
    return table.snapshot().scan().to_arrow().sort_by("id")["g"].to_pylist()


@pytest.mark.parametrize("needs", NEEDS, ids=["version 4", "version 7"])
@pytest.mark.parametrize(
    ("expression", "kind", "expected"),
    [
        ("id * 2", "long", [2, None]),
        ("id", "integer", [1, None]),
        ("coalesce(upper(s), 'none')", "string", ["A", "none"]),
        ("CAST(concat('2026-11-0', id) AS DATE)", "date", [dt.date(2026, 11, 1), None]),
        ("CASE WHEN id = 1 THEN 1.5 END", "double", [1.5, None]),
    ],
)
def test_a_missing_column_is_computed(
    tmp_path: Path, needs: Action, expression: str, kind: str, expected: list[Any]
) -> None:
    """protocol: generated-columns.2, generated-columns.3, generated-columns.4."""
    table = made(tmp_path / "t", expression, kind, needs)
    rows = pa.table({"id": [1, None], "s": ["a", None]})
    table.append(rows)
    assert values(table) == expected
    # The values are those that are checked.
    given = table.snapshot().scan().to_arrow()
    assert table.overwrite(given).version == 2
    assert values(table) == expected


@pytest.mark.parametrize("needs", NEEDS, ids=["version 4", "version 7"])
@pytest.mark.parametrize("wrong", [5, None])
def test_another_value_is_refused(tmp_path: Path, needs: Action, wrong: int | None) -> None:
    """protocol: generated-columns.4."""
    root = tmp_path / "t"
    table = made(root, "id + 1", needs=needs)
    before = sorted(root.rglob("*"))
    rows = pa.table({"ID": [1, 2, 3], "G": [2, wrong, 7]})
    with pytest.raises(deltaic.ConstraintViolation, match="generated column g") as caught:
        table.append(rows)
    context = caught.value.context
    shown = "NULL" if wrong is None else wrong
    assert (context["field"], context["expression"]) == ("g", "id + 1")
    assert context["row"] == f"g = {shown}, id = 2"
    assert sorted(root.rglob("*")) == before
    with pytest.raises(deltaic.ConstraintViolation):
        table.append(pa.table({"id": pa.array([None], pa.int64()), "g": [0]}))
    table.append(pa.table({"id": [1, None], "g": [2, None]}))
    assert values(table) == [2, None] or values(table) == [None, 2]


def test_a_value_that_fits_no_column_is_refused(tmp_path: Path) -> None:
    """Store assignment never truncates.

    protocol: generated-columns.4
    """
    table = made(tmp_path / "t", "id * 1000000000", "integer")
    table.append(pa.table({"id": [2]}))
    with pytest.raises(deltaic.SchemaMismatch) as caught:
        table.append(pa.table({"id": [3]}))
    assert caught.value.context["field"] == "g"
    assert values(table) == [2_000_000_000]


def test_a_table_of_another_writer_whose_types_differ_is_changed(tmp_path: Path) -> None:
    """protocol: generated-columns.4."""
    table = made(tmp_path / "t", "id + 1", "integer")
    table.alter(AddColumn("new", "string"), SetProperties({"delta.appendOnly": "true"}))
    table.append(pa.table({"id": [1], "new": ["a"]}))
    table.append(pa.table({"id": [2], "newer": ["a"]}), schema_mode="merge")
    assert values(table) == [2, 3]
    assert table.snapshot().schema.to_arrow().field("g").type == pa.int32()


@pytest.mark.parametrize("within", ["part", "g"])
def test_a_field_is_not_added_to_what_is_copied(tmp_path: Path, within: str) -> None:
    """protocol: generated-columns.3."""
    inner = "struct<x: bigint>"
    columns = [Column("id", "bigint"), Column("part", inner), Column("g", inner, generated="part")]
    table = deltaic.Table.create(tmp_path / "t", columns)
    with pytest.raises(deltaic.SchemaMismatch, match="generated column g is struct<x:bigint") as caught:
        table.alter(AddColumn("y", "int", within=within))
    assert caught.value.context["field"] == "g"
    rows = pa.table({"id": [1], within: [{"x": 5, "y": 1}]})
    with pytest.raises(deltaic.SchemaMismatch, match="generated column g is struct<x:bigint"):
        table.append(rows, schema_mode="merge")
    table.append(pa.table({"id": [1], "part": [{"x": 5}]}))
    assert values(table) == [{"x": 5}]


def test_a_required_column_is_computed(tmp_path: Path) -> None:
    table = deltaic.Table.create(
        tmp_path / "t",
        [Column("id", "bigint"), Column("g", "bigint", generated="id + 1", nullable=False)],
    )
    table.append(pa.table({"id": [1]}))
    with pytest.raises(deltaic.ConstraintViolation, match="must not be NULL"):
        table.append(pa.table({"id": pa.array([None], pa.int64())}))
    assert values(table) == [2]


@pytest.mark.parametrize("vectors", ["true", "false"])
@pytest.mark.parametrize("feed", ["true", "false"])
@pytest.mark.parametrize("tracked", ["true", "false"])
def test_updates(tmp_path: Path, vectors: str, feed: str, tracked: str) -> None:
    """Updated rows are computed or checked, the others keep their values.

    protocol: generated-columns.4
    """
    columns = [Column("g", "bigint", generated="id + n"), Column("id", "bigint"), Column("n", "bigint")]
    properties = {
        "delta.enableDeletionVectors": vectors,
        "delta.enableChangeDataFeed": feed,
        "delta.enableRowTracking": tracked,
    }
    table = deltaic.Table.create(tmp_path / "t", columns, properties=properties)
    table.append(pa.table({"id": [1, 2, 3], "n": [0, 0, 0]}))
    table.update({"n": "10"}, "id = 2")
    assert values(table) == [1, 12, 3]
    table.update({"n": "20", "g": "id + 20"}, "id = 3")
    version = table.snapshot().version
    for wrong in ({"g": "7"}, {"n": "1", "g": "g"}):
        with pytest.raises(deltaic.ConstraintViolation) as caught:
            table.update(wrong, "id = 3")
        assert caught.value.context["field"] == "g"
    assert table.snapshot().version == version
    table.delete("id = 1")
    assert values(table) == [12, 23]
    if feed == "true":
        rows = table.changes(2).to_arrow().to_pylist()
        found = sorted((row["id"], row["n"], row["g"], row["_change_type"]) for row in rows)
        assert found == [
            (1, 0, 1, "delete"),
            (2, 0, 2, "update_preimage"),
            (2, 10, 12, "update_postimage"),
            (3, 0, 3, "update_preimage"),
            (3, 20, 23, "update_postimage"),
        ]


def test_an_overwrite_of_rows_records_computed_values(tmp_path: Path) -> None:
    """protocol: generated-columns.4."""
    feed = {"delta.enableChangeDataFeed": "true"}
    table = made(tmp_path / "t", "id + 1", configuration=feed)
    table.append(pa.table({"id": [1, 2]}))
    table.overwrite(pa.table({"id": [2], "s": ["new"]}), "g = 3")
    assert values(table) == [2, 3]
    rows = table.changes(2).to_arrow().to_pylist()
    assert sorted((row["g"], row["s"] or "", row["_change_type"]) for row in rows) == [
        (3, "", "delete"),
        (3, "new", "insert"),
    ]
    with pytest.raises(deltaic.ConstraintViolation, match="does not match the predicate"):
        table.overwrite(pa.table({"id": [5]}), "g = 3")


def test_rows_that_remain_are_not_checked_again(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.commit(
        NEEDS[0],
        metadata(schema(field("id"), field("g", **{KEY: "id + 1"}))),
        table.data("a.parquet", pa.table({"id": [1, 5], "g": [77, 6]}), stats='{"numRecords":2}'),
    )
    handle = deltaic.Table(table.root)
    handle.delete("id = 5")
    assert values(handle) == [77]


def test_partitions_are_computed(tmp_path: Path) -> None:
    table = made(tmp_path / "t", "CAST(s AS DATE)", "date", partition_by=["g"])
    table.append(pa.table({"id": [1, 2], "s": ["2026-11-25", "2026-11-26"]}))
    assert values(table) == [dt.date(2026, 11, 25), dt.date(2026, 11, 26)]
    partitions = table.snapshot().files().to_arrow()
    assert partitions.num_rows == 2


def test_the_expression_of_a_column_without_the_feature_is_ignored(tmp_path: Path) -> None:
    """protocol: generated-columns.1."""
    table = made(tmp_path / "t", "id + 1", needs=protocol(1, 7, None, ["appendOnly"]))
    table.append(pa.table({"id": [1, 2], "g": [7, None]}))
    assert values(table) == [7, None]


@pytest.mark.parametrize(
    ("expression", "kind", "about"),
    [
        ("id +", deltaic.InvalidPredicate, "g"),
        ("missing + 1", deltaic.InvalidPredicate, "missing"),
        ("my_function(id)", deltaic.UnsupportedExpression, "g"),
        ("g + 1", deltaic.InvalidPredicate, "g"),
    ],
)
@pytest.mark.parametrize("given", [True, False])
def test_an_expression_that_cannot_be_computed_refuses_every_row(
    tmp_path: Path, expression: str, kind: type[deltaic.DeltaicError], about: str, given: bool
) -> None:
    table = made(tmp_path / "t", expression)
    with pytest.raises(kind) as caught:
        table.append(pa.table({"id": [1], "g": [2]} if given else {"id": [1]}))
    assert caught.value.context["field"] == about
    assert caught.value.context["expression"] == expression
    assert table.snapshot().version == 0


def test_generated_fields_are_refused(tmp_path: Path) -> None:
    # protocol (refused): generated-columns.4
    table = HandmadeTable(tmp_path / "t")
    inner = {"type": "struct", "fields": [field("x"), field("y", **{KEY: "id + 1"})]}
    table.commit(NEEDS[0], metadata(schema(field("id"), field("inner", inner))))
    with pytest.raises(deltaic.UnsupportedFeature, match="generatedColumns") as caught:
        deltaic.Table(table.root).append(pa.table({"id": [1]}))
    assert caught.value.context["field"] == "inner.y"


def test_a_merge_does_not_change_what_an_expression_uses(tmp_path: Path) -> None:
    """protocol: generated-columns.4."""
    columns = [Column("id", "int"), Column("g", "int", generated="id + 1")]
    properties = {"delta.enableTypeWidening": "true"}
    table = deltaic.Table.create(tmp_path / "t", columns, properties=properties)
    for wider in ({"id": [1]}, {"id": pa.array([1], pa.int32()), "g": [2]}):
        with pytest.raises(deltaic.SchemaMismatch, match="generated by id"):
            table.append(pa.table(wider), schema_mode="merge")
    table.append(pa.table({"id": pa.array([1], pa.int32()), "new": [5]}), schema_mode="merge")
    assert values(table) == [2]


@pytest.mark.parametrize(
    ("expression", "kind"),
    [
        ("rand()", "double"),
        ("uuid()", "string"),
        ("now()", "timestamp"),
        ("current_timestamp()", "timestamp"),
        ("date_add(current_date(), 1)", "date"),
    ],
)
def test_an_expression_that_is_not_deterministic_is_refused(
    tmp_path: Path, expression: str, kind: str
) -> None:
    columns = [Column("id", "bigint"), Column("g", kind, generated=expression)]
    with pytest.raises(deltaic.UnsupportedExpression) as caught:
        deltaic.Table.create(tmp_path / "t", columns)
    assert caught.value.context["field"] == "g"
    assert not (tmp_path / "t" / "_delta_log").exists()
