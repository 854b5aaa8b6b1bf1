"""The output of `create` and `append` passes an independent check, and the check can fail."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Callable
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import deltaic
from tests.golden.rows import difference

from .handmade_log import commit_path, ids, read_commit
from .written_actions import faults

UTC = timezone.utc
DAY = st.dates(date(1, 1, 1), date(9999, 12, 31))
MOMENT = st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)

COLUMNS: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "b": (pa.int8(), st.integers(-128, 127)),
    "s": (pa.int16(), st.integers(-(2**15), 2**15 - 1)),
    "i": (pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    "l": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "f": (pa.float32(), st.floats(width=32)),
    "d": (pa.float64(), st.floats()),
    "dec": (pa.decimal128(12, 3), st.decimals(-(10**8), 10**8, places=3)),
    "t": (pa.string(), TEXT),
    "bin": (pa.binary(), st.binary(max_size=5)),
    "flag": (pa.bool_(), st.booleans()),
    "day": (pa.date32(), DAY),
    "at": (pa.timestamp("us", "UTC"), MOMENT),
    "st": (
        pa.struct([("x", pa.int64()), ("y", pa.string())]),
        st.fixed_dictionaries({"x": st.integers(0, 9), "y": TEXT}),
    ),
    "li": (pa.list_(pa.int32()), st.lists(st.none() | st.integers(0, 9), max_size=3)),
    "ma": (
        pa.map_(pa.string(), pa.int64()),
        st.dictionaries(TEXT, st.integers(0, 9), max_size=2).map(lambda d: list(d.items())),
    ),
}
PARTITIONS = ["t", "l", "day", "at", "flag", "dec", "b"]


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    names = draw(st.lists(st.sampled_from(sorted(COLUMNS)), unique=True, min_size=1, max_size=6))
    rows = draw(st.integers(0, 6))
    return pa.table(
        {
            name: pa.array(
                draw(st.lists(st.none() | COLUMNS[name][1], min_size=rows, max_size=rows)), COLUMNS[name][0]
            )
            for name in names
        }
    )


@settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(tables(), st.data())
def test_whatever_is_written_is_valid_and_reads_back(rows: pa.Table, data: st.DataObject) -> None:
    # protocol: change-metadata.1, change-metadata.2, change-metadata.8, add-file-and-remove-file.7,
    # add-file-and-remove-file.10, delta-log-entries.2, table-features-for-new-and-existing-tables.1
    able = [name for name in rows.column_names if name in PARTITIONS]
    chosen = data.draw(st.lists(st.sampled_from(able), unique=True, max_size=2)) if able else []
    partition_by = chosen[: len(rows.column_names) - 1]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "t"
        table = deltaic.Table.create(root, rows.schema, partition_by=partition_by)
        if reads_back_as_null(rows, partition_by):
            with pytest.raises(deltaic.ConstraintViolation, match="NULL"):
                table.append(rows)
            return
        table.append(rows)
        table.append(rows)
        assert faults(root) == []
        back = deltaic.Table(root).snapshot().scan().to_arrow()
        assert difference(back, pa.concat_tables([rows] * 2)) is None


def reads_back_as_null(rows: pa.Table, partition_by: list[str]) -> bool:
    """Whether a partition value can only be serialized as NULL, which makes it unusable for this table."""
    texts = [name for name in partition_by if pa.types.is_string(rows.schema.field(name).type)]
    null_texts = ("", "__HIVE_DEFAULT_PARTITION__")
    return any(value in null_texts for name in texts for value in rows[name].to_pylist())


def extremes() -> pa.Table:
    far = "x" * 40
    return pa.table(
        {
            "t": pa.array(["", far, "\U0010ffff" * 40], pa.string()),
            "d": pa.array([-0.0, math.inf, -math.inf]),
            "n": pa.array([math.nan, math.nan, None]),
            "f": pa.array([0.1, 6.1, -1e-45], pa.float32()),
            "dec": pa.array([Decimal("1E-18"), Decimal("-0.5"), None], pa.decimal128(38, 18)),
            "at": pa.array(
                [datetime(2024, 1, 1, 0, 0, 0, 999999, UTC), datetime(1, 1, 1, tzinfo=UTC), None],
                pa.timestamp("us", "UTC"),
            ),
            "none": pa.array([None] * 3, pa.int64()),
            "s": pa.array([{"x": 1}, None, {"x": None}], pa.struct([("x", pa.int64())])),
            'quote"\\back': pa.array([1, 2, 3]),
        }
    )


def test_extreme_values(tmp_path: Path) -> None:
    rows = extremes()
    deltaic.Table.create(tmp_path / "t", rows.schema).append(rows)
    assert faults(tmp_path / "t") == []
    assert difference(deltaic.Table(tmp_path / "t").snapshot().scan().to_arrow(), rows) is None


def test_statistics_stop_at_the_32nd_leaf(tmp_path: Path) -> None:
    rows = pa.table({f"c{number:02}": [number, None] for number in range(40)})
    deltaic.Table.create(tmp_path / "t", rows.schema, partition_by=["c00"]).append(rows)
    assert faults(tmp_path / "t") == []
    for action in read_commit(tmp_path / "t", 1):
        if "add" in action:
            counted = json.loads(action["add"]["stats"])["nullCount"]
            assert sorted(counted) == [f"c{number:02}" for number in range(1, 33)]


@pytest.mark.parametrize(
    "value", ["a b", "a/b", "a%20b", "ä", "a=b", "..", ".", "a:b*c?", "a#b", "\u0001", "x" * 60]
)
def test_partition_values_that_are_awkward_in_a_path(tmp_path: Path, value: str) -> None:
    """protocol: add-file-and-remove-file.6."""
    rows = pa.table({"id": [1], "p": [value]})
    deltaic.Table.create(tmp_path / "t", rows.schema, partition_by=["p"]).append(rows)
    assert faults(tmp_path / "t") == []
    assert deltaic.Table(tmp_path / "t").snapshot().scan().to_arrow().to_pylist() == [{"id": 1, "p": value}]


def edit(kind: str, change: Callable[[dict[str, Any]], None]) -> Callable[[Path], None]:
    def apply(root: Path) -> None:
        actions = read_commit(root, 1)
        for action in actions:
            if kind in action:
                change(action[kind])
        commit_path(root, 1).write_text("".join(json.dumps(action) + "\n" for action in actions))

    return apply


def restat(**others: Any) -> Callable[[dict[str, Any]], None]:
    def change(body: dict[str, Any]) -> None:
        body["stats"] = json.dumps({**json.loads(body["stats"]), **others})

    return change


WRONG: dict[str, Callable[[Path], None]] = {
    "a size": edit("add", lambda body: body.update(size=1)),
    "a size of text": edit("add", lambda body: body.update(size="100")),
    "a path": edit("add", lambda body: body.update(path="elsewhere.parquet")),
    "a time": edit("add", lambda body: body.update(modificationTime=0)),
    "dataChange": edit("add", lambda body: body.update(dataChange=False)),
    "a partition value": edit("add", lambda body: body.update(partitionValues={"id": "1"})),
    "no statistics": edit("add", lambda body: body.pop("stats")),
    "the number of rows": edit("add", restat(numRecords=5)),
    "the nulls": edit("add", restat(nullCount={"id": 2})),
    "a minimum above": edit("add", restat(minValues={"id": 2})),
    "a maximum below": edit("add", restat(maxValues={"id": 2})),
    "a column in the statistics": edit("add", restat(minValues={"id": 1, "other": 1})),
    "no txnId": edit("commitInfo", lambda body: body.pop("txnId")),
    "an action twice": lambda root: commit_path(root, 1).write_bytes(commit_path(root, 1).read_bytes() * 2),
    "the name of a commit": lambda root: commit_path(root, 1).rename(root / "_delta_log" / "1.json"),
    "no checksum": lambda root: commit_path(root, 1).with_suffix(".crc").unlink(),
    "a checksum of another version": lambda root: (
        commit_path(root, 1)
        .with_suffix(".crc")
        .write_bytes(commit_path(root, 0).with_suffix(".crc").read_bytes())
    ),
    "no newline": lambda root: commit_path(root, 1).write_bytes(commit_path(root, 1).read_bytes().rstrip()),
}


@pytest.mark.parametrize("name", WRONG)
def test_the_judge_can_state_no(tmp_path: Path, name: str) -> None:
    root = tmp_path / "t"
    rows = ids(1, 3, None)
    deltaic.Table.create(root, rows.schema).append(rows)
    assert faults(root) == []
    WRONG[name](root)
    assert faults(root) != []
