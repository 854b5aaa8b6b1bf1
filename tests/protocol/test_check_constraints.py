"""CHECK Constraints: every written row satisfies them."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic

from .handmade_log import Action, HandmadeTable, field, metadata, protocol, read_commit, schema

NEEDS = [protocol(1, 3), protocol(1, 7, None, ["checkConstraints"])]


def made(root: Path, needs: Action, *columns: Action, **constraints: str) -> deltaic.Table:
    table = HandmadeTable(root)
    configuration = {f"delta.constraints.{name}": text for name, text in constraints.items()}
    table.commit(needs, metadata(schema(*columns), configuration=configuration))
    return deltaic.Table(root)


def ids(table: deltaic.Table) -> list[int]:
    return sorted(table.snapshot().scan(["id"]).to_arrow()["id"].to_pylist())


@pytest.mark.parametrize("needs", NEEDS, ids=["version 3", "version 7"])
def test_a_row_that_violates_a_constraint_is_not_written(tmp_path: Path, needs: Action) -> None:
    """protocol: check-constraints.1, check-constraints.4, check-constraints.11, check-constraints.12."""
    root = tmp_path / "t"
    table = made(root, needs, field("id"), big="id > 3")
    assert table.append(pa.table({"id": [4, 5]})).version == 1
    before = sorted(path.name for path in root.rglob("*"))
    with pytest.raises(deltaic.ConstraintViolation, match="CHECK constraint big: id > 3") as caught:
        table.append(pa.table({"id": [9, 3, 2]}))
    assert caught.value.context["constraint"] == "big"
    assert caught.value.context["row"] == "id = 3"
    assert sorted(path.name for path in root.rglob("*")) == before
    assert ids(table) == [4, 5]


@pytest.mark.parametrize(
    ("value", "holds"),
    [(dt.date(1900, 1, 1), False), (dt.date(1900, 1, 2), True), (None, False)],
)
def test_the_expression_must_be_true(tmp_path: Path, value: dt.date | None, holds: bool) -> None:
    """NULL violates a constraint too.

    protocol: check-constraints.5, check-constraints.6
    """
    table = made(
        tmp_path / "t",
        NEEDS[0],
        field("id"),
        field("birthDate", "date"),
        birthDateCheck="birthDate > '1900-01-01'",
    )
    row = pa.table({"id": [1], "birthDate": pa.array([value], pa.date32())})
    if holds:
        table.append(row)
        return
    with pytest.raises(deltaic.ConstraintViolation):
        table.append(row)
    assert ids(table) == []


@pytest.mark.parametrize("row", range(200, 100_000, 33_333))
def test_every_row_of_every_batch_is_checked(tmp_path: Path, row: int) -> None:
    """protocol: check-constraints.5."""
    table = made(tmp_path / "t", NEEDS[0], field("id"), small="id < 1000000", known="id IS NOT NULL")
    numbers = list(range(100_000))
    numbers[row] = 2_000_000
    reader = pa.table({"id": numbers}).to_batches(max_chunksize=7000)
    with pytest.raises(deltaic.ConstraintViolation, match="id = 2000000"):
        table.append(pa.RecordBatchReader.from_batches(reader[0].schema, reader))
    assert table.snapshot().version == 0


def test_constraints_on_partition_columns_and_fields(tmp_path: Path) -> None:
    inner = {
        "type": "struct",
        "fields": [{"name": "x", "type": "integer", "nullable": True, "metadata": {}}],
    }
    table = HandmadeTable(tmp_path / "t")
    table.commit(
        NEEDS[0],
        metadata(
            schema(field("id"), field("p", "string"), field("s", inner)),
            configuration={"delta.constraints.part": "p <> 'x'", "delta.constraints.field": "s.x >= 0"},
            partitionColumns=["p"],
        ),
    )
    handle = deltaic.Table(table.root)

    def row(p: str, x: int) -> pa.Table:
        struct = pa.array([{"x": x}], pa.struct([("x", pa.int32())]))
        return pa.table({"id": [1], "p": [p], "s": struct})

    handle.append(row("y", 0))
    for violating, name in [(row("x", 0), "part"), (row("y", -1), "field")]:
        with pytest.raises(deltaic.ConstraintViolation) as caught:
            handle.append(violating)
        assert caught.value.context["constraint"] == name
    assert ids(handle) == [1]


def test_a_constraint_may_compute(tmp_path: Path) -> None:
    table = made(tmp_path / "t", NEEDS[0], field("id"), odd="id % 2 = 1 AND IF(id = 0, FALSE, 10 / id > 0)")
    table.append(pa.table({"id": [1, 3]}))
    with pytest.raises(deltaic.ConstraintViolation) as caught:
        table.append(pa.table({"id": [5, 0]}))
    assert caught.value.context["constraint"] == "odd"
    assert ids(table) == [1, 3]


def test_a_constraint_that_cannot_be_evaluated_refuses_the_append(tmp_path: Path) -> None:
    for number, text in enumerate(["id = second(current_timestamp())", "id ="]):
        check_is_refused(made(tmp_path / str(number), NEEDS[0], field("id"), odd=text))


def check_is_refused(table: deltaic.Table) -> None:
    with pytest.raises((deltaic.UnsupportedExpression, deltaic.InvalidPredicate)) as caught:
        table.append(pa.table({"id": [1]}))
    assert caught.value.context["constraint"] == "odd"
    assert table.snapshot().version == 0


def test_rows_that_remain_are_not_checked_again(tmp_path: Path) -> None:
    """A deletion copies rows that other writers are responsible for.

    protocol: check-constraints.11
    """
    table = HandmadeTable(tmp_path / "t")
    table.commit(
        NEEDS[0],
        metadata(schema(field("id")), configuration={"delta.constraints.big": "id > 3"}),
        table.data("a.parquet", pa.table({"id": [1, 5, 6]}), stats='{"numRecords":3}'),
    )
    handle = deltaic.Table(table.root)
    handle.delete("id = 5")
    assert ids(handle) == [1, 6]


def test_an_overwrite_is_checked(tmp_path: Path) -> None:
    table = made(tmp_path / "t", NEEDS[0], field("id"), big="id > 3")
    table.append(pa.table({"id": [4]}))
    with pytest.raises(deltaic.ConstraintViolation):
        table.overwrite(pa.table({"id": [1]}))
    table.overwrite(pa.table({"id": [7]}))
    assert ids(table) == [7]


def test_without_the_feature_a_property_is_no_constraint(tmp_path: Path) -> None:
    """protocol: check-constraints.1."""
    table = made(tmp_path / "t", protocol(1, 7, None, ["appendOnly"]), field("id"), big="id > 3")
    assert table.append(pa.table({"id": [1]})).version == 1
    assert not [action for action in read_commit(tmp_path / "t", 1) if "metaData" in action]
