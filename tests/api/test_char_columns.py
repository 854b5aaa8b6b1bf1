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
import pyarrow.parquet as pq
import pytest

import deltaic
from deltaic import Column
from deltaic.alter import AddConstraint
from tests.char_predicates import ANSWERS, ROWS

COLUMNS = [Column("i", "bigint"), Column("c", "char(5)"), Column("d", "char(3)"), Column("s", "string")]


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


@pytest.mark.parametrize("predicate", ANSWERS)
def test_predicates_on_values_that_are_not_padded(unpadded: deltaic.Table, predicate: str) -> None:
    assert unpadded.snapshot().scan(["c"], "i = 1").to_arrow()["c"].to_pylist() == ["ab   "]
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
    texts = snapshot.to_polars_lazy().collect()["c"].to_list()
    assert texts == snapshot.scan(["c"]).to_arrow()["c"].to_pylist()


def add_unpadded(root: Path, rows: pa.Table, partition: dict[str, str] | None = None) -> None:
    """Adds a file of another writer, which does not pad."""
    table = deltaic.Table(root)
    path = root / f"file-{table.version}.parquet"
    pq.write_table(rows, path)
    file = {"path": path.name, "size": path.stat().st_size, "modification_time": 0}
    with table.transaction() as tx:
        tx.add([{**file, "partition_values": partition or {}}])


NESTED = pa.struct({"x": pa.string(), "l": pa.list_(pa.string()), "m": pa.map_(pa.string(), pa.string())})


@pytest.fixture
def nested(root: Path) -> deltaic.Table:
    kind = "struct<x:char(4),l:array<char(2)>,m:map<char(2),varchar(3)>>"
    table = deltaic.Table.create(
        root, [Column("i", "bigint"), Column("n", kind)], properties={"delta.enableChangeDataFeed": "true"}
    )
    for i, value in enumerate([{"x": "ab", "l": ["q", None], "m": [("k", "v")]}, None, {"x": "b"}], 1):
        add_unpadded(root, pa.table({"i": [i], "n": pa.array([value], NESTED)}))
    return table


@pytest.mark.parametrize(
    ("predicate", "expected"),
    {
        "n.x = 'ab  '": [1],
        "n.x = 'ab'": [],
        "n.x IN ('ab  ', 'q')": [1],
        "n.x LIKE 'b_'": [],
        "n.x LIKE 'b   '": [3],
        "n.x > 'ab'": [1, 3],
        "n.x BETWEEN 'ab ' AND 'ab  '": [1],
        "length(n.x) = 4": [1, 3],
        "n.l[0] = 'q '": [1],
        "n.m['k '] = 'v'": [1],
    }.items(),
)
def test_nested_texts_are_padded(nested: deltaic.Table, predicate: str, expected: list[int]) -> None:
    assert found(nested, predicate) == expected
    assert nested.snapshot().files(predicate).num_rows >= len(expected)
    nested.update({"i": "i + 10"}, predicate)
    assert found(nested, "i > 10") == [i + 10 for i in expected]


def test_nested_texts_of_rows_and_changes(nested: deltaic.Table) -> None:
    row = {"x": "ab  ", "l": ["q ", None], "m": [("k ", "v")]}
    assert nested.snapshot().scan(["n"], "i = 1").to_arrow()["n"].to_pylist() == [row]
    nested.delete("n.x = 'ab  '")
    assert nested.changes(nested.version).to_arrow()["n"].to_pylist() == [row]


def test_merges_by_keys(root: Path) -> None:
    """Texts of the source are compared with padded ones, also where files and statistics have others."""
    table = deltaic.Table.create(root, COLUMNS)
    rows = pa.Table.from_pylist(ROWS)
    for number in range(rows.num_rows):
        add_unpadded(root, rows.slice(number, 1))
    source = pa.table({"code": ["ab   ", "abc"], "new": ["x", "y"]})
    merge = table.merge(source, "target.c = source.code").when_matched_update({"s": "source.new"})
    assert merge.execute().metrics["numTargetRowsUpdated"] == 1
    assert found(table, "s = 'x'") == [1, 4]


def test_partitions_of_another_writer(root: Path) -> None:
    """Partition values are padded: in rows, in predicates, in merges and in overwrites of partitions."""
    table = deltaic.Table.create(root, COLUMNS, partition_by=["c"])
    rows = pa.Table.from_pylist(ROWS[:1]).drop_columns(["c"])
    add_unpadded(root, rows, {"c": "ab"})
    assert table.snapshot().scan(["c"]).to_arrow()["c"].to_pylist() == ["ab   "]
    for predicate, expected in {
        "c LIKE 'ab'": [],
        "c LIKE 'ab   '": [1],
        "c BETWEEN 'ab ' AND 'ac'": [1],
    }.items():
        assert found(table, predicate) == expected, predicate
    merge = table.merge(pa.table({"code": ["ab   "]}), "target.c = source.code")
    assert merge.when_matched_update({"s": "'new'"}).execute().metrics["numTargetRowsUpdated"] == 1
    table.overwrite(pa.Table.from_pylist([{**ROWS[0], "i": 7}]), partitions="dynamic")
    assert found(table, "TRUE") == [7]


@pytest.mark.parametrize(
    "predicate", ["c LIKE 'ab   '", "startswith(c, 'ab ')", "c BETWEEN 'ab ' AND 'ab   '", "c = 'ab'"]
)
def test_dictionaries_of_another_writer(root: Path, predicate: str) -> None:
    """Row groups are not left out by the texts of their dictionaries, which are not padded."""
    table = deltaic.Table.create(root, COLUMNS)
    rows = pa.table({"i": range(600), "c": ["ab"] * 300 + ["é"] * 300})
    path = root / "rows.parquet"
    pq.write_table(rows, path, row_group_size=300)
    with table.transaction() as tx:
        tx.add(
            [{"path": path.name, "size": path.stat().st_size, "modification_time": 0, "partition_values": {}}]
        )
    assert found(table, predicate) == list(range(300))
    assert table.snapshot().scan(predicate=predicate).count() == 300
    assert table.delete(predicate).metrics["numDeletedRows"] == 300
