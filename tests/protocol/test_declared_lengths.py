"""Columns of the types char(n) and varchar(n), which tables declare in a column's metadata."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import deltaic

from .handmade_log import HandmadeTable, field, metadata, protocol, schema


def made(root: Path, declared: str, *, by: list[str] | None = None) -> deltaic.Table:
    table = HandmadeTable(root)
    column = field("text", "string", __CHAR_VARCHAR_TYPE_STRING=declared)
    table.commit(protocol(1, 2), metadata(schema(field("id"), column), partitionColumns=by or []))
    return deltaic.Table(root)


def texts(table: deltaic.Table) -> list[str | None]:
    return table.snapshot().scan().to_arrow().sort_by("id")["text"].to_pylist()


@pytest.mark.parametrize("by", [[], ["text"]])
@pytest.mark.parametrize(
    ("declared", "stored"),
    [("varchar(3)", ["a", "abc", "äöü", None]), ("char(3)", ["a  ", "abc", "äöü", None])],
)
def test_text_is_stored_as_spark_stores_it(
    tmp_path: Path, declared: str, stored: list[str | None], by: list[str]
) -> None:
    table = made(tmp_path / "t", declared, by=by)
    table.append(pa.table({"id": [1, 2, 3, 4], "text": ["a", "abc   ", "äöü", None]}))
    assert texts(table) == stored


@pytest.mark.parametrize("declared", ["varchar(3)", "char(3)"])
def test_longer_text_is_an_error(tmp_path: Path, declared: str) -> None:
    table = made(tmp_path / "t", declared)
    with pytest.raises(deltaic.ConstraintViolation, match="has 4 characters, more than its type") as caught:
        table.append(pa.table({"id": [1, 2], "text": ["abc", "abcd"]}))
    assert (caught.value.context["field"], caught.value.context["row"]) == ("text", 1)
    assert table.snapshot().version == 0
