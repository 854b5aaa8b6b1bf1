"""`Table.clone`: a table that refers to the files of another."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic
from tests.api.aged_files import age, files_of
from tests.api.log_files import of_kind, set_commit_time, write_commit

SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string())])


def rows(first: int, end: int) -> pa.Table:
    return pa.table({"id": range(first, end), "name": [f"n{i}" for i in range(first, end)]}, schema=SCHEMA)


def made(root: Path, **properties: str) -> deltaic.Table:
    """Returns a table of two files with ten rows each: version 2."""
    settings = {f"delta.{name}": value for name, value in properties.items()}
    table = deltaic.Table.create(root, SCHEMA, properties=settings, name="source", description="of a test")
    table.append(rows(0, 10))
    table.append(rows(10, 20))
    return table


def content(table: deltaic.Table, version: int | None = None) -> list[dict[str, object]]:
    return table.snapshot(version).scan().to_arrow().sort_by("id").to_pylist()


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "clone"


def opened(target: Path, *roots: Path) -> deltaic.Table:
    return deltaic.Table(target, allowed_roots=roots)


def test_the_clone_is_a_new_table_with_the_same_rows(root: Path, target: Path) -> None:
    table = made(root, appendOnly="true")
    source = table.snapshot()
    commit = table.clone(target)
    assert (commit.version, commit.operation, commit.skipped) == (0, "CLONE", False)
    assert commit.parameters == {"source": f"delta.`file:{root}`", "sourceVersion": 2}
    assert commit.metrics == {
        "sourceTableSize": source.size_in_bytes,
        "sourceNumOfFiles": 2,
        "numRemovedFiles": 0,
        "numCopiedFiles": 0,
        "removedFilesSize": 0,
        "copiedFilesSize": 0,
    }
    clone = opened(target, root)
    assert content(clone) == content(table)
    assert files_of(target) == set()
    assert clone.snapshot().protocol == source.protocol
    [metadata] = of_kind(target, 0, "metaData")
    [original] = of_kind(root, 0, "metaData")
    assert metadata["id"] != original["id"]
    assert "name" not in metadata
    assert "description" not in metadata
    for key in ("schemaString", "partitionColumns", "configuration", "format"):
        assert metadata[key] == original[key]
    known = {add["path"]: add for version in (1, 2) for add in of_kind(root, version, "add")}
    adds = of_kind(target, 0, "add")
    assert [add["path"] for add in adds] == sorted(f"file:{root}/{path}" for path in known)
    for add in adds:
        assert add == {**known[Path(add["path"]).name], "path": add["path"], "dataChange": True}


def test_neither_table_changes_with_the_other(root: Path, target: Path) -> None:
    table = made(root, enableDeletionVectors="true")
    table.clone(target)
    clone = opened(target, root)
    before = content(clone)
    table.delete("id < 5")
    table.append(rows(50, 51))
    assert content(clone) == before
    then = content(table)
    clone.update({"name": "'new'"}, "id = 7")
    clone.append(rows(30, 31))
    clone.optimize()
    assert content(table) == then
    assert [row["name"] for row in content(clone) if row["id"] in (7, 30)] == ["new", "n30"]
    assert len(content(clone)) == 21
    assert opened(target).snapshot().scan().to_arrow().num_rows == 21


def test_an_earlier_version_is_cloned(root: Path, target: Path) -> None:
    table = made(root)
    table.delete("id = 0")
    commit = table.clone(target, 1)
    assert commit.parameters["sourceVersion"] == 1
    assert content(opened(target, root)) == rows(0, 10).to_pylist()
    for version in range(4):
        set_commit_time(root, version, 1_800_000_000_000 + version * 60_000)
    at = deltaic.Table(root).clone(target.with_name("at"), timestamp="2027-01-15T08:02:30Z")
    assert at.parameters["sourceVersion"] == 2
    with pytest.raises(deltaic.VersionNotFound):
        table.clone(target.with_name("none"), version=9)
    with pytest.raises(ValueError, match="not both"):
        table.clone(target.with_name("none"), 1, "2027-01-15T08:02:30Z")
    assert not target.with_name("none").exists()


@pytest.mark.parametrize("rows_per_file", [10, 40_000])
def test_deletion_vectors_are_absolute(root: Path, target: Path, rows_per_file: int) -> None:
    """Small vectors are in the log, large ones in files."""
    table = deltaic.Table.create(root, SCHEMA, properties={"delta.enableDeletionVectors": "true"})
    table.append(rows(0, rows_per_file))
    table.delete("id % 3 = 0")
    [source] = of_kind(root, 2, "add")
    table.clone(target)
    [add] = of_kind(target, 0, "add")
    vector, original = add["deletionVector"], source["deletionVector"]
    if rows_per_file == 10:
        assert vector == original
    else:
        [file] = (name for name in files_of(root) if name.endswith(".bin"))
        assert vector == {**original, "storageType": "p", "pathOrInlineDv": f"file:{root}/{file}"}
    clone = opened(target, root)
    assert content(clone) == content(table)
    clone.delete("id % 3 = 1")
    assert content(clone) == [row for row in content(table) if row["id"] % 3 == 2]  # type: ignore[operator]


def test_partitions_with_special_characters_in_a_folder_with_them(tmp_path: Path) -> None:
    root, target = tmp_path / "sü d %41#?", tmp_path / "a b"
    data = pa.table({"id": [1, 2, 3, 4], "part": ["a/b %20", "ü=:", None, "x"]})
    table = deltaic.Table.create(root, data.schema, partition_by=["part"])
    table.append(data)
    table.clone(target)
    clone = opened(target, root)
    assert content(clone) == data.to_pylist()
    assert clone.snapshot().scan(predicate="part = 'ü=:'").to_arrow()["id"].to_pylist() == [2]


@pytest.mark.parametrize("mode", ["name", "id"])
def test_column_mapping(root: Path, target: Path, mode: str) -> None:
    table = made(root, **{"columnMapping.mode": mode})
    table.alter(deltaic.alter.RenameColumn("name", "title"), deltaic.alter.AddColumn("more", pa.int32()))
    table.clone(target)
    clone = opened(target, root)
    assert content(clone) == content(table)
    clone.alter(deltaic.alter.AddColumn("most", pa.int32()))
    assert clone.snapshot().metadata.properties["delta.columnMapping.maxColumnId"] == "4"
    assert {"title", "more", "most"} < set(content(clone)[0])


def test_row_ids_are_assigned_anew(root: Path, target: Path) -> None:
    table = made(root, enableRowTracking="true")
    table.update({"name": "'x'"}, "id = 3")
    table.clone(target)
    clone = opened(target, root)
    found = clone.snapshot().scan(["id"], row_ids=True).to_arrow()
    assert sorted(found["_row_id"].to_pylist()) == list(range(20))
    assert set(found["_row_commit_version"].to_pylist()) == {0}
    [domain] = of_kind(target, 0, "domainMetadata")
    assert json.loads(domain["configuration"])["rowIdHighWaterMark"] == 19
    names = [key for key in clone.snapshot().metadata.properties if "materialized" in key]
    assert len(names) == 2
    for key in names:
        assert clone.snapshot().metadata.properties[key] != table.snapshot().metadata.properties[key]
    ids = dict(zip(found["id"].to_pylist(), found["_row_id"].to_pylist(), strict=True))
    clone.update({"name": "'y'"}, "id = 3")
    again = clone.snapshot().scan(["id"], row_ids=True).to_arrow()
    assert dict(zip(again["id"].to_pylist(), again["_row_id"].to_pylist(), strict=True)) == ids


def test_properties_of_the_clone(root: Path, target: Path) -> None:
    table = made(root, enableInCommitTimestamps="true", **{"feature.domainMetadata": "supported"})
    table.alter(deltaic.alter.SetDomain("mine", "{}"))
    table.alter(deltaic.alter.AddConstraint("positive", "id >= 0"))
    table.clone(
        target, properties={"delta.enableRowTracking": "true", "mine": "1", "delta.appendOnly": "true"}
    )
    clone = opened(target, root)
    configuration = clone.snapshot().metadata.properties
    assert configuration["delta.constraints.positive"] == "id >= 0"
    assert (configuration["mine"], configuration["delta.appendOnly"]) == ("1", "true")
    assert "delta.inCommitTimestampEnablementVersion" not in configuration
    assert clone.history()[0].info["inCommitTimestamp"] > 0
    assert {domain["domain"] for domain in of_kind(target, 0, "domainMetadata")} == {
        "mine",
        "delta.rowTracking",
    }
    assert "rowTracking" in (clone.snapshot().protocol.writer_features or ())
    assert len(set(clone.snapshot().scan(row_ids=True).to_arrow()["_row_id"].to_pylist())) == 20
    with pytest.raises(deltaic.ConstraintViolation):
        clone.delete()
    with pytest.raises(deltaic.ConstraintViolation):
        clone.append(rows(-1, 0))


@pytest.mark.parametrize(
    ("properties", "error"),
    [
        ({"delta.columnMapping.mode": "name"}, deltaic.SchemaMismatch),
        ({"delta.enableIcebergCompatV1": "true"}, deltaic.SchemaMismatch),
        ({"delta.appendOnly": "maybe"}, ValueError),
        ({"delta.unknown": "1"}, ValueError),
        ({"delta.feature.fromTheFuture": "supported"}, (ValueError, deltaic.UnsupportedFeature)),
    ],
)
def test_properties_that_the_files_do_not_allow(
    root: Path, target: Path, properties: dict[str, str], error: type[Exception]
) -> None:
    table = made(root)
    for dry_run in (True, False):
        with pytest.raises(error):
            table.clone(target, properties=properties, dry_run=dry_run)
    assert not target.exists()


def test_identity_values_continue(root: Path, target: Path) -> None:
    columns = [
        deltaic.Column("id", pa.int64(), identity=deltaic.Identity()),
        deltaic.Column("name", pa.string()),
    ]
    table = deltaic.Table.create(root, columns)
    table.append(pa.table({"name": ["a", "b"]}))
    table.clone(target)
    clone = opened(target, root)
    clone.append(pa.table({"name": ["c"]}))
    assert [row["id"] for row in content(clone)] == [1, 2, 3]


def test_a_dry_run_writes_nothing(root: Path, target: Path) -> None:
    table = made(root)
    dry = table.clone(target, 1, dry_run=True)
    assert (dry.source_version, dry.files, dry.removed_files) == (1, 1, 0)
    assert dry.size_in_bytes == table.snapshot(1).size_in_bytes
    assert str(dry).startswith("CLONE of version 1 would refer to 1 file (")
    assert not target.exists()


def test_an_existing_table_is_an_error_or_replaced(root: Path, target: Path) -> None:
    table = made(root)
    old = deltaic.Table.create(target, rows(0, 1).schema, properties={"mine": "1"})
    old.append(rows(100, 103))
    identity = old.snapshot().metadata.id
    for dry_run in (True, False):
        with pytest.raises(deltaic.TableExists):
            table.clone(target, dry_run=dry_run)
    dry = table.clone(target, if_exists="replace", dry_run=True)
    assert (dry.files, dry.removed_files) == (2, 1)
    assert "remove 1 file (" in str(dry)
    assert old.snapshot().version == 1
    commit = table.clone(target, if_exists="replace")
    assert (commit.version, commit.operation) == (2, "CLONE")
    assert (commit.metrics["numRemovedFiles"], commit.metrics["sourceNumOfFiles"]) == (1, 2)
    assert commit.metrics["removedFilesSize"] == dry.removed_bytes
    clone = opened(target, root)
    assert content(clone) == content(table)
    assert content(clone, 1) == rows(100, 103).to_pylist()
    assert clone.snapshot().metadata.id == identity
    assert "mine" not in clone.snapshot().metadata.properties
    with pytest.raises(ValueError, match="if_exists"):
        table.clone(target, if_exists="ignore")  # type: ignore[call-overload]


@pytest.mark.parametrize("properties", [{}, {"enableRowTracking": "true"}])
def test_a_clone_is_brought_up_to_date(root: Path, target: Path, properties: dict[str, str]) -> None:
    """Files of both versions are neither removed nor listed twice; row ids of recommitted files stay."""
    table = made(root, enableDeletionVectors="true", **properties)
    table.clone(target)
    table.delete("id = 3")
    table.append(rows(20, 25))
    commit = table.clone(target, if_exists="replace")
    assert (commit.version, commit.metrics["numRemovedFiles"]) == (1, 1)
    clone = opened(target, root)
    assert content(clone) == content(table)
    assert content(clone, 0) == rows(0, 20).to_pylist()
    assert clone.check().is_healthy
    if properties:
        found = clone.snapshot().scan(["id"], row_ids=True).to_arrow()["_row_id"].to_pylist()
        assert len(set(found)) == 24
        before = clone.snapshot(0).scan(["id"], row_ids=True).to_arrow()["_row_id"].to_pylist()
        assert len(set(found) & set(before)) == 19


def test_the_feed_of_an_updated_clone_has_only_what_changed(root: Path, target: Path) -> None:
    table = made(root, enableChangeDataFeed="true", enableDeletionVectors="true")
    table.clone(target)
    table.append(rows(20, 22))
    table.delete("id = 3")
    table.clone(target, if_exists="replace")
    clone = opened(target, root)
    for infer in (False, True):
        changed = clone.changes(1, infer=infer).to_arrow().sort_by("id").to_pylist()
        found = [(row["_change_type"], row["id"]) for row in changed]
        assert found == [("delete", 3), ("insert", 20), ("insert", 21)]
    # The file with the deleted row is recommitted, and the new one is added; the other one stays as it is.
    assert len(of_kind(target, 1, "add")) == 2


def test_a_clone_that_is_up_to_date_lists_no_file(root: Path, target: Path) -> None:
    table = made(root, enableChangeDataFeed="true")
    table.clone(target)
    commit = table.clone(target, if_exists="replace")
    assert (commit.version, commit.operation, commit.skipped) == (1, "CLONE", False)
    assert of_kind(target, 1, "add") == of_kind(target, 1, "remove") == []
    clone = opened(target, root)
    assert content(clone) == content(table)
    assert clone.changes(1).to_arrow().num_rows == 0


def test_new_statistics_of_a_live_file_change_no_row(root: Path, target: Path) -> None:
    table = made(root, enableChangeDataFeed="true", dataSkippingStatsColumns="id")
    table.clone(target)
    table.alter(deltaic.alter.SetProperties({"delta.dataSkippingStatsColumns": "id,name"}))
    table.append(rows(20, 21))
    table.recompute_statistics()
    table.clone(target, if_exists="replace")
    changes = {add["dataChange"]: add for add in of_kind(target, 1, "add")}
    assert "name" in json.loads(changes[False]["stats"])["minValues"]
    clone = opened(target, root)
    assert clone.changes(1).to_arrow()["id"].to_pylist() == [20]
    assert content(clone) == content(table)


def test_an_append_only_table_is_not_replaced(root: Path, target: Path) -> None:
    table = made(root)
    deltaic.Table.create(target, SCHEMA, properties={"delta.appendOnly": "true"})
    for dry_run in (True, False):
        with pytest.raises(deltaic.SchemaMismatch, match="append-only"):
            table.clone(target, if_exists="replace", dry_run=dry_run)


def test_a_clone_of_a_clone(root: Path, target: Path) -> None:
    table = made(root)
    table.clone(target)
    clone = opened(target, root)
    clone.append(rows(20, 22))
    second = target.with_name("second")
    # The files are not read, so the location of the source need not be allowed.
    opened(target).clone(second)
    opened(target).clone(target.with_name("third"), version=1)
    assert content(opened(second, root, target)) == content(clone)
    with pytest.raises(deltaic.PathEscape):
        content(opened(second, target))


def test_the_target_must_be_another_place_on_the_same_store(root: Path) -> None:
    table = made(root)
    with pytest.raises(ValueError, match="the table itself"):
        table.clone(root, if_exists="replace")
    with pytest.raises(deltaic.UnsupportedFeature, match="the same store"):
        table.clone("memory:///clone_target")
    memory = deltaic.Table.create("memory:///clone_source", SCHEMA)
    with pytest.raises(deltaic.UnsupportedFeature, match="memory"):
        memory.clone("memory:///clone_target")
    with pytest.raises(deltaic.UnsupportedFeature, match="the same store"):
        table.clone("s3://bucket/clone", storage_options={"aws_region": "eu-west-1"})
    with pytest.raises(ValueError, match="storage_options"):
        table.clone(deltaic.Table(root.with_name("x")), storage_options={})
    assert table.snapshot().version == 2


def test_a_catalog_managed_source_is_refused(root: Path, target: Path) -> None:
    made(root)
    features = ["catalogManaged", "inCommitTimestamp", "vacuumProtocolCheck"]
    protocol = {
        "minReaderVersion": 3,
        "minWriterVersion": 7,
        "readerFeatures": ["catalogManaged", "vacuumProtocolCheck"],
        "writerFeatures": features,
    }
    write_commit(root, 3, {"commitInfo": {"inCommitTimestamp": 1}}, {"protocol": protocol})
    with pytest.raises(deltaic.UnsupportedFeature):
        deltaic.Table(root).clone(target)
    assert not target.exists()


def test_files_of_the_source_that_are_gone(root: Path, target: Path) -> None:
    table = made(root)
    table.clone(target)
    table.overwrite(rows(50, 51))
    age(root)
    table.vacuum()
    clone = opened(target, root)
    assert clone.snapshot().num_rows == 20
    with pytest.raises(deltaic.CorruptData) as caught:
        content(clone)
    assert str(root) in str(caught.value)
    # An earlier version is not cloned without its files.
    for dry_run in (True, False):
        with pytest.raises(deltaic.CorruptData, match="2 files of version 2 no longer exist"):
            table.clone(target.with_name("late"), version=2, dry_run=dry_run)
    assert not target.with_name("late").exists()


def test_a_vacuum_that_is_told_of_the_clone_keeps_its_files(root: Path, target: Path) -> None:
    table = made(root, enableDeletionVectors="true")
    table.delete("id < 3")
    table.clone(target)
    table.overwrite(rows(50, 51))
    age(root)
    table.vacuum(clones=[target])
    clone = opened(target, root)
    assert content(clone) == rows(3, 20).to_pylist()
    clone.delete()
    age(target)
    assert clone.vacuum().paths == []
    assert content(clone, 0) == rows(3, 20).to_pylist()


def test_an_application_transaction(root: Path, target: Path) -> None:
    table = made(root)
    table.clone(target, app_transaction=("nightly", 3), commit_info={"why": "trial"})
    assert [(txn["appId"], txn["version"]) for txn in of_kind(target, 0, "txn")] == [("nightly", 3)]
    for if_exists in ("replace", "error"):
        again = table.clone(target, if_exists=if_exists, app_transaction=("nightly", 3))  # type: ignore[call-overload]
        assert again.skipped
    with pytest.raises(deltaic.TableExists):
        table.clone(target, app_transaction=("nightly", 4))
    assert opened(target).history()[0].info["why"] == "trial"


def test_empty_tables_are_cloned(root: Path, target: Path) -> None:
    table = deltaic.Table.create(root, SCHEMA, cluster_by=["id"])
    commit = table.clone(target)
    assert commit.metrics["sourceNumOfFiles"] == 0
    clone = opened(target)
    assert clone.snapshot().num_rows == 0
    clone.append(rows(0, 1))
    assert [domain["domain"] for domain in of_kind(target, 0, "domainMetadata")] == ["delta.clustering"]


def test_checkpointed_sources_keep_their_statistics(root: Path, target: Path) -> None:
    table = made(root, **{"checkpoint.writeStatsAsJson": "false", "checkpoint.writeStatsAsStruct": "true"})
    table.checkpoint()
    deltaic.Table(root).clone(target)
    clone = opened(target, root)
    assert clone.snapshot().num_rows == 20
    assert clone.snapshot().files("id > 15").to_arrow().num_rows == 1
