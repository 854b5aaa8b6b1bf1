"""What the history and dry runs report of several verbs in one transaction, and of verbs that lose a race."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import deltaic

ROWS = pa.table({"p": [1, 1, 2], "n": [1, 2, 3]})


@pytest.fixture
def table(tmp_path: Path) -> deltaic.Table:
    """Three rows in two partitions."""
    return deltaic.write(str(tmp_path / "table"), ROWS, partition_by=["p"])


def metrics(table: deltaic.Table) -> dict[str, str]:
    """The metrics of the newest commit."""
    return dict(table.history(limit=1)[0].info["operationMetrics"])


def test_an_update_of_no_row_does_not_hide_appended_rows(table: deltaic.Table) -> None:
    with table.transaction(operation="UPDATE") as tx:
        tx.append(pa.table({"p": [3], "n": [4]}))
        assert tx.update({"n": "0"}, "n = 9") == 0
    found = metrics(table)
    assert (found["numFiles"], found["numOutputRows"]) == ("1", "1")


def test_removed_bytes_of_files_and_partitions(table: deltaic.Table) -> None:
    files = {int(file["partition_values.p"]): file for file in table.files().to_arrow().flatten().to_pylist()}
    with table.transaction() as tx:
        tx.remove([files[1]["path"]])
        tx.overwrite(pa.table({"p": [2], "n": [5]}), partitions="dynamic")
    sizes = sum(file["size"] for file in files.values())
    found = metrics(table)
    assert (found["numRemovedFiles"], found["numRemovedBytes"]) == ("2", str(sizes))


def test_a_dynamic_overwrite_of_a_new_partition_replaces_no_row(table: deltaic.Table) -> None:
    new = pa.table({"p": [3], "n": [5]})
    assert table.overwrite(new, partitions="dynamic", dry_run=True).rows == 0


def late(table: deltaic.Table, rows: pa.Table) -> pa.RecordBatchReader:
    """Rows whose reading makes another commit first, which changes the metadata."""

    def batches() -> object:
        deltaic.Table(table.uri).alter(deltaic.alter.SetProperties({"delta.appendOnly": "true"}))
        yield from rows.to_batches()

    return pa.RecordBatchReader.from_batches(rows.schema, batches())


@pytest.mark.parametrize("where", [None, "p = 1"])
def test_a_lost_overwrite_reports_the_conflict(table: deltaic.Table, where: str | None) -> None:
    with pytest.raises(deltaic.MetadataChanged):
        table.overwrite(late(table, pa.table({"p": [1], "n": [5]})), where)
    assert table.count() == 3


def test_an_argument_is_checked_though_nothing_is_to_be_done(table: deltaic.Table) -> None:
    table.append(ROWS, app_transaction=("loader", 1))
    with (
        table.transaction(app_transaction=("loader", 1)) as tx,
        pytest.raises(ValueError, match="cannot replace the schema"),
    ):
        tx.append(ROWS, schema_mode="replace")
    assert table.count() == 6
