"""`append(…, app_transaction=…)`: a batch is committed once, however often it is retried."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic
from tests.api.log_files import of_kind

ROWS = pa.table({"id": [1, 2]})


def test_a_batch_is_there_once(root: Path) -> None:
    """protocol: transaction-identifiers.1, transaction-identifiers.2, transaction-identifiers.3."""
    table = deltaic.Table.create(root, ROWS.schema)
    first = table.append(ROWS, app_transaction=("nightly", 3))
    assert (first.version, first.skipped) == (1, False)
    [txn] = of_kind(root, 1, "txn")
    assert (txn["appId"], txn["version"]) == ("nightly", 3)
    files = sorted(path.name for path in root.glob("*.parquet"))
    for version in (3, 2):
        again = table.append(ROWS, app_transaction=("nightly", version))
        assert (again.version, again.skipped, again.info) == (1, True, {})
    assert sorted(path.name for path in root.glob("*.parquet")) == files
    assert table.append(ROWS, app_transaction=("nightly", 4)).version == 2
    assert table.append(ROWS, app_transaction=("hourly", 0)).version == 3
    assert table.snapshot().app_transactions == {"nightly": 4, "hourly": 0}


def test_a_batch_that_another_run_added_meanwhile(root: Path) -> None:
    ours = deltaic.Table.create(root, ROWS.schema)
    stale = deltaic.Table(root)
    rows = ROWS.to_reader()

    def late() -> Any:
        # The source is read after the version to append to is known.
        yield from rows
        ours.append(ROWS, app_transaction=("nightly", 7))

    stale.snapshot()
    told = stale.append(
        pa.RecordBatchReader.from_batches(ROWS.schema, late()), app_transaction=("nightly", 7)
    )
    assert (told.version, told.skipped) == (1, True)
    assert ours.snapshot().num_rows == 2
    assert len(list(root.glob("*.parquet"))) == 1


def test_a_run_that_is_after_is_reported(root: Path) -> None:
    ours = deltaic.Table.create(root, ROWS.schema)

    def late() -> Any:
        yield from ROWS.to_reader()
        deltaic.Table(root).append(ROWS, app_transaction=("nightly", 7))

    with pytest.raises(deltaic.ConcurrentTransaction) as raised:
        ours.append(pa.RecordBatchReader.from_batches(ROWS.schema, late()), app_transaction=("nightly", 8))
    assert raised.value.context["app_id"] == "nightly"
    assert ours.snapshot().num_rows == 2


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ("nightly", TypeError),
        (("nightly",), TypeError),
        ((7, "nightly"), TypeError),
        (("nightly", True), TypeError),
        (("nightly", 1.0), TypeError),
        (("", 1), ValueError),
        (("nightly", -1), ValueError),
        (("nightly", 1 << 63), ValueError),
    ],
)
def test_invalid_app_transactions(root: Path, given: Any, error: type[Exception]) -> None:
    table = deltaic.Table.create(root, ROWS.schema)
    with pytest.raises(error, match="app_transaction"):
        table.append(ROWS, app_transaction=given)
    assert table.snapshot().version == 0
