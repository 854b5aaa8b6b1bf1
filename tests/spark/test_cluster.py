"""A cluster with separate executor processes: the driver's information must reach them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic

from . import own_process

# Without a session, a cluster cannot be started either.
pytestmark = pytest.mark.usefixtures("spark")

EXPECTED = {
    "sums": {"EU": sum(range(0, 400, 2)), "US": sum(range(1, 400, 2))},
    "one partition": 100,
    "joined": 400,
    "rows": [[0, "EU"], [1, "US"], [2, "EU"], [3, "US"]],
}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Returns the output of the program on the cluster."""
    folder = tmp_path_factory.mktemp("cluster")
    rows = pa.table({"id": pa.array(range(400), pa.int64()), "region": ["EU", "US"] * 200})
    table = deltaic.Table.create(folder / "sales ü", rows.schema, partition_by=["region"])
    for start in range(0, 400, 50):
        table.append(rows.slice(start, 50))
    scratch = folder / "scratch"
    scratch.mkdir()
    try:
        return own_process.run("cluster", str(folder / "sales ü"), str(scratch))
    finally:
        shutil.rmtree(scratch)  # contains the packed package and a copy for each executor


def test_the_native_scan_needs_no_python_on_the_executors(told: dict[str, Any]) -> None:
    assert told["native"] == EXPECTED


def test_both_executors_read(told: dict[str, Any]) -> None:
    tasks = told["native tasks"]
    assert len(tasks) == 2
    assert all(tasks.values()), tasks


def test_tasks_that_run_again_write_their_rows_once(told: dict[str, Any]) -> None:
    """Each task fails twice, and then an executor ends in the middle of its rows, for both ways to write."""
    names = [f"{name}{way}" for name in ("failing", "halting") for way in ("", ", as Arrow data")]
    assert told["written"] == {name: [1_000] * 3 for name in names}


def test_the_package_travels_in_an_archive(told: dict[str, Any]) -> None:
    """Each executor imports its unpacked copy of the package, including the native extension."""
    assert len(told["places"]) == 2, "two processes, each with a folder of its own"
    for folder, package, count in told["places"]:
        assert Path(package).is_relative_to(Path(folder) / "libraries")
        assert count == 2


def test_the_data_source_reads_on_the_executors(told: dict[str, Any]) -> None:
    assert told["source"] == EXPECTED
    assert sum(told["source tasks"].values()) > 0


def test_two_attempts_of_a_task_write_its_rows_once(tmp_path: Path) -> None:
    """The program ends only after two attempts have written files, on two hosts."""
    assert own_process.run("two_hosts", str(tmp_path)) == [400, 400, 400]
