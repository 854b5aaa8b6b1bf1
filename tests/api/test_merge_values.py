"""Names and values of merges: case, aliases, ANSI errors, partition values, fields of structs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic
from deltaic import col

INNER = pa.struct([("City", pa.string()), ("zip", pa.int64())])
SCHEMA = pa.schema(
    [("Id", pa.int64()), ("day", pa.int32()), ("n", pa.int32()), ("text", pa.string()), ("Home", INNER)]
)
VECTORS = {"delta.enableDeletionVectors": "true"}
FEED = {"delta.enableChangeDataFeed": "true"}
WAYS = pytest.mark.parametrize("properties", [{}, VECTORS], ids=["rewriting", "vectors"])
ON = "target.id = source.id"


def rows(*ids: int, day: int = 0, n: int = 0, text: str = "0") -> pa.Table:
    return pa.Table.from_pylist(
        [{"Id": key, "day": day, "n": n, "text": text, "Home": {"City": "Ulm", "zip": key}} for key in ids],
        SCHEMA,
    )


def made(root: Path, properties: dict[str, str] | None = None, by: list[str] | None = None) -> deltaic.Table:
    table = deltaic.Table.create(root, SCHEMA, partition_by=by or [], properties=properties or {})
    table.append(rows(1, 2, 3))
    table.append(rows(4, 5, 6, day=1))
    return table


def values_of(table: deltaic.Table, column: str) -> dict[int, Any]:
    found = table.snapshot().scan(["Id", column]).to_arrow().to_pylist()
    return {row["Id"]: row[column] for row in found}


def test_names_and_aliases_ignore_case(root: Path) -> None:
    table = made(root)
    source = rows(2, 9).rename_columns(["ID", "DAY", "N", "TEXT", "HOME"])
    merge = table.merge(source, on="OLD.iD = nEw.id", target_alias="Old", source_alias="New")
    merge = merge.when_matched_update({"oLD.Text": "concat(old.TEXT, '+', NEW.text)"}, "new.N = OLD.n")
    merge.when_not_matched_insert({"iD": "ID", "TEXT": "NEW.HOME.city"}, "NEW.id > 3").execute()
    assert values_of(table, "text") == {1: "0", 2: "0+0", 3: "0", 4: "0", 5: "0", 6: "0", 9: "Ulm"}
    merge = table.merge(source, on=ON).when_matched_update_all("target.DAY = Source.day")
    assert merge.execute().metrics["numTargetRowsUpdated"] == 1


def test_expressions_of_col(root: Path) -> None:
    table = made(root)
    merge = table.merge(rows(2, 9, n=7), on=col("target.Id") == col("source.Id"))
    merge = merge.when_matched_update({"n": col("source.n"), "day": 5}, condition=col("source.n") > 6)
    merge.when_not_matched_insert({"Id": col("Id"), "n": 8, "text": None}, condition=col("Id") > 8).execute()
    assert values_of(table, "n") == {1: 0, 2: 7, 3: 0, 4: 0, 5: 0, 6: 0, 9: 8}


@pytest.mark.parametrize("alias", ["target", "TARGET", "Id"])
def test_both_sides_have_their_own_alias(root: Path, alias: str) -> None:
    table = made(root)
    merge = table.merge(rows(1), on="true", target_alias=alias, source_alias=alias.lower())
    with pytest.raises(ValueError, match="is that of both sides"):
        merge.when_matched_delete().execute()


@WAYS
def test_fields_of_structs(root: Path, properties: dict[str, str]) -> None:
    """Other fields keep their values; the fields of a NULL struct are NULL."""
    table = made(root, {**properties, **FEED})
    table.update({"home": None}, "id = 2")
    merge = table.merge(rows(1, 2, 3), on=ON)
    merge = merge.when_matched_update({"home.CITY": "upper(source.home.city)"}, "target.id < 3")
    commit = merge.when_matched_update({"Home": "named_struct('zip', 9, 'city', 'Bonn')"}).execute()
    found = values_of(table, "Home")
    assert [found[key] for key in (1, 2, 3)] == [
        {"City": "ULM", "zip": 1},
        {"City": "ULM", "zip": None},
        {"City": "Bonn", "zip": 9},
    ]
    feed = table.changes(commit.version, commit.version).to_arrow().to_pylist()
    after = {row["Id"]: row["Home"] for row in feed if row["_change_type"] == "update_postimage"}
    assert after == {key: found[key] for key in (1, 2, 3)}
    twice = table.merge(rows(1), on=ON).when_matched_update({"home": None, "home.zip": 1})
    with pytest.raises(ValueError, match="set twice"):
        twice.execute()


@WAYS
def test_rows_move_between_partitions(root: Path, properties: dict[str, str]) -> None:
    """Also to a new partition, to NULL, and into a partition of inserted rows."""
    table = made(root, {**properties, **FEED}, by=["day"])
    merge = table.merge(rows(1, 2, 5, 8, day=7), on=ON)
    merge = merge.when_matched_update({"day": "nullif(source.day, 7)"}, "target.id = 1")
    merge = merge.when_matched_update({"day": "source.day - target.day"}).when_not_matched_insert_all()
    commit = merge.when_not_matched_by_source_update({"day": "day + 6"}, "day = 1").execute()
    assert values_of(table, "day") == {1: None, 2: 7, 3: 0, 4: 7, 5: 6, 6: 7, 8: 7}
    for day, expected in {"day IS NULL": [1], "day = 7": [2, 4, 6, 8], "day = 6": [5], "day = 1": []}.items():
        assert sorted(table.snapshot().scan(["Id"], day).to_arrow()["Id"].to_pylist()) == expected
    feed = table.changes(commit.version, commit.version).to_arrow().to_pylist()
    moves = {row["Id"]: [None, None] for row in feed}
    for row in feed:
        moves[row["Id"]][row["_change_type"] in ("insert", "update_postimage")] = row["day"]
    assert moves == {1: [0, None], 2: [0, 7], 4: [1, 7], 5: [1, 6], 6: [1, 7], 8: [None, 7]}
    assert table.check(deep=True).is_healthy


Add = Callable[[deltaic.Merge], deltaic.Merge]
BIG = "2147483647"


@pytest.mark.parametrize(
    ("add", "message"),
    [
        (lambda merge: merge.when_matched_update({"n": f"source.n + {BIG}"}), "out of the range"),
        (lambda merge: merge.when_matched_update({"n": "cast(source.text AS INT)"}), "cast|'x'"),
        (lambda merge: merge.when_matched_delete("1 / target.n > 0"), "division by zero"),
        (lambda merge: merge.when_not_matched_insert_all("1 / (n - 1) > 0"), "division by zero"),
        (lambda merge: merge.when_not_matched_insert({"n": "cast(text AS INT)"}), "cast|'x'"),
        (lambda merge: merge.when_not_matched_by_source_delete(f"n - {BIG} - 2 < 0"), "out of the range"),
        (lambda merge: merge.when_not_matched_by_source_update({"n": f"n - {BIG} - 2"}), "out of the range"),
        (
            lambda merge: merge.when_matched_delete("source.id = 1").when_matched_delete("1 / target.n > 0"),
            "division by zero",
        ),
    ],
)
def test_ansi_errors_change_nothing(root: Path, add: Add, message: str) -> None:
    """A condition is evaluated for every row of its kind, also after a clause that applies."""
    table = made(root, FEED)
    files = sorted(root.rglob("*.parquet"))
    with pytest.raises(deltaic.InvalidPredicate, match=message):
        add(table.merge(rows(1, 9, n=1, text="x"), on=ON)).execute()
    assert (table.snapshot().version, sorted(root.rglob("*.parquet"))) == (2, files)


def test_an_error_of_the_join(root: Path) -> None:
    table = made(root)
    merge = table.merge(rows(1), on=f"{ON} AND 1 / source.n > 0").when_matched_delete()
    with pytest.raises(deltaic.InvalidPredicate, match="division by zero"):
        merge.execute()
    merge = table.merge(rows(1, text="x"), on="target.id = cast(source.text AS BIGINT)").when_matched_delete()
    with pytest.raises(deltaic.InvalidPredicate, match="x"):
        merge.execute()


def test_values_of_other_rows_raise_nothing(root: Path) -> None:
    """A value is computed only for the rows to which its clause applies."""
    table = made(root)
    merge = table.merge(rows(1, 9, n=1), on=ON)
    merge = merge.when_matched_update({"n": f"source.n + {BIG}"}, "source.n > 1")
    merge = merge.when_matched_update({"n": "source.n"})
    merge.when_not_matched_insert({"n": f"n + {BIG}"}, "n > 1").execute()
    assert values_of(table, "n")[1] == 1


def test_an_insert_without_values(root: Path) -> None:
    """All columns get their default, or NULL."""
    columns = [deltaic.Column("id", pa.int64()), deltaic.Column("n", pa.int64(), default="42")]
    table = deltaic.Table.create(root, columns)
    merge = table.merge(pa.table({"id": [1, 2]}), on=ON).when_not_matched_insert({})
    assert repr(merge).endswith("THEN INSERT () VALUES ()")
    assert merge.execute().metrics["numTargetRowsInserted"] == 2
    assert table.snapshot().scan().to_arrow().to_pylist() == [{"id": None, "n": 42}] * 2
    with pytest.raises(ValueError, match="at least one column"):
        table.merge(pa.table({"id": [1]}), on=ON).when_matched_update({})


@pytest.mark.parametrize("schema_mode", ["keep", "merge"])
def test_a_field_of_a_new_row_is_not_set_alone(root: Path, schema_mode: Any) -> None:
    merge = made(root).merge(rows(9), on=ON, schema_mode=schema_mode)
    with pytest.raises(ValueError, match=r"sets whole columns, but home\.city is a field of Home"):
        merge.when_not_matched_insert({"id": "id", "home.city": "'Bonn'"}).execute()


def test_columns_of_the_source_without_a_type(root: Path) -> None:
    """As in an append, they are NULL: `pyarrow.Table.from_pylist` makes them of None alone."""
    table = made(root)
    source = pa.Table.from_pylist([{"id": 1, "text": None}, {"id": 9, "text": None}])
    merge = table.merge(source, on=ON).when_matched_update({"text": "source.text"})
    merge.when_not_matched_insert({"id": "id", "text": "text"}).execute()
    assert values_of(table, "text") == {1: None, 2: "0", 3: "0", 4: "0", 5: "0", 6: "0", 9: None}
    key = pa.table({"n": pa.nulls(1)})
    for on, updated in (("=", 0), ("<=>", 1)):
        merge = table.merge(key, on=f"target.n {on} source.n").when_matched_update({"day": "7"})
        commit = merge.execute()
        assert commit.metrics.get("numTargetRowsUpdated", 0) == updated
    merge = table.merge(source, on=ON, schema_mode="merge").when_matched_update_all()
    assert merge.when_not_matched_insert_all().execute().metrics["numTargetRowsUpdated"] == 2
    new = source.append_column("extra", pa.nulls(2))
    with pytest.raises(deltaic.SchemaMismatch, match="the new column extra has no type"):
        table.merge(new, on=ON, schema_mode="merge").when_matched_update_all().execute()
