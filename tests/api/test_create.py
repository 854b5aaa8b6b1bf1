"""`Table.create` and `Table.exists`."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic
from deltaic.alter import AddColumn
from tests.api.log_files import actions, commit_file, of_kind

SCHEMA = pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("day", pa.date32())])


def test_a_new_table_is_version_0_and_empty(root: Path) -> None:
    table = deltaic.Table.create(root, SCHEMA)
    snapshot = table.snapshot()
    assert (snapshot.version, snapshot.num_files, snapshot.size_in_bytes, snapshot.num_rows) == (0, 0, 0, 0)
    assert snapshot.schema.to_arrow() == SCHEMA
    assert snapshot.scan().to_arrow() == SCHEMA.empty_table()


def test_a_new_table_has_the_plainest_protocol(root: Path) -> None:
    protocol = deltaic.Table.create(root, SCHEMA).snapshot().protocol
    assert (protocol.min_reader_version, protocol.min_writer_version) == (1, 2)
    assert protocol.reader_features == protocol.writer_features == frozenset()
    assert json.loads(protocol.to_json()) == {"minReaderVersion": 1, "minWriterVersion": 2}


def test_a_naive_timestamp_needs_a_feature(root: Path) -> None:
    protocol = deltaic.Table.create(root, pa.schema([("at", pa.timestamp("us"))])).snapshot().protocol
    assert (protocol.min_reader_version, protocol.min_writer_version) == (3, 7)
    assert protocol.reader_features == {"timestampNtz"}
    assert "timestampNtz" in protocol.writer_features


def test_given_values_are_in_the_metadata(root: Path) -> None:
    table = deltaic.Table.create(
        root,
        SCHEMA,
        partition_by=["day"],
        properties={"delta.appendOnly": "true", "owner": "fleet"},
        name="events",
        description="one row an event",
        commit_info={"job": "setup"},
    )
    metadata = table.snapshot().metadata
    assert metadata.name == "events"
    assert metadata.description == "one row an event"
    assert metadata.partition_columns == table.snapshot().partition_columns == ["day"]
    assert (
        metadata.properties == table.snapshot().properties == {"delta.appendOnly": "true", "owner": "fleet"}
    )
    assert metadata.created_time is not None
    assert metadata.created_time.utcoffset() is not None
    [in_log] = of_kind(root, 0, "metaData")
    assert in_log == json.loads(metadata.to_json())
    assert in_log["id"] == metadata.id
    assert in_log["format"] == {"provider": "parquet", "options": {}}
    [info] = of_kind(root, 0, "commitInfo")
    assert info["job"] == "setup"


def test_the_schema_may_come_from_another_table_or_library(tmp_path: Path) -> None:
    first = deltaic.Table.create(tmp_path / "first", SCHEMA).snapshot()
    second = deltaic.Table.create(tmp_path / "second", first.schema).snapshot()
    assert second.schema == first.schema
    assert second.metadata.id != first.metadata.id
    third = deltaic.Table.create(tmp_path / "third", pl.Schema({"id": pl.Int64, "name": pl.String}))
    assert third.snapshot().schema.to_arrow() == pa.schema([("id", pa.int64()), ("name", pa.string())])


@pytest.mark.parametrize("spelling", ["path", "text", "uri", "trailing slash"])
def test_a_place_may_be_spelt_in_several_ways(root: Path, spelling: str) -> None:
    place = {"path": root, "text": str(root), "uri": root.as_uri(), "trailing slash": f"{root}/"}[spelling]
    table = deltaic.Table.create(place, SCHEMA)
    assert table.uri == deltaic.Table(root).uri == root.as_uri() + "/"
    assert repr(table) == f"<deltaic.Table {root.as_uri()}/>"
    assert deltaic.Table.exists(place)


def test_a_name_with_blanks_and_letters_is_a_place_too(tmp_path: Path) -> None:
    place = tmp_path / "Straße 50% + #1"
    deltaic.Table.create(place, SCHEMA)
    assert commit_file(place, 0).exists()
    assert deltaic.Table(place).snapshot().version == 0
    assert deltaic.Table(place.as_uri()).snapshot().version == 0


def test_a_relative_path_is_under_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert deltaic.Table.create("here", SCHEMA).uri == (tmp_path / "here").as_uri() + "/"


def test_an_existing_table_is_an_error_or_left_alone(root: Path) -> None:
    deltaic.Table.create(root, SCHEMA, name="first")
    before = commit_file(root, 0).read_bytes()
    with pytest.raises(deltaic.TableExists, match="table"):
        deltaic.Table.create(root, SCHEMA, name="second")
    table = deltaic.Table.create(root, SCHEMA, name="second", if_exists="ignore")
    assert table.snapshot().metadata.name == "first"
    assert commit_file(root, 0).read_bytes() == before
    assert [file.name for file in sorted((root / "_delta_log").glob("*.json"))] == [commit_file(root, 0).name]


@pytest.mark.parametrize("left", [b"", b'{"commitInfo":{"operation":"CREATE TABLE"}}\n{"protocol":{"minRea'])
def test_a_damaged_first_version_is_named(root: Path, left: bytes) -> None:
    """The incomplete first commit of an interrupted create is corrupt; a table cannot be created over it."""
    deltaic.Table.create(root, SCHEMA)
    commit_file(root, 0).write_bytes(left)
    with pytest.raises(deltaic.CorruptLog) as caught:
        deltaic.Table.create(root, SCHEMA)
    assert caught.value.context["version"] == 0
    assert caught.value.context["path"] == "_delta_log/00000000000000000000.json"
    assert commit_file(root, 0).read_bytes() == left


def test_the_first_commit_states_protocol_metadata_and_who(root: Path) -> None:
    deltaic.Table.create(root, SCHEMA)
    kinds = [next(iter(action)) for action in actions(root, 0)]
    assert sorted(kinds) == ["commitInfo", "metaData", "protocol"]
    [info] = of_kind(root, 0, "commitInfo")
    assert info["operation"] == "CREATE TABLE"
    assert info["engineInfo"].startswith("deltaic")


def test_exists_knows_a_table_from_a_folder(tmp_path: Path, root: Path) -> None:
    assert not deltaic.Table.exists(root)
    plain = tmp_path / "plain"
    plain.mkdir()
    pq.write_table(pa.table({"id": [1]}), plain / "part.parquet")
    assert not deltaic.Table.exists(plain)
    (plain / "_delta_log").mkdir()
    assert not deltaic.Table.exists(plain)
    deltaic.Table.create(root, SCHEMA)
    assert deltaic.Table.exists(root)
    assert deltaic.Table.exists(str(root), storage_options={})


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"partition_by": ["dya"]}, ValueError, "day"),
        ({"partition_by": "day"}, TypeError, "partition_by=['day']"),
        ({"partition_by": ["day", "day"]}, ValueError, "day"),
        ({"partition_by": ["id", "day"]}, ValueError, "all of its columns"),
        ({"if_exists": "repalce"}, ValueError, "error"),
        ({"commit_info": {"x": object()}}, TypeError, "commit_info"),
        ({"commit_info": ["x"]}, TypeError, "commit_info"),
        ({"commit_info": {"operation": "mine"}}, ValueError, "operation"),
        ({"storage_options": {"no_such_option": "1"}}, ValueError, "no_such_option"),
    ],
)
def test_a_wrong_argument_is_named_and_nothing_is_written(
    root: Path, options: dict[str, object], error: type[Exception], says: str
) -> None:
    with pytest.raises(error) as caught:
        deltaic.Table.create(root, SCHEMA, **options)  # type: ignore[arg-type]
    assert says in str(caught.value)
    assert not root.exists()


@pytest.mark.parametrize(
    ("data", "remedy"),
    [
        ({"id": "int"}, "__arrow_c_schema__.* not dict$"),
        ([1], "deltaic.Column"),
    ],
)
def test_invalid_schemas_are_refused(root: Path, data: Any, remedy: str) -> None:
    with pytest.raises(TypeError, match=remedy):
        deltaic.Table.create(root, data)
    assert not root.exists()


@pytest.mark.parametrize(
    ("schema", "column"),
    [
        (pa.schema([("clock", pa.time64("us"))]), "clock"),
        (pa.schema([("s", pa.struct([("wait", pa.duration("us"))]))]), "s.wait"),
        (pa.schema([("a", pa.int32()), ("A", pa.int32())]), "A"),
    ],
)
def test_a_type_that_delta_lacks_is_refused_by_column(root: Path, schema: pa.Schema, column: str) -> None:
    with pytest.raises(deltaic.SchemaMismatch) as caught:
        deltaic.Table.create(root, schema)
    assert column in str(caught.value)
    assert caught.value.context["field"] == column
    assert not root.exists()


@pytest.mark.parametrize(
    ("given", "column"),
    [
        (pa.uint8(), pa.int16()),
        (pa.uint16(), pa.int32()),
        (pa.uint32(), pa.int64()),
        (pa.uint64(), pa.decimal128(20, 0)),
    ],
)
def test_unsigned_integers_become_the_next_wider_type(
    root: Path, given: pa.DataType, column: pa.DataType
) -> None:
    most = 2**given.bit_width - 1
    data = pa.table(
        {"n": pa.array([0, most, None], given), "l": pa.array([[most], [], None], pa.list_(given))}
    )
    for table in (deltaic.write(root / "written", data), deltaic.Table.create(root / "created", data.schema)):
        table.append(data)
        assert table.snapshot().schema.to_arrow().field("n").type == column
        assert table.to_arrow().schema.field("l").type.value_type == column
        assert set(table.to_arrow()["n"].to_pylist()) == {0, most, None}


def test_decimals_of_256_bits_are_decimals_of_their_digits(root: Path) -> None:
    values = [Decimal("-1.25"), Decimal("9" * 36 + ".99"), None]
    data = pa.table({"d": pa.array(values, pa.decimal256(38, 2))})
    table = deltaic.write(root, data)
    table.append(data)
    assert table.snapshot().schema.to_arrow().field("d").type == pa.decimal128(38, 2)
    assert set(table.to_arrow()["d"].to_pylist()) == set(data["d"].to_pylist())
    with pytest.raises(deltaic.SchemaMismatch, match=r"no type decimal\(39,2\)"):
        deltaic.write(root.with_name("wide"), data.cast(pa.schema({"d": pa.decimal256(39, 2)})))


def test_a_partition_column_must_be_of_a_type_with_a_text_form(root: Path) -> None:
    schema = pa.schema([("id", pa.int64()), ("s", pa.struct([("a", pa.int32())]))])
    with pytest.raises((deltaic.SchemaMismatch, ValueError), match="s"):
        deltaic.Table.create(root, schema, partition_by=["s"])
    assert not root.exists()


@pytest.mark.parametrize(
    ("properties", "features"),
    [
        ({"delta.enableRowTracking": "true"}, {"rowTracking", "domainMetadata"}),
        ({"delta.enableInCommitTimestamps": "true"}, {"inCommitTimestamp"}),
        ({"delta.enableDeletionVectors": "true"}, {"deletionVectors"}),
    ],
    ids=["row tracking", "in-commit timestamps", "deletion vectors"],
)
def test_a_table_with_features_is_appended_to(
    root: Path, properties: dict[str, str], features: set[str]
) -> None:
    """protocol: writer-requirements-for-in-commit-timestamps.1."""
    table = deltaic.Table.create(root, pa.schema([("id", pa.int64())]), properties=properties)
    for number in range(2):
        table.append(pa.table({"id": [2 * number, 2 * number + 1]}))
    snapshot = deltaic.Table(root).snapshot()
    assert features <= snapshot.protocol.writer_features
    rows = snapshot.scan(row_ids="rowTracking" in features).to_arrow().sort_by("id").to_pylist()
    assert [row["id"] for row in rows] == [0, 1, 2, 3]
    if "rowTracking" in features:
        assert [row["_row_id"] for row in rows] == [0, 1, 2, 3]
        assert [row["_row_commit_version"] for row in rows] == [1, 1, 2, 2]
    if "inCommitTimestamp" in features:
        times = [commit.info["inCommitTimestamp"] for commit in table.history()]
        assert times == sorted(times, reverse=True)
        assert len(set(times)) == 3
    assert table.check(deep=True).is_healthy


def test_a_property_that_requests_a_feature_is_not_retained(root: Path) -> None:
    """The feature is listed in the protocol instead.

    protocol: table-features-for-new-and-existing-tables.2, table-features-for-new-and-existing-tables.3
    """
    asked = {
        "delta.feature.v2Checkpoint": "supported",
        "delta.minReaderVersion": "1",
        "delta.minWriterVersion": "4",
        "owner": "fleet",
    }
    snapshot = deltaic.Table.create(root, SCHEMA, properties=asked).snapshot()
    assert snapshot.properties == {"owner": "fleet"}
    assert {"v2Checkpoint", "changeDataFeed"} <= snapshot.protocol.writer_features
    assert snapshot.protocol.reader_features == {"v2Checkpoint"}


@pytest.mark.parametrize("mode", ["name", "id"])
def test_mapped_columns_have_ids_and_names_of_their_own(root: Path, mode: str) -> None:
    schema = pa.schema([("my id", pa.int64()), ("s", pa.struct([("x", pa.int32())]))])
    table = deltaic.Table.create(root, schema, properties={"delta.columnMapping.mode": mode})
    [metadata] = of_kind(root, 0, "metaData")
    assert metadata["configuration"]["delta.columnMapping.maxColumnId"] == "3"
    fields = json.loads(metadata["schemaString"])["fields"]
    names = [field["metadata"]["delta.columnMapping.physicalName"] for field in fields]
    assert all(name.startswith("col-") for name in names)
    assert len(set(names)) == 2
    assert table.snapshot().schema.to_arrow() == schema
    with pytest.raises(ValueError, match="my id"):
        deltaic.Table.create(root / "unmapped", schema)


def test_a_clustered_table(root: Path) -> None:
    """protocol: clustered-table.1, clustered-table.2, writer-requirements-for-clustered-table.1."""
    table = deltaic.Table.create(root, SCHEMA, cluster_by=["day"])
    snapshot = table.snapshot()
    assert json.loads(snapshot.domain_metadata["delta.clustering"])["clusteringColumns"] == [["day"]]
    assert snapshot.protocol.min_writer_version == 7
    assert {"clustering", "domainMetadata"} <= snapshot.protocol.writer_features
    [info] = of_kind(root, 0, "commitInfo")
    assert info["operationParameters"]["clusterBy"] == '["day"]'
    # protocol: writer-requirements-for-clustered-table.8, clustered-table.3
    for options in ({"partition_by": ["day"]}, {"cluster_by": ["dya"]}, {"cluster_by": "day"}):
        with pytest.raises((deltaic.SchemaMismatch, ValueError, TypeError)):
            deltaic.Table.create(root / "not", SCHEMA, **{"cluster_by": ["id"], **options})  # type: ignore[arg-type]
    assert not (root / "not").exists()


def test_a_table_with_constraints(root: Path) -> None:
    snapshot = deltaic.Table.create(root, SCHEMA, constraints={"positive": "id > 0"}).snapshot()
    assert snapshot.properties == {"delta.constraints.positive": "id > 0"}
    assert snapshot.protocol.min_writer_version == 3
    with pytest.raises(deltaic.InvalidPredicate):
        deltaic.Table.create(root / "not", SCHEMA, constraints={"positive": "di > 0"})


@pytest.mark.parametrize(
    ("properties", "error", "says"),
    [
        ({"delta.apendOnly": "true"}, ValueError, "delta.appendOnly"),
        ({"delta.appendOnly": "yes"}, ValueError, "true or false"),
        ({"delta.isolationLevel": "SnapshotIsolation"}, ValueError, "WriteSerializable"),
        ({"delta.feature.rowTraking": "supported"}, ValueError, "rowTracking"),
        ({"delta.feature.catalogManaged": "supported"}, deltaic.UnsupportedFeature, "catalogManaged"),
        ({"delta.columnMapping.maxColumnId": "9"}, ValueError, "cannot be set by users"),
        ({"delta.constraints.c": "id > 0"}, ValueError, "constraint"),
    ],
    ids=str,
)
def test_a_wrong_property_is_refused(
    root: Path, properties: dict[str, str], error: type[Exception], says: str
) -> None:
    with pytest.raises(error) as caught:
        deltaic.Table.create(root, SCHEMA, properties=properties)
    assert says in str(caught.value)
    assert not root.exists()


def test_a_table_in_the_place_of_another(root: Path) -> None:
    old = deltaic.Table.create(root, SCHEMA, properties={"delta.enableRowTracking": "true", "k": "v"})
    old.append(pa.table({"id": [1, 2], "day": [None, None]}, SCHEMA))
    schema = pa.schema([("n", pa.string())])
    tracked = {"delta.enableRowTracking": "true"}
    table = deltaic.Table.create(root, schema, properties=tracked, if_exists="replace", name="new")
    snapshot = table.snapshot()
    assert (snapshot.version, snapshot.num_files, snapshot.metadata.name) == (2, 0, "new")
    assert snapshot.metadata.id == old.snapshot(version=0).metadata.id
    assert "k" not in snapshot.properties
    assert table.history(1)[0].operation == "CREATE OR REPLACE TABLE"
    assert table.snapshot(version=1).scan().count() == 2
    table.append(pa.table({"n": ["a"]}))
    assert table.snapshot().scan(row_ids=True).to_arrow()["_row_id"].to_pylist() == [2]
    assert table.check(deep=True).is_healthy


def nested(levels: int) -> pa.DataType:
    kind: pa.DataType = pa.int64()
    for _ in range(levels):
        kind = pa.struct([("a", kind)])
    return kind


def test_a_schema_is_nested_as_deep_as_it_can_be_read(root: Path) -> None:
    """The log's JSON is parsed up to 127 levels deep; each struct takes three levels."""
    deepest = pa.schema([("id", pa.int64()), ("deep", nested(41))])
    value: Any = 7
    for _ in range(41):
        value = {"a": value}
    table = deltaic.Table.create(root / "deep", deepest)
    table.append(pa.table({"id": [1], "deep": [value]}, schema=deepest))
    assert table.snapshot().scan().to_arrow()["deep"].to_pylist() == [value]
    too_deep = pa.schema([("id", pa.int64()), ("deep", nested(42))])
    with pytest.raises(deltaic.SchemaMismatch, match="nested too deeply") as caught:
        deltaic.Table.create(root / "deeper", too_deep)
    assert caught.value.context["field"] == "deep"
    assert "restore" not in str(caught.value)
    assert not (root / "deeper").exists()
    with pytest.raises(deltaic.SchemaMismatch, match="nested too deeply"):
        table.alter(AddColumn(pa.field("too", nested(42))))
    assert table.snapshot().version == 1
