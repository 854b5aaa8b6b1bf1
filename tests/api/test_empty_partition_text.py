"""Empty text in a partition column: an error, or NULL if the caller says so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic
from deltaic.alter import AddConstraint
from tests.api.log_files import of_kind

ROWS = pa.table({"id": [1, 2, 3], "part": ["a", "", None]})
NULL: deltaic.CommitOptions = {"empty_partition_text": "null"}


def made(root: Path, schema: pa.Schema = ROWS.schema, **properties: str) -> deltaic.Table:
    return deltaic.Table.create(root, schema, partition_by=["part"], properties=properties)


def parts(table: deltaic.Table) -> list[tuple[int, Any]]:
    rows = table.snapshot().scan().to_arrow().sort_by("id")
    return list(zip(rows["id"].to_pylist(), rows["part"].to_pylist(), strict=True))


def in_transaction(table: deltaic.Table) -> None:
    with table.transaction(**NULL) as tx:
        tx.append(ROWS)


VERBS: dict[str, Callable[[deltaic.Table], object]] = {
    "append": lambda table: table.append(ROWS, **NULL),
    "overwrite": lambda table: table.overwrite(ROWS, **NULL),
    "overwrite where": lambda table: table.overwrite(ROWS, "id > 0", **NULL),
    "overwrite partitions": lambda table: table.overwrite(ROWS, partitions="dynamic", **NULL),
    "write": lambda table: deltaic.write(table.uri, ROWS, mode="append", **NULL),
    "transaction": in_transaction,
}


@pytest.mark.parametrize("verb", VERBS)
def test_it_becomes_null_if_the_caller_says_so(tmp_path: Path, verb: str) -> None:
    table = made(tmp_path / "t")
    VERBS[verb](table)
    assert parts(table) == [(1, "a"), (2, None), (3, None)]
    assert sorted(str(add["partitionValues"]["part"]) for add in of_kind(tmp_path / "t", 1, "add")) == [
        "None",
        "a",
    ]


def test_otherwise_it_is_an_error_that_names_the_option(tmp_path: Path) -> None:
    table = made(tmp_path / "t")
    with pytest.raises(deltaic.ConstraintViolation, match="read back as NULL") as raised:
        table.append(ROWS)
    assert 'empty_partition_text="null"' in str(raised.value.hint)
    with pytest.raises(ValueError, match='must be "error" or "null"'):
        table.append(ROWS, empty_partition_text="NULL")  # pyright: ignore[reportArgumentType]
    assert table.snapshot().version == 0


def test_it_is_an_error_in_a_column_that_is_not_null(tmp_path: Path) -> None:
    """protocol: column-invariants.4."""
    schema = pa.schema([("id", pa.int64()), pa.field("part", pa.string(), nullable=False)])
    table = made(tmp_path / "t", schema)
    with pytest.raises(deltaic.ConstraintViolation, match="which its empty text becomes") as raised:
        table.append(ROWS.slice(0, 2).cast(schema), **NULL)
    assert raised.value.context["field"] == "part"
    assert table.append(ROWS.slice(0, 1).cast(schema), **NULL).version == 1


def test_constraints_see_null(tmp_path: Path) -> None:
    """protocol: check-constraints.4."""
    table = made(tmp_path / "t")
    table.alter(AddConstraint("given", "part IS NOT NULL"))
    with pytest.raises(deltaic.ConstraintViolation, match="given"):
        table.append(ROWS.slice(1, 1), **NULL)


def test_an_update_and_its_change_data(tmp_path: Path) -> None:
    table = made(tmp_path / "t", **{"delta.enableChangeDataFeed": "true"})
    table.append(ROWS.slice(0, 1))
    with pytest.raises(deltaic.ConstraintViolation):
        table.update({"part": "''"})
    table.update({"part": "''"}, **NULL)
    assert parts(table) == [(1, None)]
    changes = table.changes(2).to_arrow().to_pylist()
    assert sorted((row["_change_type"], row["part"]) for row in changes) == [
        ("update_postimage", None),
        ("update_preimage", "a"),
    ]


def test_materialized_columns_have_null_and_bytes_are_text(tmp_path: Path) -> None:
    schema = pa.schema([("id", pa.int64()), ("part", pa.binary())])
    table = made(tmp_path / "t", schema, **{"delta.writePartitionColumnsToParquet": "true"})
    table.append(pa.table({"id": [1, 2], "part": [b"", b"x"]}, schema=schema), **NULL)
    assert parts(table) == [(1, None), (2, b"x")]
    text = made(tmp_path / "other")
    text.append(
        pa.table(
            {
                "id": [1],
                "part": ["x"],
            }
        ),
        **NULL,
    )
    assert parts(text) == [(1, "x")]


def test_other_columns_keep_empty_text(tmp_path: Path) -> None:
    data = pa.table({"id": [1], "part": [""], "text": [""]})
    table = made(tmp_path / "t", data.schema)
    table.append(data, **NULL)
    assert table.snapshot().scan().to_arrow().to_pylist() == [{"id": 1, "part": None, "text": ""}]
