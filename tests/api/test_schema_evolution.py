"""`schema_mode`: the schema changes in the commit of the rows."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import deltaic
from deltaic import Column
from deltaic.alter import ClusterBy, SetDescription

ROWS = pa.table({"id": pa.array([1, 2], pa.int32()), "s": [{"a": 1}, {"a": 2}]})


def rows(table: deltaic.Table) -> list[dict[str, Any]]:
    return table.snapshot().scan().to_arrow().sort_by("id").to_pylist()


def fields(table: deltaic.Table) -> dict[str, Any]:
    return {field["name"]: field for field in json.loads(table.snapshot().schema.to_json())["fields"]}


def ids(table: deltaic.Table) -> dict[str, tuple[int, str]]:
    return {
        name: (
            field["metadata"]["delta.columnMapping.id"],
            field["metadata"]["delta.columnMapping.physicalName"],
        )
        for name, field in fields(table).items()
    }


@pytest.fixture(params=["none", "name", "id"])
def table(request: pytest.FixtureRequest, root: Path) -> deltaic.Table:
    table = deltaic.Table.create(
        root,
        ROWS.schema,
        properties={"delta.columnMapping.mode": request.param, "delta.enableTypeWidening": "true"},
    )
    table.append(ROWS)
    return table


def test_new_columns_and_fields_are_added(table: deltaic.Table) -> None:
    """protocol: change-metadata.1."""
    new = pa.table(
        {"day": ["x"], "S": [{"b": 7, "a": 3}], "ID": pa.array([3], pa.int32()), "l": [[{"c": 1}]]}
    )
    commit = table.append(new, schema_mode="merge")
    assert (commit.version, commit.operation) == (2, "WRITE")
    assert table.snapshot().schema.names == ["id", "s", "day", "l"]
    assert rows(table) == [
        {"id": 1, "s": {"a": 1, "b": None}, "day": None, "l": None},
        {"id": 2, "s": {"a": 2, "b": None}, "day": None, "l": None},
        {"id": 3, "s": {"a": 3, "b": 7}, "day": "x", "l": [{"c": 1}]},
    ]
    more = pa.table({"id": pa.array([4], pa.int32()), "l": [[{"c": 2, "d": "y"}]]})
    table.append(more, schema_mode="merge")
    assert rows(table)[2:] == [
        {"id": 3, "s": {"a": 3, "b": 7}, "day": "x", "l": [{"c": 1, "d": None}]},
        {"id": 4, "s": None, "day": None, "l": [{"c": 2, "d": "y"}]},
    ]


def test_types_are_widened_and_recorded(table: deltaic.Table) -> None:
    """protocol: beyond:type-widening.5."""
    table.append(pa.table({"id": [1 << 40]}), schema_mode="merge")
    made = fields(table)["id"]
    assert made["type"] == "long"
    assert [(change["fromType"], change["toType"]) for change in made["metadata"]["delta.typeChanges"]] == [
        ("integer", "long")
    ]
    assert [row["id"] for row in rows(table)] == [1, 2, 1 << 40]
    # A narrower type stays what it is in the table.
    table.append(pa.table({"id": pa.array([5], pa.int8())}), schema_mode="merge")
    assert fields(table)["id"] == made


@pytest.mark.parametrize(
    ("new", "says", "hint"),
    [
        (pa.table({"id": ["x"]}), "int in the table and string in the data", None),
        (pa.table({"id": [1.5]}), "cannot hold the double 1.5", None),
        (pa.table({"s": [1]}), "bigint in the data", None),
        (pa.table({"n": pa.nulls(1)}), "no type", "a type"),
        (pa.table({"__index_level_0__": [1]}), "pandas", "reset_index"),
    ],
)
def test_what_cannot_be_merged_is_refused(
    table: deltaic.Table, root: Path, new: pa.Table, says: str, hint: str | None
) -> None:
    before = sorted(root.rglob("*.parquet"))
    with pytest.raises(deltaic.SchemaMismatch, match=says) as caught:
        table.append(new, schema_mode="merge")
    assert hint is None or hint in (caught.value.hint or "")
    assert table.snapshot().version == 1
    assert sorted(root.rglob("*.parquet")) == before


def test_values_that_fit_are_assigned(root: Path) -> None:
    """As without `schema_mode`: a wider type of the data is not an error by itself."""
    schema = pa.schema({"id": pa.int32(), "s": pa.struct({"at": pa.timestamp("us", "UTC")})})
    table = deltaic.Table.create(root, schema)
    new = pa.table({"id": [1.0], "s": [{"at": date(2026, 11, 1)}], "n": [1]})
    table.append(new, schema_mode="merge")
    assert table.to_arrow().select(["id", "n"]).to_pylist() == [{"id": 1, "n": 1}]
    assert {name: field["type"] for name, field in fields(table).items() if name != "s"} == {
        "id": "integer",
        "n": "long",
    }
    with pytest.raises(deltaic.SchemaMismatch, match="cannot hold the bigint"):
        table.append(pa.table({"id": [1 << 40]}), schema_mode="merge")
    assert table.version == 1


def test_without_merge_the_hint_names_it(root: Path) -> None:
    table = deltaic.Table.create(root, ROWS.schema)
    with pytest.raises(deltaic.SchemaMismatch, match='no column "day"') as caught:
        table.append(pa.table({"day": [1]}))
    assert 'schema_mode="merge"' in (caught.value.hint or "")


def test_data_without_a_type_fits_any_column(table: deltaic.Table) -> None:
    new = pa.table({"id": pa.array([3], pa.int32()), "s": pa.nulls(1), "n": [1]})
    table.append(new, schema_mode="merge")
    assert rows(table)[2] == {"id": 3, "s": None, "n": 1}


def test_features_are_added(root: Path) -> None:
    table = deltaic.Table.create(root, [Column("id", "int")])
    table.append(pa.table({"at": pa.array([0], pa.timestamp("us"))}), schema_mode="merge")
    protocol = table.snapshot().protocol
    assert "timestampNtz" in protocol.writer_features
    assert "timestampNtz" in protocol.reader_features


def test_a_constraint_protects_its_column(root: Path) -> None:
    table = deltaic.Table.create(
        root, ROWS.schema, constraints={"c": "id > 0"}, properties={"delta.enableTypeWidening": "true"}
    )
    with pytest.raises(deltaic.SchemaMismatch, match="constraint"):
        table.append(pa.table({"id": [1 << 40]}), schema_mode="merge")


def test_equal_columns_change_no_metadata(table: deltaic.Table, root: Path) -> None:
    table.append(ROWS, schema_mode="merge")
    log = (root / "_delta_log" / f"{2:020}.json").read_text()
    assert "metaData" not in log


def test_overwrite_merges_too(root: Path) -> None:
    table = deltaic.Table.create(
        root, pa.schema([("id", pa.int64()), ("p", pa.string())]), partition_by=["p"]
    )
    table.append(pa.table({"id": [1, 2], "p": ["a", "b"]}))
    new = pa.table({"id": [3], "p": ["a"], "n": [7]})
    table.overwrite(new, "p = 'a'", schema_mode="merge")
    assert rows(table) == [{"id": 2, "p": "b", "n": None}, {"id": 3, "p": "a", "n": 7}]
    table.overwrite(new.append_column("m", [[1]]), partitions="dynamic", schema_mode="merge")
    assert rows(table) == [{"id": 2, "p": "b", "n": None, "m": None}, {"id": 3, "p": "a", "n": 7, "m": 1}]


def test_a_change_feed_has_new_columns(root: Path) -> None:
    table = deltaic.Table.create(
        root, pa.schema([("id", pa.int64())]), properties={"delta.enableChangeDataFeed": "true"}
    )
    table.append(pa.table({"id": [1, 2]}))
    table.overwrite(pa.table({"id": [2], "n": [5]}), "id = 2", schema_mode="merge")
    changes = table.changes(2).to_arrow().select(["id", "n", "_change_type"]).to_pylist()
    assert sorted(changes, key=str) == [
        {"id": 2, "n": 5, "_change_type": "insert"},
        {"id": 2, "n": None, "_change_type": "delete"},
    ]


def test_replace(table: deltaic.Table) -> None:
    """protocol: writer-requirements-for-column-mapping.3."""
    table.alter(SetDescription("kept"))
    is_mapped = table.snapshot().properties["delta.columnMapping.mode"] != "none"
    before = ids(table) if is_mapped else {}
    new = pa.table({"id": pa.array([9], pa.int32()), "s": ["text"], "n": [1]})
    table.overwrite(new, schema_mode="replace")
    assert rows(table) == [{"id": 9, "s": "text", "n": 1}]
    snapshot = table.snapshot()
    assert snapshot.metadata.description == "kept"
    assert snapshot.properties["delta.enableTypeWidening"] == "true"
    assert "delta.typeChanges" not in fields(table)["id"]["metadata"]
    if is_mapped:
        after = ids(table)
        assert after["id"] == before["id"]
        assert after["s"] != before["s"]
        assert min(after["s"][0], after["n"][0]) > max(number for number, _ in before.values()) + 1
        assert int(snapshot.properties["delta.columnMapping.maxColumnId"]) == after["n"][0]
    assert len(table.snapshot(version=1).scan().to_arrow()) == 2


def test_replace_and_partitions(root: Path) -> None:
    table = deltaic.write(root, pa.table({"id": [1], "p": ["a"]}), partition_by=["p"])
    table.overwrite(pa.table({"id": [2.5], "P": [7]}), schema_mode="replace")
    assert table.snapshot().partition_columns == ["P"]
    with pytest.raises(deltaic.SchemaMismatch, match="partition column P") as caught:
        table.overwrite(pa.table({"id": [2]}), schema_mode="replace")
    assert "partition_by=[" in (caught.value.hint or "")
    table.overwrite(pa.table({"id": [2]}), schema_mode="replace", partition_by=[])
    assert table.snapshot().partition_columns == []
    deltaic.write(
        root, pa.table({"id": [2], "q": [1]}), "overwrite", schema_mode="replace", partition_by=["q"]
    )
    assert table.snapshot().partition_columns == ["q"]
    assert rows(table) == [{"id": 2, "q": 1}]


@pytest.mark.parametrize(
    "call",
    [
        lambda table: table.overwrite(ROWS, "id = 1", schema_mode="replace"),
        lambda table: table.overwrite(ROWS, partitions="dynamic", schema_mode="replace"),
        lambda table: table.append(ROWS, schema_mode="replace"),
        lambda table: table.append(ROWS, schema_mode="marge"),
        lambda table: table.overwrite(ROWS, partition_by=["id"]),
        lambda table: deltaic.write(table.uri, ROWS, schema_mode="replace"),
        lambda table: deltaic.write(table.uri, ROWS, schema_mode="marge"),
    ],
)
def test_wrong_modes_are_refused(root: Path, call: Any) -> None:
    table = deltaic.write(root, ROWS)
    with pytest.raises(ValueError, match=r"schema|partition_by"):
        call(table)
    assert table.snapshot().version == 0


def test_in_a_transaction(root: Path) -> None:
    table = deltaic.write(root, pa.table({"id": [1, 2]}))
    with table.transaction() as tx:
        tx.delete("id = 1")
        tx.append(pa.table({"id": [3], "n": [1]}), schema_mode="merge")
        tx.append(pa.table({"id": [4], "n": [2]}))
        tx.append(pa.table({"id": [5], "m": [3]}), schema_mode="merge")
        tx.alter(SetDescription("both"))
    assert rows(table) == [
        {"id": 2, "n": None, "m": None},
        {"id": 3, "n": 1, "m": None},
        {"id": 4, "n": 2, "m": None},
        {"id": 5, "n": None, "m": 3},
    ]
    assert table.snapshot().metadata.description == "both"
    with table.transaction() as tx:
        tx.overwrite(pa.table({"id": [9], "x": ["y"]}), schema_mode="replace")
        tx.append(pa.table({"id": [10], "x": ["z"]}))
    assert rows(table) == [{"id": 9, "x": "y"}, {"id": 10, "x": "z"}]
    with table.transaction() as tx:
        tx.append(pa.table({"id": [11], "x": ["y"]}))
        with pytest.raises(ValueError, match="after other changes"):
            tx.overwrite(pa.table({"id": [12]}), schema_mode="replace")
    assert len(rows(table)) == 3


def test_a_failed_merge_leaves_the_transaction_as_it_was(root: Path) -> None:
    table = deltaic.write(root, pa.table({"id": [1]}))

    def broken() -> Any:
        yield pa.record_batch({"id": [2], "n": [1]})
        raise OSError("the source is gone")

    schema = pa.schema([("id", pa.int64()), ("n", pa.int64())])
    with table.transaction() as tx:
        with pytest.raises(Exception, match="the source is gone"):
            tx.append(pa.RecordBatchReader.from_batches(schema, broken()), schema_mode="merge")
        tx.append(pa.table({"id": [3]}))
    assert rows(table) == [{"id": 1}, {"id": 3}]


def test_a_concurrent_change_of_the_schema_conflicts(root: Path) -> None:
    table = deltaic.write(root, pa.table({"id": [1]}))
    with pytest.raises(deltaic.MetadataChanged), table.transaction() as tx:  # noqa: PT012
        tx.append(pa.table({"id": [2], "n": [1]}), schema_mode="merge")
        table.append(pa.table({"id": [3], "m": [1]}), schema_mode="merge")
    assert table.snapshot().schema.names == ["id", "m"]


def test_a_pandas_index_becomes_a_column(root: Path) -> None:
    table = deltaic.write(root, pa.table({"id": [1]}))
    frame = pd.DataFrame({"id": [2]}, index=pd.RangeIndex(5, 6, name="k"))
    table.append(frame, schema_mode="merge")
    assert rows(table) == [{"id": 1, "k": None}, {"id": 2, "k": 5}]
    with pytest.raises(deltaic.SchemaMismatch, match="no name"):
        table.append(pd.DataFrame({"id": [2]}, index=[7]), schema_mode="merge")


@pytest.mark.parametrize("mapping", ["none", "name"])
def test_a_replacement_retains_the_clustering_columns(root: Path, mapping: str) -> None:
    properties = {"delta.columnMapping.mode": mapping}
    schema = pa.schema([("id", pa.int64()), ("s", pa.struct([("day", pa.int64())]))])
    table = deltaic.Table.create(root, schema, cluster_by=["s.day"], properties=properties)
    with pytest.raises(deltaic.SchemaMismatch, match=r"no column s\.day .* is clustered") as caught:
        table.overwrite(pa.table({"id": [1]}), schema_mode="replace")
    assert caught.value.context["field"] == "s.day"
    assert (table.version, list(root.rglob("*.parquet"))) == (0, [])
    table.alter(ClusterBy())
    table.overwrite(pa.table({"id": [1]}), schema_mode="replace")
    assert table.to_arrow().to_pylist() == [{"id": 1}]
