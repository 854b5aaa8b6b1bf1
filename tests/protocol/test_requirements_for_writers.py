"""Headings under *Requirements for Writers*: append-only tables, constraints, immutable log entries."""

# A transaction raises at the end of its block.
# ruff: noqa: PT012

from __future__ import annotations

import json
from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic
from deltaic.alter import AddColumn, SetComment, SetDescription, SetProperties

from .handmade_log import (
    Action,
    HandmadeTable,
    commit_path,
    domain,
    field,
    ids,
    metadata,
    protocol,
    read_commit,
    schema,
)

INVARIANT = '{"expression": {"expression": "id > 3"}}'
FEED = {"delta.enableChangeDataFeed": "true"}
CHECK = {"delta.constraints.big": "id > 3"}


@pytest.mark.parametrize("needs", [protocol(1, 2), protocol(1, 7, None, ["appendOnly"])], ids=["2", "7"])
def test_an_append_only_table_is_appended_to_and_nothing_is_removed(tmp_path: Path, needs: Action) -> None:
    """protocol: append-only-tables.1, append-only-tables.2."""
    table = HandmadeTable(tmp_path / "t")
    table.commit(needs, metadata(configuration={"delta.appendOnly": "true"}), table.data("a.parquet", ids(1)))
    deltaic.Table(table.root).append(ids(2))
    assert not [action for action in read_commit(table.root, 1) if "remove" in action or "metaData" in action]
    assert sorted(deltaic.Table(table.root).snapshot().scan().to_arrow()["id"].to_pylist()) == [1, 2]


IDENTITY = {"delta.identity.start": 1, "delta.identity.step": 1, "delta.identity.highWaterMark": 4}


@pytest.mark.parametrize(
    ("feature", "version", "about"),
    [
        ("identityColumns", 6, {**IDENTITY, "delta.identity.allowExplicitInsert": True}),
        ("generatedColumns", 4, {"delta.generationExpression": "id + 6"}),
    ],
)
@pytest.mark.parametrize("listed", [True, False], ids=["version 7", "before"])
def test_no_file_is_added_whose_values_are_generated(
    tmp_path: Path, feature: str, version: int, about: dict[str, Any], listed: bool
) -> None:
    """Only the writer of a file knows whether its values are those of the column.

    protocol (refused): identity-columns.12, generated-columns.4
    """
    table = HandmadeTable(tmp_path / "t")
    needs = protocol(1, 7, None, [feature]) if listed else protocol(1, version)
    table.commit(needs, metadata(schema(field("id"), field("n", **about))))
    given = table.data("given.parquet", pa.table({"id": [1], "n": [7]}))["add"]
    about_file = {"path": given["path"], "size": given["size"], "modification_time": 5}
    before = sorted(table.root.rglob("*"))
    with pytest.raises(deltaic.UnsupportedFeature) as caught, deltaic.Table(table.root).transaction() as tx:
        tx.add([about_file])
    assert caught.value.context["feature"] == feature
    assert sorted(table.root.rglob("*")) == before


def test_column_metadata_survives_every_change_of_other_columns(tmp_path: Path) -> None:
    """protocol: struct-field.1, beyond:collations.1."""
    kept = {
        "id": {"comment": "the key", "unknown.key": [1, {"a": None}]},
        "n": {**IDENTITY, "delta.identity.allowExplicitInsert": False},
        "i": {"delta.invariants": INVARIANT},
        "g": {"delta.generationExpression": "id + 1"},
        "c": {"__COLLATIONS": {"c": "icu.en_US.75.1"}},
    }
    columns = [field(name, "string" if name == "c" else "long", **about) for name, about in kept.items()]
    table = HandmadeTable(tmp_path / "t")
    table.commit(protocol(1, 6), metadata(schema(*columns)))
    handle = deltaic.Table(table.root)
    changes = [
        SetProperties({"delta.appendOnly": "true"}),
        AddColumn("new", pa.string(), first=True),
        SetComment("new", "later"),
    ]
    for version, change in enumerate(changes, start=1):
        handle.alter(change)
        [meta] = [action["metaData"] for action in read_commit(table.root, version) if "metaData" in action]
        fields = json.loads(meta["schemaString"])["fields"]
        assert {one["name"]: one["metadata"] for one in fields if one["name"] in kept} == kept


def test_a_written_schema_is_one_line_of_json(tmp_path: Path) -> None:
    """With any characters in names and comments.

    protocol: column-invariants.5
    """
    odd = "a\nb\r\nc\u2028\u0085d"
    root = tmp_path / "t"
    columns = pa.schema([pa.field(odd, pa.int64()), pa.field("s", pa.struct([pa.field("x", pa.int32())]))])
    table = deltaic.Table.create(root, columns, properties={"delta.columnMapping.mode": "name"})
    table.alter(SetComment("s", odd), SetDescription(odd))
    table.alter(AddColumn("later", pa.list_(pa.string()), comment=odd))
    deltaic.Table.create(root, columns, properties={"delta.columnMapping.mode": "name"}, if_exists="replace")
    for version in range(4):
        lines = commit_path(root, version).read_text(encoding="utf-8").split("\n")
        assert lines.pop() == ""
        [meta] = [action["metaData"] for action in map(json.loads, lines) if "metaData" in action]
        text = meta["schemaString"]
        assert "\n" not in text
        assert "\r" not in text
        assert odd in [one["name"] for one in json.loads(text)["fields"]]


@pytest.mark.parametrize(
    ("needs", "configuration", "keeps_feed"),
    [
        pytest.param(protocol(1, 4), FEED, True, id="4"),
        pytest.param(protocol(2, 5), FEED, True, id="5"),
        pytest.param(protocol(2, 6), FEED, True, id="6"),
        pytest.param(protocol(1, 7, None, ["changeDataFeed"]), FEED, True, id="7"),
        pytest.param(protocol(1, 7, None, ["changeDataFeed"]), {}, False, id="7, not enabled"),
        pytest.param(protocol(2, 6), {"delta.enableChangeDataFeed": "false"}, False, id="6, not enabled"),
    ],
)
def test_whatever_is_written_leaves_an_exact_change_feed(
    tmp_path: Path, needs: Action, configuration: dict[str, str], keeps_feed: bool
) -> None:
    """Rows are only added and removed with whole files, so that the file actions are the feed.

    protocol: writer-requirements-for-addcdcfile.1
    """
    table = HandmadeTable(tmp_path / "t")
    table.commit(needs, metadata(configuration=configuration), table.data("a.parquet", ids(1, 2, 3)))
    handle = deltaic.Table(table.root)
    handle.append(ids(4, 4))
    given = table.data("given.parquet", ids(1, 2))["add"]
    with handle.transaction() as tx:
        tx.remove(["a.parquet"])
        tx.add([{"path": given["path"], "size": given["size"], "modification_time": 5}])
        tx.append(ids(9))
    with handle.transaction() as tx:
        tx.remove(["given.parquet"])
    if not keeps_feed:
        with pytest.raises(deltaic.UnsupportedFeature, match="change data feed is not enabled"):
            handle.changes(1).to_arrow()
        return
    expected: Counter[tuple[int, str, int]] = Counter()
    for version in (1, 2, 3):
        for action in read_commit(table.root, version):
            assert "cdc" not in action
            for kind, change in (("add", "insert"), ("remove", "delete")):
                if kind in action:
                    assert action[kind]["dataChange"]
                    rows = pq.read_table(table.root / action[kind]["path"])["id"].to_pylist()
                    expected.update((version, change, row) for row in rows)
    found = handle.changes(1).to_arrow().to_pylist()
    assert Counter((row["_commit_version"], row["_change_type"], row["id"]) for row in found) == expected
    assert expected.total() == 2 + 3 + 2 + 1 + 2


@pytest.mark.parametrize(
    ("needs", "is_in_force"),
    [
        pytest.param(protocol(1, 4), True, id="4"),
        pytest.param(protocol(1, 7, None, ["changeDataFeed"]), True, id="7 with the feature"),
        pytest.param(protocol(1, 7, None, ["appendOnly"]), False, id="7 without the feature"),
        pytest.param(protocol(1, 3), False, id="3"),
    ],
)
def test_the_flag_of_the_change_feed_counts_with_its_feature_alone(
    tmp_path: Path, needs: Action, is_in_force: bool
) -> None:
    """If it is in force, no column may have a name of the feed's columns.

    protocol: writer-requirements-for-addcdcfile.3
    """
    table = HandmadeTable(tmp_path / "t")
    table.commit(needs, metadata(configuration=FEED))
    change = AddColumn("_change_type", pa.string())
    refused = pytest.raises(deltaic.SchemaMismatch, match="_change_type") if is_in_force else nullcontext()
    with refused:
        deltaic.Table(table.root).alter(change)
    assert deltaic.Table(table.root).snapshot().version == (0 if is_in_force else 1)


def test_row_ids_are_not_preserved_before_they_are_enabled(tmp_path: Path) -> None:
    """Copied rows get new row ids and commit versions, and the commit does not claim that they are preserved.

    protocol: row-tracking.2
    """
    table = HandmadeTable(tmp_path / "t")
    features = ["rowTracking", "domainMetadata"]
    table.commit(
        protocol(1, 7, None, features), metadata(), domain("delta.rowTracking", '{"rowIdHighWaterMark":9}')
    )
    handle = deltaic.Table(table.root)
    handle.append(ids(1, 2))
    given = table.data("copy.parquet", ids(1, 2))["add"]
    with handle.transaction() as tx:
        tx.remove(tx.files().to_arrow()["path"].to_pylist(), data_change=False)
        about = {"path": given["path"], "size": given["size"], "modification_time": 5}
        tx.add([{**about, "stats": '{"numRecords":2}', "data_change": False}])
    found = []
    for version in (1, 2):
        actions = read_commit(table.root, version)
        [info] = [action["commitInfo"] for action in actions if "commitInfo" in action]
        assert "delta.rowTracking.preserved" not in info.get("tags", {})
        found += [action["add"] for action in actions if "add" in action]
    assert [(one["baseRowId"], one["defaultRowCommitVersion"]) for one in found] == [(10, 1), (12, 2)]


@pytest.mark.parametrize(
    ("needs", "meta"),
    [
        (protocol(1, 3), metadata(configuration=CHECK)),
        (protocol(1, 2), metadata(schema(field("id", **{"delta.invariants": INVARIANT})))),
        (
            protocol(1, 4),
            metadata(schema(field("id"), field("g", **{"delta.generationExpression": "id + 1"}))),
        ),
    ],
    ids=["constraint", "invariant", "generated column"],
)
def test_removing_rows_evaluates_no_rule(tmp_path: Path, needs: Action, meta: Action) -> None:
    """Rules apply to written rows: removing a file does not need them, adding rows in the same commit does.

    protocol: check-constraints.4, column-invariants.4, supported-features.5
    """
    table = HandmadeTable(tmp_path / "t")
    table.commit(needs, meta, table.data("a.parquet", ids(1)), table.data("b.parquet", ids(2)))
    handle = deltaic.Table(table.root)
    rows = pa.table({name: pa.array([1], pa.int64()) for name in handle.snapshot().schema.names})
    with pytest.raises(deltaic.ConstraintViolation), handle.transaction() as tx:
        tx.remove(["a.parquet"])
        tx.append(rows)
    assert handle.snapshot().version == 0
    with handle.transaction() as tx:
        tx.remove(["a.parquet"])
    assert handle.snapshot().scan().to_arrow()["id"].to_pylist() == [2]
    assert [action["remove"]["path"] for action in read_commit(table.root, 1) if "remove" in action] == [
        "a.parquet"
    ]


def test_deletion_vectors_evaluate_no_rule(tmp_path: Path) -> None:
    """protocol: check-constraints.4, column-invariants.4, writer-requirement-for-deletion-vectors.1."""
    table = HandmadeTable(tmp_path / "t")
    features = ["deletionVectors", "checkConstraints", "invariants"]
    table.commit(
        protocol(3, 7, ["deletionVectors"], features),
        metadata(
            schema(field("id", **{"delta.invariants": INVARIANT})),
            configuration={**CHECK, "delta.enableDeletionVectors": "true"},
        ),
        table.data("a.parquet", ids(4, 5, 6), stats='{"numRecords":3}'),
    )
    handle = deltaic.Table(table.root)
    with handle.transaction() as tx:
        assert tx.delete_rows({"a.parquet": [1]}) == 1
    assert handle.snapshot().scan().to_arrow()["id"].to_pylist() == [4, 6]
    with pytest.raises(deltaic.ConstraintViolation), handle.transaction() as tx:
        tx.delete_rows({"a.parquet": [0]})
        tx.append(ids(1))
    assert handle.snapshot().version == 1


@pytest.mark.parametrize("compat", [1, 2])
def test_a_table_that_stays_readable_as_iceberg_is_partitioned_as_before(tmp_path: Path, compat: int) -> None:
    """protocol: writer-requirements-for-icebergcompatv1.2, writer-requirements-for-icebergcompatv2.5."""
    table = HandmadeTable(tmp_path / "t")
    names = ["part_a", "part_b", "id"]
    columns = [
        field(name, **{"delta.columnMapping.id": number, "delta.columnMapping.physicalName": name})
        for number, name in enumerate(names, start=1)
    ]
    promise = {f"delta.enableIcebergCompatV{compat}": "true", "delta.columnMapping.mode": "name"}
    table.commit(
        protocol(2, 7, None, ["columnMapping", f"icebergCompatV{compat}"]),
        metadata(
            schema(*columns),
            configuration={**promise, "delta.columnMapping.maxColumnId": "3"},
            partitionColumns=["part_a"],
        ),
    )

    def replace(properties: dict[str, str], *partition_by: str) -> int:
        taken = pa.schema([(name, pa.int64()) for name in names])
        new = deltaic.Table.create(
            table.root, taken, partition_by=partition_by, properties=properties, if_exists="replace"
        )
        return new.snapshot().version

    for partition_by in [["part_b"], ["part_a", "part_b"], []]:
        with pytest.raises(deltaic.SchemaMismatch, match="stays partitioned by part_a") as caught:
            replace(promise, *partition_by)
        assert caught.value.context["field"] == "partitionColumns"
    assert replace(promise, "part_a") == 1
    assert replace({}, "part_b") == 2, "without the promise"


def test_a_supported_feature_that_is_not_used_does_not_stop_an_append(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.commit(protocol(1, 7, None, ["appendOnly", "invariants", "checkConstraints"]), metadata())
    assert deltaic.Table(table.root).append(ids(1)).version == 1


def test_an_existing_entry_is_never_overwritten(tmp_path: Path) -> None:
    """protocol: creation-of-new-log-entries.1."""
    table = HandmadeTable(tmp_path / "t")
    table.create()
    handle = deltaic.Table(table.root)
    handle.snapshot()
    body = b'{"commitInfo":{"operation":"OTHER"}}\n'

    def rows() -> Any:
        table.commit_bytes(body, version=1)
        yield ids(1).to_batches()[0]

    commit = handle.append(pa.RecordBatchReader.from_batches(ids(1).schema, rows()))
    assert commit.version == 2
    assert commit_path(table.root, 1).read_bytes() == body


def test_a_reserved_key_of_commit_info_is_refused(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.create()
    for key in ("operation", "txnId", "inCommitTimestamp"):
        with pytest.raises(ValueError, match=key):
            deltaic.Table(table.root).append(ids(1), commit_info={key: "mine"})
    assert deltaic.Table(table.root).snapshot().version == 0
