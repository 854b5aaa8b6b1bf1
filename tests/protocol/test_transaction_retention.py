"""Transaction identifiers older than ``delta.setTransactionRetentionDuration`` have expired."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import deltaic

from .handmade_log import Action, HandmadeTable, metadata, protocol

DAY = 86_400_000
RETENTION = "delta.setTransactionRetentionDuration"


def txn(app_id: str, age: int | None) -> Action:
    body: dict[str, object] = {"appId": app_id, "version": 7}
    if age is not None:
        body["lastUpdated"] = round(time.time() * 1000) - age
    return {"txn": body}


def table_of(root: Path, properties: dict[str, str]) -> HandmadeTable:
    table = HandmadeTable(root)
    table.commit(protocol(), metadata(configuration=properties))
    table.commit(txn("old", 40 * DAY), txn("young", DAY // 2), txn("timeless", None))
    return table


@pytest.mark.parametrize(
    ("properties", "live"),
    [
        pytest.param({}, {"old", "young", "timeless"}, id="kept for ever unless told otherwise"),
        pytest.param({RETENTION: "interval 30 days"}, {"young", "timeless"}, id="30 days"),
        pytest.param({RETENTION: "interval 1 hour"}, {"timeless"}, id="an hour"),
        pytest.param({RETENTION: "interval 100 weeks"}, {"old", "young", "timeless"}, id="100 weeks"),
        pytest.param({RETENTION: "a while"}, {"old", "young", "timeless"}, id="what does not parse"),
    ],
)
@pytest.mark.parametrize("by_checkpoint", [False, True])
def test_expired_actions_are_left_out(
    tmp_path: Path, properties: dict[str, str], live: set[str], *, by_checkpoint: bool
) -> None:
    """An identifier without a time does not expire."""
    table = table_of(tmp_path / "t", properties)
    if by_checkpoint:
        actions = [protocol(), metadata(configuration=properties)]
        table.checkpoint(1, [*actions, txn("old", 40 * DAY), txn("young", DAY // 2), txn("timeless", None)])
    assert set(deltaic.Table(table.root).snapshot().app_transactions) == live


def test_one_that_is_renewed_lives_on(tmp_path: Path) -> None:
    table = table_of(tmp_path / "t", {RETENTION: "interval 30 days"})
    table.commit(txn("old", 0))
    assert set(deltaic.Table(table.root).snapshot().app_transactions) == {"old", "young", "timeless"}
