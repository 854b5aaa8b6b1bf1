"""Column Invariants: every written row satisfies them."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic

from .handmade_log import Action, HandmadeTable, field, metadata, protocol, schema

NEEDS = [protocol(1, 2), protocol(1, 7, None, ["invariants"])]
INVARIANT = json.dumps({"expression": {"expression": "id > 3"}})


def made(root: Path, needs: Action, *columns: Action) -> deltaic.Table:
    table = HandmadeTable(root)
    table.commit(needs, metadata(schema(*columns)))
    return deltaic.Table(root)


@pytest.mark.parametrize("needs", NEEDS, ids=["version 2", "version 7"])
@pytest.mark.parametrize("value", [3, None])
def test_a_row_that_violates_an_invariant_is_not_written(
    tmp_path: Path, needs: Action, value: int | None
) -> None:
    """protocol: column-invariants.1, column-invariants.4, column-invariants.6."""
    table = made(tmp_path / "t", needs, field("id", **{"delta.invariants": INVARIANT}))
    assert table.append(pa.table({"id": [4]})).version == 1
    with pytest.raises(deltaic.ConstraintViolation, match="invariant of column id: id > 3") as caught:
        table.append(pa.table({"id": pa.array([5, value], pa.int64())}))
    assert caught.value.context["field"] == "id"
    assert table.snapshot().num_rows == 1


def test_an_invariant_may_use_other_columns(tmp_path: Path) -> None:
    """protocol: column-invariants.3."""
    other = json.dumps({"expression": {"expression": "id < other OR other IS NULL"}})
    table = made(tmp_path / "t", NEEDS[0], field("id", **{"delta.invariants": other}), field("other"))
    table.append(pa.table({"id": [1, 2], "other": pa.array([2, None], pa.int64())}))
    with pytest.raises(deltaic.ConstraintViolation, match="invariant of column id"):
        table.append(pa.table({"id": [2], "other": [2]}))


@pytest.mark.parametrize("text", ["not JSON", "{}", '{"expression": {"expression": 7}}'])
def test_a_damaged_invariant_refuses_the_append(tmp_path: Path, text: str) -> None:
    table = made(tmp_path / "t", NEEDS[0], field("id", **{"delta.invariants": text}))
    with pytest.raises(deltaic.CorruptLog, match=r"(?i)invariant"):
        table.append(pa.table({"id": [4]}))
    assert table.snapshot().version == 0


def test_without_the_feature_an_invariant_does_not_bind(tmp_path: Path) -> None:
    """protocol: column-invariants.1."""
    needs = protocol(1, 7, None, ["appendOnly"])
    table = made(tmp_path / "t", needs, field("id", **{"delta.invariants": INVARIANT}))
    assert table.append(pa.table({"id": [1]})).version == 1
