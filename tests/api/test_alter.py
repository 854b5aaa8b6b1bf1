"""`Table.alter`: every change, by class; the resulting table, and which changes are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic
from deltaic.alter import (
    AddColumn,
    AddConstraint,
    AddFeature,
    Change,
    ChangeType,
    ClusterBy,
    DropColumn,
    DropConstraint,
    DropFeature,
    DropNotNull,
    MergeSchema,
    MoveColumn,
    RemoveDomain,
    RenameColumn,
    SetComment,
    SetDefault,
    SetDescription,
    SetDomain,
    SetName,
    SetProperties,
    UnsetProperties,
    UpgradeProtocol,
)
from tests.api.log_files import of_kind

SCHEMA = pa.schema([pa.field("id", pa.int64()), pa.field("s", pa.struct([("x", pa.int32())]))])
MAPPED = {"delta.columnMapping.mode": "name"}


def made(root: Path, **options: Any) -> deltaic.Table:
    return deltaic.Table.create(root, SCHEMA, **options)


def field_of(table: deltaic.Table, name: str) -> dict[str, Any]:
    fields = json.loads(table.snapshot().schema.to_json())["fields"]
    return next(field for field in fields if field["name"] == name)


def test_properties_names_and_descriptions(root: Path) -> None:
    table = made(root, properties={"owner": "fleet"}, name="old")
    commit = table.alter(
        SetProperties({"delta.appendOnly": "TRUE", "k": "v"}),
        UnsetProperties(["owner"]),
        UnsetProperties(["nothing"], if_absent="ignore"),
        SetName(None),
        SetDescription("rides"),
        commit_info={"job": "nightly"},
    )
    metadata = table.snapshot().metadata
    assert (commit.version, commit.operation, commit.info["job"]) == (1, "ALTER TABLE", "nightly")
    assert metadata.properties == {"delta.appendOnly": "true", "k": "v"}
    assert (metadata.name, metadata.description) == (None, "rides")
    with pytest.raises(ValueError, match="did you mean k"):
        table.alter(UnsetProperties(["kk"]))
    assert table.snapshot().version == 1


def test_columns_come_move_and_are_commented(root: Path) -> None:
    table = made(root)
    table.append(pa.table({"id": [1], "s": [{"x": 1}]}, SCHEMA))
    table.alter(
        AddColumn("a", pa.string(), comment="first of all", first=True),
        AddColumn(pa.field("b", pa.list_(pa.int8())), after="id"),
        AddColumn("y", pa.float64(), within="s"),
        MoveColumn("s", after="a"),
        SetComment("id", "a number"),
        SetComment("s.x", "of ours"),
    )
    snapshot = table.snapshot()
    assert snapshot.schema.names == ["a", "s", "id", "b"]
    assert field_of(table, "a")["metadata"] == {"comment": "first of all"}
    assert field_of(table, "id")["metadata"] == {"comment": "a number"}
    [row] = snapshot.scan().to_arrow().to_pylist()
    assert row == {"a": None, "s": {"x": 1, "y": None}, "id": 1, "b": None}
    [told] = of_kind(root, 2, "commitInfo")
    assert json.loads(told["operationParameters"]["changes"])[2]["operation"] == "ADD COLUMNS"
    table.alter(SetComment("id", None))
    assert field_of(table, "id")["metadata"] == {}


def test_columns_are_renamed_and_dropped_where_they_are_mapped(root: Path) -> None:
    table = made(root)
    table.append(pa.table({"id": [1], "s": [{"x": 1}]}, SCHEMA))
    with pytest.raises(deltaic.SchemaMismatch, match="under this name") as caught:
        table.alter(RenameColumn("id", "number"))
    assert caught.value.context["field"] == "id"
    assert "delta.columnMapping.mode" in str(caught.value.hint)
    table.alter(SetProperties(MAPPED), RenameColumn("id", "number"), RenameColumn("s.x", "z"))
    assert table.snapshot().scan().to_arrow().to_pylist() == [{"number": 1, "s": {"z": 1}}]
    assert table.snapshot().protocol.min_reader_version == 2
    table.alter(DropColumn("s"))
    assert table.snapshot().scan().to_arrow().to_pylist() == [{"number": 1}]


def test_types_become_wider(root: Path) -> None:
    table = made(root, properties={"delta.enableTypeWidening": "true"})
    table.alter(ChangeType("s.x", pa.int64()))
    table.alter(MergeSchema(pa.schema([("id", pa.int64()), ("n", pa.int16())])))
    table.alter(ChangeType("n", pa.int32()))
    types = {field.name: field.type for field in table.snapshot().schema.to_arrow()}
    assert types == {"id": pa.int64(), "s": pa.struct([("x", pa.int64())]), "n": pa.int32()}
    with pytest.raises(deltaic.SchemaMismatch, match="n"):
        table.alter(ChangeType("n", pa.string()))


def test_nulls_and_defaults(root: Path) -> None:
    table = deltaic.Table.create(root, pa.schema([pa.field("id", pa.int64(), nullable=False)]))
    table.alter(DropNotNull("id"), AddFeature("allowColumnDefaults"), SetDefault("id", "7"))
    assert field_of(table, "id")["nullable"]
    assert field_of(table, "id")["metadata"] == {"CURRENT_DEFAULT": "7"}
    table.alter(SetDefault("id", None), DropFeature("allowColumnDefaults"))
    assert "allowColumnDefaults" not in table.snapshot().protocol.writer_features


def test_constraints_are_verified_by_the_rows(root: Path) -> None:
    """Existing rows are checked before the commit.

    protocol: check-constraints.1, check-constraints.3, check-constraints.5, check-constraints.9,
    protocol: check-constraints.10
    """
    table = made(root)
    table.append(pa.table({"id": [1, 2, None, -3], "s": [None] * 4}, SCHEMA))
    for expression, rows in [("id > 0", 2), ("id IS NULL OR id > 0", 1)]:
        with pytest.raises(deltaic.ConstraintViolation) as caught:
            table.alter(AddConstraint("positive", expression))
        assert (caught.value.context["rows"], caught.value.context["constraint"]) == (rows, "positive")
    assert table.snapshot().version == 1
    commit = table.alter(AddConstraint("Small", "id IS NULL OR id < 9"))
    assert (commit.operation, commit.parameters["expr"]) == ("ADD CONSTRAINT", "id IS NULL OR id < 9")
    assert table.snapshot().properties["delta.constraints.small"] == "id IS NULL OR id < 9"
    with pytest.raises(deltaic.InvalidPredicate):
        table.alter(AddConstraint("other", "nothing > 0"))
    table.alter(DropConstraint("SMALL"))
    table.alter(DropConstraint("small", if_absent="ignore"))
    with pytest.raises(ValueError, match="no constraint"):
        table.alter(DropConstraint("small"))


def test_clustering_and_domains(root: Path) -> None:
    table = made(root)
    table.append(pa.table({"id": [1], "s": [{"x": 1}]}, SCHEMA))
    assert table.alter(ClusterBy("id", "s.x")).operation == "CLUSTER BY"
    table.alter(SetDomain("com.example.notes", "one"))
    domains = table.snapshot().domain_metadata
    assert json.loads(domains["delta.clustering"])["clusteringColumns"] == [["id"], ["s", "x"]]
    assert domains["com.example.notes"] == "one"
    table.alter(ClusterBy(), RemoveDomain("com.example.notes"))
    domains = table.snapshot().domain_metadata
    assert json.loads(domains["delta.clustering"])["clusteringColumns"] == []
    assert "com.example.notes" not in domains
    with pytest.raises(ValueError, match=r"delta\."):
        table.alter(SetDomain("delta.clustering", "{}"))


def test_features_come_and_go(root: Path) -> None:
    table = made(root)
    table.append(pa.table({"id": [1], "s": [None]}, SCHEMA))
    table.alter(UpgradeProtocol(1, 4))
    assert table.snapshot().protocol.min_writer_version == 4
    table.alter(AddFeature("deletionVectors"))
    assert "deletionVectors" in table.snapshot().protocol.reader_features
    assert table.alter(AddFeature("deletionVectors")).skipped
    table.alter(DropFeature("deletionVectors"))
    protocol = table.snapshot().protocol
    assert "deletionVectors" not in protocol.writer_features
    assert "checkpointProtection" in protocol.writer_features
    assert (root / "_delta_log" / f"{3:020}.checkpoint.parquet").exists()
    with pytest.raises(deltaic.UnsupportedFeature, match="truncated"):
        table.alter(DropFeature("checkpointProtection", truncate_history=True))
    with pytest.raises(ValueError, match="did you mean rowTracking"):
        table.alter(AddFeature("rowTraking"))


def test_rows_that_are_there_get_ids(root: Path) -> None:
    """protocol: row-ids.4."""
    table = made(root)
    for number in range(2):
        table.append(pa.table({"id": [2 * number, 2 * number + 1], "s": [None, None]}, SCHEMA))
    before = table.snapshot().files(stats=True).to_arrow().sort_by("path")
    table.alter(SetProperties({"delta.enableRowTracking": "true"}))
    snapshot = table.snapshot()
    rows = snapshot.scan(row_ids=True).to_arrow()
    assert sorted(rows["_row_id"].to_pylist()) == [0, 1, 2, 3]
    assert set(rows["_row_commit_version"].to_pylist()) == {3}
    assert snapshot.files(stats=True).to_arrow().sort_by("path") == before
    table.append(pa.table({"id": [9], "s": [None]}, SCHEMA))
    assert max(table.snapshot().scan(row_ids=True).to_arrow()["_row_id"].to_pylist()) == 4
    assert table.check(deep=True).is_healthy


def test_in_commit_timestamps_begin_with_the_commit(root: Path) -> None:
    table = made(root)
    commit = table.alter(SetProperties({"delta.enableInCommitTimestamps": "true"}))
    properties = table.snapshot().properties
    assert properties["delta.inCommitTimestampEnablementVersion"] == "1"
    time = properties["delta.inCommitTimestampEnablementTimestamp"]
    assert time == str(commit.info["inCommitTimestamp"])
    assert table.check().is_healthy


def test_two_handles_change_a_table_at_once(root: Path) -> None:
    first = made(root)
    stale = deltaic.Table(root)
    stale.snapshot()
    first.alter(SetProperties({"one": "1"}))
    stale.alter(SetProperties({"two": "2"}))
    assert deltaic.Table(root).snapshot().properties == {"one": "1", "two": "2"}


def test_an_application_is_not_served_twice(root: Path) -> None:
    table = made(root)
    for expected in (False, True):
        commit = table.alter(SetProperties({"k": "v"}), app_transaction=("job", 3))
        assert commit.skipped is expected
    assert table.snapshot().version == 1


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ("AddColumn", TypeError, "deltaic.alter"),
        (AddColumn, TypeError, "deltaic.alter"),
        (SetProperties({"k": 1}), TypeError, "must be a string"),  # type: ignore[dict-item]
        (SetProperties("k"), TypeError, "mapping"),  # type: ignore[arg-type]
        (UnsetProperties("k"), TypeError, "names=["),
        (UnsetProperties(["k"], if_absent="maybe"), ValueError, "ignore"),  # type: ignore[arg-type]
        (SetDescription(1), TypeError, "description"),  # type: ignore[arg-type]
        (AddColumn("a"), ValueError, "type"),
        (AddColumn("a", 7), TypeError, "pyarrow.int64()"),  # type: ignore[arg-type]
        (AddColumn("a", "integre"), ValueError, "a type is expected"),
        (AddColumn(pa.schema([("a", pa.int8())])), TypeError, "pyarrow.Field"),
        (AddColumn("a", pa.int8(), first=1), TypeError, "first"),  # type: ignore[arg-type]
        (AddColumn("a", pa.int8(), first=True, after="id"), ValueError, "exclude each other"),
        (AddColumn("a", pa.int8(), after="di"), ValueError, "id"),
        (AddColumn("a", pa.time64("us")), deltaic.SchemaMismatch, "a"),
        (AddColumn("id", pa.int8()), ValueError, "id"),
        (MoveColumn("id"), ValueError, "is missing"),
        (ChangeType("s", pa.struct([("x", pa.int64())])), ValueError, "primitive types"),
        (MergeSchema(pa.int64()), ValueError, "schema"),
        (UpgradeProtocol(True, 7), TypeError, "must be an integer"),
        (UpgradeProtocol(9, 7), ValueError, "9"),
        (DropFeature("nothing"), ValueError, "nothing"),
        (ClusterBy("di"), ValueError, "id"),
        (SetProperties({"delta.isolationLevel": "SnapshotIsolation"}), ValueError, "Serializable"),
        (SetProperties({"delta.apendOnly": "true"}), ValueError, "delta.appendOnly"),
        (SetProperties({"delta.constraints.c": "id > 0"}), ValueError, "constraint"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_invalid_input_is_reported_and_nothing_is_written(
    root: Path, change: Change, error: type[Exception], says: str
) -> None:
    table = made(root)
    with pytest.raises(error) as caught:
        table.alter(SetName("new"), change)
    assert says in str(caught.value)
    assert deltaic.Table(root).snapshot().version == 0


def test_no_change_is_not_a_call(root: Path) -> None:
    with pytest.raises(ValueError, match="at least one"):
        made(root).alter()
