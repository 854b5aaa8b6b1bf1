"""Heading *Actions*: the meaning of each action for a reader, and its required fields."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import deltaic

from .handmade_log import (
    Action,
    HandmadeTable,
    add,
    domain,
    field,
    ids,
    metadata,
    protocol,
    read_commit,
    remove,
    schema,
    txn,
)
from .naive_replay import replay
from .snapshot_state import shown, wanted

REQUIRED = {
    "metaData": (metadata(), ["id", "format", "schemaString", "partitionColumns"]),
    "protocol": (protocol(), ["minReaderVersion", "minWriterVersion"]),
    "add": (add("a.parquet"), ["path", "partitionValues", "size", "modificationTime", "dataChange"]),
    "remove": (remove("a.parquet"), ["path", "dataChange"]),
    "txn": (txn("app", 1), ["appId", "version"]),
    "domainMetadata": (domain("app.x"), ["domain", "configuration", "removed"]),
}


HOW = ["absent", "null", "of another type"]
# Metadata without a schema occur (`test_tables_without_columns.py`); a schema of another type is damage.
BROKEN = [
    (kind, name, how)
    for kind, (_, names) in REQUIRED.items()
    for name in names
    for how in (HOW[2:] if name == "schemaString" else HOW)
]


@pytest.mark.parametrize(("kind", "name", "how"), BROKEN)
def test_a_required_field_is_required(tmp_path: Path, kind: str, name: str, how: str) -> None:
    # protocol: change-metadata.2, change-metadata.4, change-metadata.5, change-metadata.6,
    # change-metadata.7, add-file-and-remove-file.6, add-file-and-remove-file.8,
    # add-file-and-remove-file.9, add-file-and-remove-file.13, transaction-identifiers.2,
    # transaction-identifiers.3, protocol-evolution.7, protocol-evolution.8
    whole, _ = REQUIRED[kind]
    body = {key: value for key, value in whole[kind].items() if key != name or how != "absent"}
    if how == "null":
        body[name] = None
    elif how == "of another type":
        body[name] = [{"no": "such thing"}]
    table = HandmadeTable(tmp_path / "t")
    table.commit(protocol(1, 7, None, ["domainMetadata"]), metadata())
    table.commit({kind: body})
    with pytest.raises(deltaic.CorruptLog) as caught:
        shown(deltaic.Table(table.root).snapshot())
    assert caught.value.context["version"] == 1
    assert name in caught.value.message


def test_numbers_are_exact(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.create(add("a.parquet", size=2**53 + 1, modificationTime=2**62 + 1), txn("app", 2**63 - 1))
    snapshot = deltaic.Table(table.root).snapshot()
    row = snapshot.files().to_arrow().to_pylist()[0]
    assert (row["size"], row["modification_time"]) == (2**53 + 1, 2**62 + 1)
    assert snapshot.app_transactions == {"app": 2**63 - 1}


@pytest.mark.parametrize("size", ["9223372036854775808", "1e400", "-9223372036854775809", "1.5", "true"])
def test_a_number_that_does_not_fit_is_an_error(tmp_path: Path, size: str) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.create()
    line = json.dumps(add("a.parquet")).replace('"size": 100', f'"size": {size}')
    assert size in line
    table.commit_bytes(line.encode() + b"\n")
    with pytest.raises(deltaic.CorruptLog) as caught:
        deltaic.Table(table.root).snapshot()
    assert caught.value.context["version"] == 1


def test_the_first_version_has_metadata(tmp_path: Path) -> None:
    """protocol: change-metadata.1."""
    table = HandmadeTable(tmp_path / "t")
    table.commit(protocol(), add("a.parquet"))
    with pytest.raises(deltaic.CorruptLog, match="metaData"):
        deltaic.Table(table.root).snapshot()


def test_the_first_version_has_a_protocol(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.commit(metadata(), add("a.parquet"))
    with pytest.raises(deltaic.CorruptLog, match="protocol"):
        deltaic.Table(table.root).snapshot()


def test_later_metadata_overwrites_the_former_completely(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    first = metadata(configuration={"a": "1", "b": "2"}, name="n", description="d")
    second = metadata(schema(field("id"), field("more", "string")), configuration={"b": "3"})
    table.commit(protocol(), first)
    table.commit(second)
    handle = deltaic.Table(table.root)
    assert shown(handle.snapshot(version=0)) == wanted(replay([[protocol(), first]]))
    assert shown(handle.snapshot()) == wanted(replay([[protocol(), second]]))
    assert handle.snapshot().metadata.name is None


def test_the_facts_of_a_files_latest_add_replace_the_former(tmp_path: Path) -> None:
    """protocol: add-file-and-remove-file.1."""
    table = HandmadeTable(tmp_path / "t")
    table.create(add("a.parquet", size=1, modificationTime=5, stats='{"numRecords":1}'))
    table.commit(add("a.parquet", size=2, modificationTime=6, stats='{"numRecords":2}', dataChange=False))
    snapshot = deltaic.Table(table.root).snapshot()
    (row,) = snapshot.files().to_arrow().to_pylist()
    assert (row["size"], row["modification_time"]) == (2, 6)
    assert (snapshot.num_files, snapshot.size_in_bytes, snapshot.num_rows) == (1, 2, 2)


@pytest.mark.parametrize(
    ("uri", "file"),
    [
        ("a%20b.parquet", "a b.parquet"),
        ("%C3%A9.parquet", "é.parquet"),
        ("é.parquet", "é.parquet"),
        ("a%2520b.parquet", "a%20b.parquet"),
        ("a+b.parquet", "a+b.parquet"),
        ("s=a%252Fb/x%3Dy%26.parquet", "s=a%2Fb/x=y&.parquet"),
        ("a%23b%3Fc.parquet", "a#b?c.parquet"),
        ("deep/er/../a.parquet", "deep/a.parquet"),
        ("./a.parquet", "a.parquet"),
    ],
)
def test_a_path_is_a_uri_decoded_once(tmp_path: Path, uri: str, file: str) -> None:
    """protocol: add-file-and-remove-file.6."""
    table = HandmadeTable(tmp_path / "t")
    table.create(table.data(file, ids(1, 2), uri=uri))
    snapshot = deltaic.Table(table.root).snapshot()
    assert snapshot.files().to_arrow()["path"].to_pylist() == [uri]
    assert snapshot.scan().to_arrow()["id"].to_pylist() == [1, 2]


def test_a_removed_path_is_a_uri_as_well(tmp_path: Path) -> None:
    """The URI of a remove is decoded to find the file; the tombstone keeps the URI.

    protocol: add-file-and-remove-file.13
    """
    table = HandmadeTable(tmp_path / "t")
    kept = table.data("a%20b.parquet", ids(1), uri="a%2520b.parquet")
    table.create(kept, table.data("a b.parquet", ids(2), uri="a%20b.parquet"))
    table.commit(remove("a%20b.parquet"))
    snapshot = deltaic.Table(table.root).snapshot()
    assert snapshot.scan().to_arrow()["id"].to_pylist() == [1]
    (tombstone,) = snapshot.tombstones().to_arrow()["path"].to_pylist()
    assert tombstone == "a%20b.parquet"


@pytest.mark.parametrize("spelling", ["file:{}", "file://{}", "file:///{}", "{}"])
def test_all_spellings_of_an_absolute_path_are_one_file(tmp_path: Path, spelling: str) -> None:
    """protocol: add-file-and-remove-file.5, add-file-and-remove-file.12."""
    table = HandmadeTable(tmp_path / "t")
    table.create(add("/some/where/a.parquet"), add("b.parquet"))
    path = "some/where/a.parquet" if spelling == "file:///{}" else "/some/where/a.parquet"
    table.commit(remove(spelling.format(path)))
    snapshot = deltaic.Table(table.root).snapshot()
    assert snapshot.files().to_arrow()["path"].to_pylist() == ["b.parquet"]
    assert snapshot.tombstones().to_arrow().num_rows == 1


def test_an_absolute_path_under_the_root_is_read(tmp_path: Path) -> None:
    """protocol: add-file-and-remove-file.5."""
    table = HandmadeTable(tmp_path / "t")
    plain = table.data("a.parquet", ids(1))
    uri = table.data("b.parquet", ids(2))
    plain["add"]["path"] = str(table.root / "a.parquet")
    uri["add"]["path"] = (table.root / "b.parquet").as_uri()
    table.create(plain, uri)
    assert sorted(deltaic.Table(table.root).snapshot().scan().to_arrow()["id"].to_pylist()) == [1, 2]


def test_an_absolute_path_elsewhere_is_read_where_it_is_allowed(tmp_path: Path) -> None:
    elsewhere = HandmadeTable(tmp_path / "source")
    action = elsewhere.data("a.parquet", ids(1, 2))
    action["add"]["path"] = (elsewhere.root / "a.parquet").as_uri()
    table = HandmadeTable(tmp_path / "t")
    table.create(action)
    allowed = deltaic.Table(table.root, allowed_roots=[str(elsewhere.root)])
    assert allowed.snapshot().scan().to_arrow()["id"].to_pylist() == [1, 2]
    with pytest.raises(deltaic.PathEscape):
        deltaic.Table(table.root).snapshot().scan().to_arrow()


def test_tombstones_stay(tmp_path: Path) -> None:
    """protocol: add-file-and-remove-file.2."""
    table = HandmadeTable(tmp_path / "t")
    table.create(add("a.parquet"), add("b.parquet"))
    table.commit(remove("a.parquet", timestamp=1), remove("never-added.parquet", timestamp=2))
    tombstones = deltaic.Table(table.root).snapshot().tombstones().to_arrow()
    found = zip(tombstones["path"].to_pylist(), tombstones["deletion_timestamp"].to_pylist(), strict=True)
    assert sorted(found) == [("a.parquet", 1), ("never-added.parquet", 2)]


def test_transactions_show_the_latest_version_of_each_application(tmp_path: Path) -> None:
    """protocol: transaction-identifiers.1."""
    table = HandmadeTable(tmp_path / "t")
    table.create(txn("etl", 5), txn("backfill", 1))
    table.commit(txn("etl", 3))
    assert deltaic.Table(table.root).snapshot().app_transactions == {"etl": 3, "backfill": 1}


def test_domains_are_shown_any_client_owns_them_and_removed_ones_are_not(tmp_path: Path) -> None:
    """protocol: reader-requirements-for-domain-metadata.3."""
    table = HandmadeTable(tmp_path / "t")
    table.commit(
        protocol(1, 7, None, ["domainMetadata"]), metadata(), domain("app.x", "old"), domain("y", "1")
    )
    table.commit(
        domain("app.x", '{"a":1} '), domain("delta.fromTheFuture", "kept"), domain("y", "", removed=True)
    )
    snapshot = deltaic.Table(table.root).snapshot()
    assert snapshot.domain_metadata == {"app.x": '{"a":1} ', "delta.fromTheFuture": "kept"}


def test_change_data_files_are_not_part_of_a_snapshot(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    cdc = {"path": "_change_data/c.parquet", "partitionValues": {}, "size": 9, "dataChange": False}
    table.create(add("a.parquet"), {"cdc": cdc})
    table.commit({"cdc": cdc}, remove("a.parquet"))
    handle = deltaic.Table(table.root)
    assert [handle.snapshot(version=version).num_files for version in range(2)] == [1, 0]


def test_an_append_retains_what_other_actions_reported(tmp_path: Path) -> None:
    """protocol: writer-requirements-for-domain-metadata.1."""
    table = HandmadeTable(tmp_path / "t")
    table.commit(
        protocol(1, 7, None, ["domainMetadata"]),
        metadata(),
        txn("app", 3),
        domain("delta.x", "1"),
        domain("u", "2"),
    )
    deltaic.Table(table.root).append(ids(1))
    snapshot = deltaic.Table(table.root).snapshot()
    assert snapshot.domain_metadata == {"delta.x": "1", "u": "2"}
    assert snapshot.app_transactions == {"app": 3}
    assert {next(iter(action)) for action in read_commit(table.root, 1)} == {"commitInfo", "add"}


@pytest.mark.parametrize("kind", ["checkpointMetadata", "sidecar"])
def test_actions_of_v2_checkpoints_do_not_belong_in_commits(tmp_path: Path, kind: str) -> None:
    """protocol: action-reconciliation.3."""
    bodies: dict[str, Any] = {
        "checkpointMetadata": {"version": 1, "tags": {}},
        "sidecar": {"path": "s.parquet", "sizeInBytes": 1, "modificationTime": 1},
    }
    table = HandmadeTable(tmp_path / "t")
    actions: list[Action] = [add("a.parquet"), {kind: bodies[kind]}]
    table.create(*actions)
    snapshot = deltaic.Table(table.root).snapshot()
    assert shown(snapshot) == wanted(replay([[protocol(), metadata(), add("a.parquet")]]))
