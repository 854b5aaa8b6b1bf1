"""Post-commit maintenance of the log by `create` and `append`, and how its failures are reported."""

from __future__ import annotations

import os
import shutil
import warnings
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import deltaic
from tests.api.log_files import commit_file

SCHEMA = pa.schema([("id", pa.int64())])


def log_of(root: Path, ending: str) -> list[int]:
    """Returns the versions of the log files with this suffix."""
    return sorted(int(file.name[:20]) for file in (root / "_delta_log").glob(f"*{ending}"))


def test_each_commit_has_a_checksum_and_each_tenth_a_checkpoint(root: Path) -> None:
    """protocol: state-validation-writer-requirements.1."""
    table = deltaic.Table.create(root, SCHEMA)
    for number in range(21):
        commit = table.append(pa.table({"id": [number]}))
        assert commit.warnings == ()
    assert log_of(root, ".crc") == list(range(22))
    assert log_of(root, ".checkpoint.parquet") == [10, 20]
    assert table.check(deep=True).is_healthy
    assert table.snapshot().warnings == []
    for version in range(20):
        commit_file(root, version).unlink()
    assert deltaic.Table(root).snapshot().scan().count() == 21


def test_the_interval_is_the_tables(root: Path) -> None:
    table = deltaic.Table.create(root, SCHEMA, properties={"delta.checkpointInterval": "3"})
    for number in range(7):
        table.append(pa.table({"id": [number]}))
    assert log_of(root, ".checkpoint.parquet") == [3, 6]


def test_none_of_it(root: Path) -> None:
    table = deltaic.Table.create(root, SCHEMA, upkeep=False, properties={"delta.checkpointInterval": "1"})
    for number in range(3):
        assert table.append(pa.table({"id": [number]}), upkeep=False).warnings == ()
    assert log_of(root, "") == [0, 1, 2, 3]
    # A single append with it writes a checkpoint of all earlier commits.
    table.append(pa.table({"id": [3]}))
    assert log_of(root, ".crc") == log_of(root, ".checkpoint.parquet") == [4]
    with pytest.raises(TypeError, match="upkeep"):
        table.append(pa.table({"id": [4]}), upkeep="no")  # type: ignore[arg-type]
    assert table.snapshot().version == 4


def test_none_of_it_after_a_replaced_table(root: Path) -> None:
    properties = {"delta.checkpointInterval": "1"}
    for _ in range(2):
        deltaic.Table.create(root, SCHEMA, upkeep=False, properties=properties, if_exists="replace")
    assert log_of(root, "") == [0, 1]


@pytest.mark.parametrize("by", ["whoever opened it before", "whoever opens it anew"])
def test_nothing_is_built_on_a_checkpoint_that_its_checksum_speaks_against(root: Path, by: str) -> None:
    """protocol: state-validation-writer-requirements.2."""
    table = deltaic.Table.create(root, SCHEMA, properties={"delta.checkpointInterval": "4"})
    for number in range(4):
        table.append(pa.table({"id": [number]}))
    checkpoint = next((root / "_delta_log").glob("*4.checkpoint.parquet"))
    actions = pq.read_table(checkpoint)
    adds = pc.indices_nonzero(actions["add"].combine_chunks().is_valid()).to_pylist()
    kept = [row for row in range(actions.num_rows) if row != adds[0]]
    pq.write_table(actions.take(kept), checkpoint)
    table = deltaic.Table(root)
    assert any("disagrees" in warning for warning in table.snapshot().warnings)
    for number in range(5, 10):
        with pytest.warns(deltaic.DeltaicWarning, match=r"the log was not maintained.*checksum"):
            table.append(pa.table({"id": [number]}))
        if by == "whoever opens it anew":
            table = deltaic.Table(root)
    # Nothing new is based on the damage, and valid files are not deleted, however old they are.
    assert (log_of(root, ".crc"), log_of(root, ".checkpoint.parquet")) == ([0, 1, 2, 3, 4], [4])
    for file in (root / "_delta_log").iterdir():
        os.utime(file, (0, 0))
    assert deltaic.Table(root).clean_up().files == []
    # The commits still contain the whole table.
    checkpoint.unlink()
    assert sorted(deltaic.Table(root).snapshot().scan().to_arrow()["id"].to_pylist()) == [
        0,
        1,
        2,
        3,
        *range(5, 10),
    ]


def test_a_skipped_append_does_nothing(root: Path) -> None:
    table = deltaic.Table.create(root, SCHEMA)
    for _ in range(2):
        table.append(pa.table({"id": [1]}), app_transaction=("job", 1))
    assert log_of(root, ".crc") == [0, 1]


def spoiled(root: Path) -> deltaic.Table:
    """A table whose next maintenance partly fails: a folder has the path of `_last_checkpoint`."""
    table = deltaic.Table.create(root, SCHEMA, properties={"delta.checkpointInterval": "1"})
    (root / "_delta_log" / "_last_checkpoint" / "in the way").mkdir(parents=True)
    return table


def test_failed_maintenance_is_reported_and_the_commit_remains(root: Path) -> None:
    table = spoiled(root)
    with pytest.warns(
        deltaic.DeltaicWarning,
        match=r"version 1 is committed, but _last_checkpoint was not written.*do not repeat",
    ) as told:
        commit = table.append(pa.table({"id": [1]}))
    assert [warning.filename for warning in told] == [__file__]
    assert commit.version == 1
    assert len(commit.warnings) == 1
    assert commit.warnings[0].startswith("_last_checkpoint was not written: ")
    assert log_of(root, ".crc") == [0, 1]
    shutil.rmtree(root / "_delta_log" / "_last_checkpoint")
    assert deltaic.Table(root).snapshot().scan().count() == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert table.append(pa.table({"id": [2]})).warnings == ()
    assert log_of(root, ".checkpoint.parquet") == [1, 2]
    assert (root / "_delta_log" / "_last_checkpoint").is_file()


def test_any_client_makes_errors_of_warnings_still_has_the_commit(root: Path) -> None:
    table = spoiled(root)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        commit = table.append(pa.table({"id": [1]}))
    assert commit.version == 1
    assert len(commit.warnings) == 1


def test_a_commit_of_the_history_has_no_warnings(root: Path) -> None:
    table = deltaic.Table.create(root, SCHEMA)
    assert [commit.warnings for commit in table.history()] == [()]


def test_maintenance_is_on_by_default(root: Path) -> None:
    table = deltaic.Table.create(root, SCHEMA)
    table.append(pa.table({"id": [1]}))
    table.append(pa.table({"id": [2]}), upkeep=False)
    checksums = sorted(path.name for path in (root / "_delta_log").glob("*.crc"))
    assert checksums == ["00000000000000000000.crc", "00000000000000000001.crc"]
