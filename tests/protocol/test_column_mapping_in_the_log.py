"""Heading *Column Mapping*, for the log: partition values and statistics use physical names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import deltaic

from .handmade_log import HandmadeTable, add, field, metadata, protocol, schema

STATISTICS = {
    "numRecords": 3,
    "minValues": {"col-1": 1, "col-3": {"col-4": "a"}},
    "maxValues": {"col-1": 9, "col-3": {"col-4": "z"}},
    "nullCount": {"col-1": 1, "col-3": {"col-4": 0}},
}


def mapped(name: str, number: int, kind: object = "long") -> dict[str, object]:
    return field(
        name,
        kind,
        **{"delta.columnMapping.id": number, "delta.columnMapping.physicalName": f"col-{number}"},
    )


def table_of(root: Path, mode: str, *, legacy: bool) -> HandmadeTable:
    inner = {"type": "struct", "fields": [mapped("b", 4, "string")]}
    text = schema(mapped("a", 1), mapped("p", 2, "integer"), mapped("s", 3, inner))
    table = HandmadeTable(root)
    table.commit(
        protocol(2, 5) if legacy else protocol(3, 7, ["columnMapping"], ["columnMapping"]),
        metadata(text, ["p"], {"delta.columnMapping.mode": mode, "delta.columnMapping.maxColumnId": "4"}),
        add("x/a.parquet", values={"col-2": "7"}, stats=json.dumps(STATISTICS)),
        add("y/b.parquet", values={"col-2": None}),
    )
    return table


@pytest.mark.parametrize("mode", ["name", "id"])
@pytest.mark.parametrize("legacy", [True, False])
def test_files_go_by_logical_names(tmp_path: Path, mode: str, *, legacy: bool) -> None:
    """protocol: reader-requirements-for-column-mapping.1, reader-requirements-for-column-mapping.4."""
    snapshot = deltaic.Table(table_of(tmp_path / "t", mode, legacy=legacy).root).snapshot()
    assert snapshot.schema.names == ["a", "p", "s"]
    assert snapshot.partition_columns == ["p"]
    files = {row["path"]: row for row in snapshot.files(stats=True).to_arrow().to_pylist()}
    told, silent = files["x/a.parquet"], files["y/b.parquet"]
    assert (told["partition_values"], silent["partition_values"]) == ({"p": 7}, {"p": None})
    assert (told["num_records"], silent["num_records"]) == (3, None)
    assert (told["min"], told["max"]) == ({"a": 1, "s": {"b": "a"}}, {"a": 9, "s": {"b": "z"}})
    assert told["null_count"] == {"a": 1, "s": {"b": 0}}


@pytest.mark.parametrize("mode", ["name", "id"])
def test_partitions_are_pruned_by_logical_names(tmp_path: Path, mode: str) -> None:
    snapshot = deltaic.Table(table_of(tmp_path / "t", mode, legacy=False).root).snapshot()
    found = {
        text: snapshot.files(text).to_arrow()["path"].to_pylist()
        for text in ("p = 7", "p IS NULL", "p = 8", "p > 0 AND a = 100")
    }
    assert found["p = 7"] == ["x/a.parquet"]
    assert found["p IS NULL"] == ["y/b.parquet"]
    assert found["p = 8"] == []
    assert set(found["p > 0 AND a = 100"]) <= {"x/a.parquet"}


@pytest.mark.parametrize(
    "needs", [protocol(1, 2), protocol(3, 7, ["timestampNtz"], ["timestampNtz"])], ids=["legacy", "listed"]
)
def test_a_mode_without_the_feature_means_nothing(tmp_path: Path, needs: dict[str, object]) -> None:
    """protocol: column-mapping.1."""
    table = HandmadeTable(tmp_path / "t")
    table.commit(
        needs,
        metadata(
            schema(mapped("a", 1), mapped("p", 2, "integer")), ["p"], {"delta.columnMapping.mode": "name"}
        ),
        add("x.parquet", values={"p": "7"}, stats=json.dumps({"numRecords": 1, "minValues": {"a": 5}})),
    )
    (row,) = deltaic.Table(table.root).snapshot().files(stats=True).to_arrow().to_pylist()
    assert row["partition_values"] == {"p": 7}
    assert row["min"]["a"] == 5


def test_the_mode_none_goes_by_the_names_themselves(tmp_path: Path) -> None:
    """protocol: reader-requirements-for-column-mapping.2."""
    table = HandmadeTable(tmp_path / "t")
    table.commit(
        protocol(2, 5),
        metadata(schema(field("a"), field("p", "integer")), ["p"], {"delta.columnMapping.mode": "none"}),
        add("x.parquet", values={"p": "7"}),
    )
    (row,) = deltaic.Table(table.root).snapshot().files().to_arrow().to_pylist()
    assert row["partition_values"] == {"p": 7}
