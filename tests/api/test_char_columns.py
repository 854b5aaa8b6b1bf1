"""Predicates on columns of the type `char(n)`: the shorter operand is padded, as in Spark 4.3.

`tests/spark/test_char_predicates.py` compares the answers with Spark's.
"""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import unquote

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import deltaic
from deltaic import Column
from deltaic.alter import AddConstraint
from tests.char_predicates import ANSWERS, ROWS

COLUMNS = [Column("i", "bigint"), Column("c", "char(5)"), Column("d", "char(3)"), Column("s", "string")]
# Those that do not depend on whether the writer of a file padded its values.
OF_ANY_WRITER = [
    text
    for text in ANSWERS
    if not any(word in text for word in ("BETWEEN", "LIKE", "length", "coalesce", "greatest", "= s", "NULL)"))
]


def found(table: deltaic.Table, predicate: str) -> list[int]:
    return sorted(table.snapshot().scan(["i"], predicate).to_arrow()["i"].to_pylist())


@pytest.fixture(params=["rows", "files", "partitions"])
def table(request: pytest.FixtureRequest, root: Path) -> deltaic.Table:
    by = ["c", "d"] if request.param == "partitions" else []
    table = deltaic.Table.create(root, COLUMNS, partition_by=by)
    parts = [ROWS] if request.param == "rows" else [[row] for row in ROWS]
    for rows in parts:
        table.append(pa.Table.from_pylist(rows))
    return table


@pytest.fixture(params=["rows", "files", "partitions"])
def unpadded(request: pytest.FixtureRequest, root: Path) -> deltaic.Table:
    """A table whose writer did not pad its values."""
    columns = [Column(column.name, column.type if column.name == "i" else "string") for column in COLUMNS]
    by = ["c", "d"] if request.param == "partitions" else []
    table = deltaic.Table.create(root, columns, partition_by=by, upkeep=False)
    declare(root)
    table = deltaic.Table(root)
    # Written as the task of a table with plain strings would.
    parts = [ROWS] if request.param == "rows" else [[row] for row in ROWS]
    plain = deltaic.Table.create(root.parent / "plain", columns, partition_by=by)
    for rows in parts:
        files = plain.snapshot().write_task().write(pa.Table.from_pylist(rows))
        with table.transaction() as tx:
            for file in files:
                path = unquote(file["path"])
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root.parent / "plain" / path).rename(root / path)
                file.pop("written_for", None)
            tx.add(files)
    return table


def declare(root: Path) -> None:
    """Declares the columns of a table with strings as `char(n)`, as other writers do."""
    [log] = (root / "_delta_log").glob("*.json")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    for line in lines:
        if "metaData" in line:
            schema = json.loads(line["metaData"]["schemaString"])
            for field in schema["fields"]:
                if field["name"] in ("c", "d"):
                    length = {"c": 5, "d": 3}[field["name"]]
                    field["metadata"]["__CHAR_VARCHAR_TYPE_STRING"] = f"char({length})"
            line["metaData"]["schemaString"] = json.dumps(schema)
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.mark.parametrize("predicate", ANSWERS)
def test_predicates(table: deltaic.Table, predicate: str) -> None:
    assert found(table, predicate) == ANSWERS[predicate]


@pytest.mark.parametrize("predicate", OF_ANY_WRITER)
def test_predicates_on_values_that_are_not_padded(unpadded: deltaic.Table, predicate: str) -> None:
    assert unpadded.snapshot().scan(["c"], "i = 1").to_arrow()["c"].to_pylist() == ["ab"]
    assert found(unpadded, predicate) == ANSWERS[predicate]


@pytest.mark.parametrize("predicate", ANSWERS)
def test_deletes_and_updates(table: deltaic.Table, predicate: str) -> None:
    table.update({"s": "'new'"}, predicate)
    assert found(table, "s = 'new'") == ANSWERS[predicate]
    table.delete(predicate)
    assert found(table, "TRUE") == sorted({1, 2, 3, 4} - set(ANSWERS[predicate]))


def test_files_are_skipped(root: Path) -> None:
    table = deltaic.Table.create(root, COLUMNS)
    for row in ROWS:
        table.append(pa.Table.from_pylist([row]))
    for predicate, files in {"c = 'ab'": 2, "c IN ('abc', 'x')": 1, "c <=> 'zz'": 0, "c <> 'ab'": 4}.items():
        assert table.snapshot().files(predicate).num_rows == files, predicate


def test_merges(root: Path) -> None:
    table = deltaic.Table.create(root, COLUMNS)
    table.append(pa.Table.from_pylist(ROWS))
    source = pa.table({"i": [1, 2, 4], "code": ["ab", "abc", "x"]})
    merge = table.merge(source, "target.i = source.i AND target.c <> 'ab'")
    merge = merge.when_matched_update({"s": "source.code"}, "target.c = 'abc'")
    merge.when_matched_delete("target.c IN ('a\tb')").execute()
    rows = {row["i"]: row["s"] for row in table.snapshot().scan().to_arrow().to_pylist()}
    assert rows == {1: "ab", 2: "abc", 3: None}


def test_overwrites_and_reads_of_transactions(root: Path) -> None:
    table = deltaic.Table.create(root, COLUMNS)
    table.append(pa.Table.from_pylist(ROWS))
    table.overwrite(pa.Table.from_pylist([{**ROWS[0], "i": 7}]), "c = 'ab'")
    assert found(table, "TRUE") == [2, 3, 4, 7]
    with pytest.raises(deltaic.ConcurrentAppend), table.transaction(isolation="Serializable") as tx:  # noqa: PT012
        assert tx.read("c = 'ab'").count() == 1
        deltaic.Table(root).append(pa.Table.from_pylist([ROWS[0]]))
        tx.append(pa.Table.from_pylist([ROWS[1]]))


def test_constraints_and_generated_columns(root: Path) -> None:
    columns = [*COLUMNS, Column("is_ab", "boolean", generated="c = 'ab'")]
    table = deltaic.Table.create(root, columns, constraints={"known": "c IN ('ab', 'abc') OR c IS NULL"})
    table.append(pa.Table.from_pylist(ROWS[:3]))
    assert found(table, "is_ab") == [1]
    with pytest.raises(deltaic.ConstraintViolation, match="known"):
        table.append(pa.Table.from_pylist(ROWS[3:]))
    with pytest.raises(deltaic.ConstraintViolation):
        table.alter(AddConstraint("other", "c <> 'ab'"))


def test_other_libraries_compare_by_their_own_rules(table: deltaic.Table) -> None:
    snapshot = table.snapshot()
    for text, count in {"ab": 0, "ab   ": 1}.items():
        frame = snapshot.to_polars_lazy().filter(pl.col("c") == text).collect()
        assert frame.height == count
        rows = snapshot.to_pyarrow_dataset().to_table(filter=pc.field("c") == text)
        assert rows.num_rows == count
    for condition in (pl.col("c") == "ab", pc.field("c") == "ab"):
        with pytest.raises(deltaic.UnsupportedExpression, match=r"char\(n\) column c"):
            snapshot.scan(predicate=condition)
    assert snapshot.scan(predicate=pl.col("s") == "ab").count() == 1
