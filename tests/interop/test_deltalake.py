"""deltalake reads what deltaic writes, row for row, and writes what deltaic reads."""

from __future__ import annotations

from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import deltaic
from tests.golden.rows import difference
from tests.protocol.handmade_log import HandmadeTable, field, ids, metadata, protocol, schema

from .maintained import APPENDS, FORMS, POLICIES, appended, maintained
from .values import every_type
from .written import DEMO, contents

deltalake = pytest.importorskip("deltalake", reason="missing: deltalake")


END_OF_TIME = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=timezone.utc)


def theirs(folder: Path, version: int | None = None) -> pa.Table:
    # Not with to_pyarrow_table, which converts the partition value -0.01 to 0.-1.
    table = deltalake.DeltaTable(str(folder), version=version)
    return pa.table(deltalake.QueryBuilder().register("t", table).execute("SELECT * FROM t").read_all())


@pytest.mark.parametrize("name", contents())
def test_appended_tables(ours: Path, name: str) -> None:
    rows = contents()[name].rows
    assert difference(theirs(ours / name), rows) is None
    assert difference(deltaic.Table(ours / name).snapshot().scan().to_arrow(), rows) is None


@pytest.mark.parametrize("name", DEMO)
def test_tables_of_the_demo(demo: Path, name: str) -> None:
    table = deltaic.Table(demo / name)
    assert difference(theirs(demo / name), table.snapshot().scan().to_arrow()) is None


def test_each_version_and_its_provenance(demo: Path) -> None:
    table = deltaic.Table(demo / "flights")
    other = deltalake.DeltaTable(str(demo / "flights"))
    history = other.history()
    assert [entry["version"] for entry in history] == [commit.version for commit in table.history()]
    assert [entry["operation"] for entry in history] == [commit.operation for commit in table.history()]
    for commit in table.history():
        snapshot = table.snapshot(version=commit.version)
        assert theirs(demo / "flights", commit.version).num_rows == snapshot.num_rows


def test_an_append_of_theirs_after_ours(tmp_path: Path) -> None:
    rows = pa.table({"id": pa.array([1, 2], pa.int64()), "p": ["a b", "ü"]})
    table = deltaic.Table.create(tmp_path / "t", rows.schema, partition_by=["p"])
    table.append(rows)
    deltalake.write_deltalake(str(tmp_path / "t"), rows, mode="append")
    table.append(rows)
    assert table.snapshot().version == 3
    expected = pa.concat_tables([rows, rows, rows])
    assert difference(table.snapshot().scan().to_arrow(), expected) is None
    assert difference(theirs(tmp_path / "t"), expected) is None


def test_a_table_of_theirs_with_every_type(tmp_path: Path) -> None:
    rows = every_type()
    deltalake.write_deltalake(str(tmp_path / "t"), rows)
    assert difference(deltaic.Table(tmp_path / "t").snapshot().scan().to_arrow(), rows) is None
    deltaic.Table(tmp_path / "t").append(rows)
    assert difference(theirs(tmp_path / "t"), pa.concat_tables([rows, rows])) is None


def test_a_checkpoint_of_theirs(tmp_path: Path) -> None:
    rows = pa.table({"id": pa.array([1, 2], pa.int64()), "p": ["a b", None]})
    table = deltaic.Table.create(tmp_path / "t", rows.schema, partition_by=["p"])
    table.append(rows)
    deltalake.DeltaTable(str(tmp_path / "t")).create_checkpoint()
    (tmp_path / "t" / "_delta_log" / f"{0:020}.json").unlink()
    table.append(rows)
    fresh = deltaic.Table(tmp_path / "t").snapshot()
    assert difference(fresh.scan().to_arrow(), pa.concat_tables([rows, rows])) is None


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", contents())
def test_tables_after_maintenance(tmp_path: Path, name: str, form: str) -> None:
    root = maintained(tmp_path, name, form)
    assert difference(theirs(root), contents()[name].rows) is None
    assert difference(deltaic.Table(root).snapshot().scan().to_arrow(), contents()[name].rows) is None


# Tables that deltalake cannot read at all are left out.
@pytest.mark.parametrize("policy", [name for name in POLICIES if name != "with vectors"])
def test_files_of_maintenance_after_appends(tmp_path: Path, policy: str) -> None:
    root, rows = appended(tmp_path, policy)
    assert difference(theirs(root), rows) is None
    checkpoint = max(POLICIES[policy][1])
    for version in range(checkpoint):
        (root / "_delta_log" / f"{version:020}.json").unlink()
    assert difference(theirs(root), rows) is None
    assert difference(theirs(root, checkpoint + 1), rows.slice(0, checkpoint + 1)) is None
    other = deltalake.DeltaTable(str(root))
    assert [other.transaction_version(f"job {number}") for number in range(3)] == [24, 22, 23]
    assert other.version() == APPENDS


@pytest.mark.parametrize("text", ["-0.01", "-.01", "-00.01", "-1E-2"])
def test_no_spelling_of_a_negative_fraction_helps_to_pyarrow_table(tmp_path: Path, text: str) -> None:
    """For every spelling in the log, pyarrow gets `0.-1`; deltalake's queries read each of them."""
    kind = field("p", "decimal(10,2)")
    made = HandmadeTable(tmp_path / "t")
    made.commit(protocol(), metadata(schema(field("id"), kind), ["p"]))
    made.commit(made.data("a.parquet", ids(1), values={"p": text}))
    assert theirs(made.root)["p"].to_pylist() == [Decimal("-0.01")]
    with pytest.raises(pa.ArrowInvalid, match=r"'0\.-1' is not a valid decimal128"):
        deltalake.DeltaTable(str(made.root)).to_pyarrow_table()


def test_checkpoints_with_shared_sidecars(tmp_path: Path) -> None:
    """Each checkpoint is read alone, by another implementation and by deltaic."""
    root = tmp_path / "t"
    rows = pa.table({"id": pa.array(range(40), pa.int64()), "p": pa.array(range(40), pa.int64())})
    properties = {"delta.checkpointPolicy": "v2", "delta.checkpointInterval": "1000"}
    table = deltaic.Table.create(root, rows.schema, partition_by=["p"], properties=properties)
    table.append(rows)
    expected, shared = rows, 0
    for number in range(6):
        more = pa.table({"id": pa.array([100 + number], pa.int64()), "p": pa.array([number], pa.int64())})
        table.append(more)
        expected = pa.concat_tables([expected, more])
        if number == 3:
            table.delete("id = 101")
            expected = expected.filter(pc.not_equal(expected["id"], 101))
        written = table.checkpoint()
        shared += written.reused_sidecars
        log = root / "_delta_log"
        # Only the commit of the checkpoint's own version remains, which deltalake requires.
        for commit in log.glob("*.json"):
            if int(commit.name[:20]) < written.version:
                commit.unlink()
        assert difference(theirs(root), expected) is None
        assert difference(deltaic.Table(root).snapshot().scan().to_arrow(), expected) is None
    assert shared >= 6


@pytest.mark.parametrize("form", ["log", "checkpoint"])
def test_bounds_that_filters_of_theirs_need(tmp_path: Path, form: str) -> None:
    """Their `to_pandas(filters=…)` takes a missing bound for a file without such rows."""
    data = {
        "current": pa.array([True]),
        "until": pa.array([END_OF_TIME], pa.timestamp("us", "UTC")),
        "local": pa.array([END_OF_TIME.replace(tzinfo=None)], pa.timestamp("us")),
    }
    table = deltaic.write(tmp_path / "t", pa.table(data))
    if form == "checkpoint":
        table.checkpoint()
    other = deltalake.DeltaTable(str(tmp_path / "t"))
    for name, values in data.items():
        assert len(other.to_pandas(filters=[(name, "=", values[0].as_py())])) == 1, name
