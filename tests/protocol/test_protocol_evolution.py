"""Headings *Protocol Evolution* and *Table Features*: unknown features are refused, fields ignored."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic

from .handmade_log import Action, HandmadeTable, field, ids, metadata, protocol, read_commit, schema


def test_unknown_actions_and_fields_are_ignored(tmp_path: Path) -> None:
    """protocol: protocol-evolution.4, protocol-evolution.5."""
    table = HandmadeTable(tmp_path / "t")
    strange = {"fromTheFuture": {"a": [1, {"b": None}]}}
    first: Action = protocol()
    first["protocol"].update(strange)
    file = table.data("a.parquet", ids(1, 2), **strange)
    info: Action = {"commitInfo": {"operation": "X", **strange}}
    table.commit(first, metadata(**strange), file, strange, info)
    snapshot = deltaic.Table(table.root).snapshot()
    assert snapshot.scan().to_arrow()["id"].to_pylist() == [1, 2]
    assert deltaic.Table(table.root).append(ids(3)).version == 1


@pytest.mark.parametrize(
    ("action", "feature"),
    [
        (protocol(3, 7, ["fromTheFuture"], ["fromTheFuture"]), "fromTheFuture"),
        (protocol(4, 7, [], []), "4"),
        (protocol(2**31 - 1, 2**31 - 1), str(2**31 - 1)),
    ],
)
def test_unknown_reader_features_are_refused(tmp_path: Path, action: Action, feature: str) -> None:
    # protocol: table-features.3, table-features.4, protocol-evolution.3, protocol-evolution.7,
    # protocol-evolution.9
    table = HandmadeTable(tmp_path / "t")
    table.commit(action, metadata(), table.data("a.parquet", ids(1)))
    with pytest.raises(deltaic.UnsupportedFeature) as caught:
        deltaic.Table(table.root).snapshot()
    assert feature in caught.value.message
    assert feature in str(caught.value.context["feature"])
    assert "newer" in str(caught.value.hint)


def test_an_older_version_that_requests_less_is_still_read(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.create(table.data("a.parquet", ids(1)))
    table.commit(protocol(3, 7, ["fromTheFuture"], ["fromTheFuture"]))
    handle = deltaic.Table(table.root)
    assert handle.snapshot(version=0).scan().to_arrow().num_rows == 1
    with pytest.raises(deltaic.UnsupportedFeature):
        handle.snapshot()


WRITERS = [
    pytest.param(protocol(1, 7, None, ["fromTheFuture"]), metadata(), "fromTheFuture", id="unknown"),
    pytest.param(protocol(1, 8), metadata(), "8", id="writer version 8"),
    pytest.param(
        protocol(1, 7, None, ["redirectWriterOnly"]),
        metadata(),
        "redirectWriterOnly",
        id="not implemented",
    ),
]


@pytest.mark.parametrize(("needs", "meta", "feature"), WRITERS)
def test_unknown_writer_features_are_refused_before_a_byte_is_written(
    tmp_path: Path, needs: Action, meta: Action, feature: str
) -> None:
    """protocol: table-features.5, protocol-evolution.2, protocol-evolution.8, protocol-evolution.10."""
    table = HandmadeTable(tmp_path / "t")
    table.commit(needs, meta, table.data("a.parquet", ids(1)))
    before = sorted(path.name for path in table.root.rglob("*"))
    handle = deltaic.Table(table.root)
    assert handle.snapshot().scan().to_arrow().num_rows == 1
    with pytest.raises(deltaic.UnsupportedFeature) as caught:
        handle.append(ids(2))
    assert feature in caught.value.message
    assert sorted(path.name for path in table.root.rglob("*")) == before


def test_a_writer_must_also_know_the_reader_features(tmp_path: Path) -> None:
    """protocol: table-features.6."""
    table = HandmadeTable(tmp_path / "t")
    table.commit(protocol(3, 7, ["fromTheFuture"], []), metadata())
    with pytest.raises(deltaic.DeltaicError) as caught:
        deltaic.Table(table.root).append(ids(1))
    assert isinstance(caught.value, deltaic.UnsupportedFeature | deltaic.CorruptLog)
    assert [path.name for path in table.root.iterdir()] == ["_delta_log"]


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(protocol(3, 7, None, []), id="reader 3 without readerFeatures"),
        pytest.param(protocol(1, 7), id="writer 7 without writerFeatures"),
        pytest.param(protocol(3, 6, []), id="reader 3 with writer 6"),
    ],
)
def test_a_protocol_that_cannot_be_is_damage(tmp_path: Path, broken: Action) -> None:
    # protocol: table-features.2, reader-version-requirements.1,
    # table-features-for-new-and-existing-tables.4
    table = HandmadeTable(tmp_path / "t")
    table.commit(broken, metadata())
    with pytest.raises(deltaic.CorruptLog) as caught:
        deltaic.Table(table.root).snapshot()
    assert "eatures" in caught.value.message or "version" in caught.value.message


@pytest.mark.parametrize("writer", [1, 2])
def test_legacy_versions_are_read_and_written(tmp_path: Path, writer: int) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.commit(protocol(1, writer), metadata())
    assert deltaic.Table(table.root).append(ids(1)).version == 1
    assert deltaic.Table(table.root).snapshot().scan().to_arrow()["id"].to_pylist() == [1]


def test_a_new_table_requests_no_more_than_it_needs(tmp_path: Path) -> None:
    deltaic.Table.create(tmp_path / "t", pa.schema([("id", pa.int64())]))
    (body,) = [action["protocol"] for action in read_commit(tmp_path / "t", 0) if "protocol" in action]
    assert body == {"minReaderVersion": 1, "minWriterVersion": 2}


def test_a_column_without_zone_adds_its_feature(tmp_path: Path) -> None:
    # protocol: timestamp-without-timezone-timestampntz.1, timestamp-without-timezone-timestampntz.2,
    # table-features-for-new-and-existing-tables.3, supported-features.3, supported-features.4,
    # primitive-types.4, table-features.1
    inner = pa.list_(pa.struct([("t", pa.timestamp("us"))]))
    for name, kind in (("flat", pa.timestamp("us")), ("nested", inner)):
        root = tmp_path / name
        deltaic.Table.create(root, pa.schema([("t", kind)]))
        (body,) = [action["protocol"] for action in read_commit(root, 0) if "protocol" in action]
        assert (body["minReaderVersion"], body["minWriterVersion"]) == (3, 7)
        assert body["readerFeatures"] == ["timestampNtz"]
        assert "timestampNtz" in body["writerFeatures"]
        assert set(body["readerFeatures"]) <= set(body["writerFeatures"])


def test_features_that_ask_nothing_of_a_reader_do_not_stop_it(tmp_path: Path) -> None:
    """protocol: vacuum-protocol-check.2."""
    writers = ["appendOnly", "invariants", "checkConstraints", "rowTracking", "domainMetadata", "clustering"]
    table = HandmadeTable(tmp_path / "t")
    table.commit(
        protocol(
            3, 7, ["vacuumProtocolCheck", "timestampNtz"], ["vacuumProtocolCheck", "timestampNtz", *writers]
        ),
        metadata(schema(field("id"))),
        table.data("a.parquet", ids(1)),
    )
    snapshot = deltaic.Table(table.root).snapshot()
    assert snapshot.scan().to_arrow()["id"].to_pylist() == [1]
    assert snapshot.protocol.reader_features == {"vacuumProtocolCheck", "timestampNtz"}
    assert json.loads(snapshot.protocol.to_json())["minReaderVersion"] == 3


@pytest.mark.parametrize("mode", ["name", "id"])
def test_reader_version_2_adds_its_mapping_without_a_list(tmp_path: Path, mode: str) -> None:
    """protocol: reader-requirements-for-column-mapping.1."""
    table = HandmadeTable(tmp_path / "t")
    mapped = schema(
        field("id", **{"delta.columnMapping.id": 1, "delta.columnMapping.physicalName": "col-1"}),
    )
    column = pa.field("col-1", pa.int64(), metadata={"PARQUET:field_id": "1"})
    rows = pa.table({"col-1": [7]}, pa.schema([column]))
    settings = {"delta.columnMapping.mode": mode, "delta.columnMapping.maxColumnId": "1"}
    table.commit(protocol(2, 5), metadata(mapped, configuration=settings), table.data("a.parquet", rows))
    snapshot = deltaic.Table(table.root).snapshot()
    assert snapshot.scan().to_arrow().to_pylist() == [{"id": 7}]
    deltaic.Table(table.root).append(ids(8))
    assert sorted(deltaic.Table(table.root).snapshot().scan().to_arrow()["id"].to_pylist()) == [7, 8]
