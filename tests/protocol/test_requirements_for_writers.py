"""Headings under *Requirements for Writers*: append-only tables, constraints, entries that stay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic

from .handmade_log import (
    Action,
    HandmadeTable,
    commit_path,
    field,
    ids,
    metadata,
    protocol,
    read_commit,
    schema,
)

INVARIANT = '{"expression": {"expression": "id > 3"}}'
CHECK = {"delta.constraints.big": "id > 3"}


@pytest.mark.parametrize("needs", [protocol(1, 2), protocol(1, 7, None, ["appendOnly"])], ids=["2", "7"])
def test_an_append_only_table_is_appended_to_and_nothing_is_removed(tmp_path: Path, needs: Action) -> None:
    """protocol: append-only-tables.1, append-only-tables.2, append-only-tables.3, supported-features.5."""
    table = HandmadeTable(tmp_path / "t")
    table.commit(needs, metadata(configuration={"delta.appendOnly": "true"}), table.data("a.parquet", ids(1)))
    deltaic.Table(table.root).append(ids(2))
    assert not [action for action in read_commit(table.root, 1) if "remove" in action or "metaData" in action]
    assert sorted(deltaic.Table(table.root).snapshot().scan().to_arrow()["id"].to_pylist()) == [1, 2]


@pytest.mark.parametrize(
    ("needs", "meta", "feature"),
    [
        pytest.param(
            protocol(1, 2),
            metadata(schema(field("id", **{"delta.invariants": INVARIANT}))),
            "invariants",
            id="an invariant, writer version 2",
        ),
        pytest.param(
            protocol(1, 7, None, ["invariants"]),
            metadata(schema(field("id", **{"delta.invariants": INVARIANT}))),
            "invariants",
            id="an invariant, writer version 7",
        ),
        pytest.param(protocol(1, 3), metadata(configuration=CHECK), "checkConstraints", id="a constraint, 3"),
        pytest.param(
            protocol(1, 7, None, ["checkConstraints"]),
            metadata(configuration=CHECK),
            "checkConstraints",
            id="a constraint, 7",
        ),
        pytest.param(
            protocol(1, 7, None, ["allowColumnDefaults"]),
            metadata(schema(field("id"), field("d", CURRENT_DEFAULT="7"))),
            "allowColumnDefaults",
            id="a default",
        ),
        pytest.param(
            protocol(1, 4),
            metadata(schema(field("id"), field("g", **{"delta.generationExpression": "id + 1"}))),
            "generatedColumns",
            id="a generated column",
        ),
        pytest.param(
            protocol(1, 6),
            metadata(
                schema(field("id"), field("n", **{"delta.identity.start": 1, "delta.identity.step": 1}))
            ),
            "identityColumns",
            id="an identity column",
        ),
    ],
)
def test_a_rule_that_is_not_evaluated_yet_lets_no_row_in(
    tmp_path: Path, needs: Action, meta: Action, feature: str
) -> None:
    # Refused as a whole: so no row that breaks the rule gets in, and the table stays as it was.
    # protocol: column-invariants.1, column-invariants.4, column-invariants.6, check-constraints.1,
    # check-constraints.4, check-constraints.11, check-constraints.12, default-columns.5,
    # generated-columns.1, generated-columns.4
    table = HandmadeTable(tmp_path / "t")
    table.commit(needs, meta)
    before = sorted(path.name for path in table.root.rglob("*"))
    names = list(deltaic.Table(table.root).snapshot().schema.names)
    rows = pa.table({name: pa.array([1], pa.int64()) for name in names})
    with pytest.raises(deltaic.UnsupportedFeature) as caught:
        deltaic.Table(table.root).append(rows)
    assert caught.value.context["feature"] == feature
    assert sorted(path.name for path in table.root.rglob("*")) == before


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
