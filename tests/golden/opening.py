"""Which reference tables open, copies of their logs, and the complete state of a snapshot."""

from __future__ import annotations

import shutil
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic
from tests.protocol import naive_log
from tests.protocol.naive_replay import State
from tests.protocol.snapshot_state import derived, shown, wanted

from .reference import GOLDEN, manifest, reference

NOT_OPENED: dict[str, type[deltaic.DeltaicError]] = {
    "delta-kernel-java/catalog-owned-preview": deltaic.UnsupportedFeature,
    "delta-rs/checkpoints_tombstones": deltaic.TableNotFound,
    "kernel-rs-data/crc-malformed": deltaic.TableNotFound,
    "kernel-rs-golden/data-reader-absolute-paths-escaped-chars": deltaic.CorruptLog,
    "kernel-rs-golden/deltalog-invalid-protocol-version": deltaic.UnsupportedFeature,
    "kernel-rs-golden/deltalog-state-reconstruction-without-protocol": deltaic.CorruptLog,
    "kernel-rs-golden/no-delta-log-folder": deltaic.TableNotFound,
}
"""Tables that neither deltaic nor delta-spark can open, and the error they raise."""

WITHOUT_PROTOCOL = "kernel-rs-golden/deltalog-state-reconstruction-from-checkpoint-missing-protocol"
OPENED_ALL_THE_SAME: dict[str, str] = {
    "delta-rs/table-with-domain-metadata": (
        "a checkpoint alone is a version of the table; delta-spark asks for that version's commit as well"
    ),
    WITHOUT_PROTOCOL: "its checkpoint contains no protocol, and all commits exist",
    "kernel-rs-data/timestamp-partitioned-table": (
        "a path whose first segment has a colon; Java's URI class takes what stands before it for a scheme"
    ),
}
"""Tables that deltaic opens and delta-spark does not, and the reason."""

OF_TWO_TABLES = "kernel-rs-data/parquet_row_group_skipping"
"""Made by hand: its checkpoint has the metadata of another table than its commits, so results differ."""

NAMES = manifest() if GOLDEN.is_dir() else []
OPENED = [name for name in NAMES if name not in NOT_OPENED]

needs_golden = pytest.mark.skipif(not GOLDEN.is_dir(), reason="missing: ../shared/golden beside the project")


def copy_of_the_log(name: str, place: Path) -> Path:
    """Copies the log of a table with its file times; opening needs no data files."""
    source = reference(name).folder / "_delta_log"
    # Hidden files (`.<name>.crc`) belong to Hadoop's local file system, not to the table.
    shutil.copytree(source, place / "_delta_log", copy_function=_copy, ignore=shutil.ignore_patterns(".*"))
    for path in place.rglob("*"):
        if path.is_dir():
            path.chmod(0o755)
    return place


def opened(root: Path, version: int | None = None) -> deltaic.Snapshot:
    """Opens a table with a new handle; warnings are also in the snapshot."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", deltaic.DeltaicWarning)
        return deltaic.Table(root).snapshot(version=version)


def state(snapshot: deltaic.Snapshot) -> dict[str, Any]:
    """Returns the complete state except for statistics: a checkpoint may leave them out."""
    values = derived(_partition_values, snapshot.files().to_arrow())
    return {"version": snapshot.version, "partition_values": values, **shown(snapshot)}


def dated(snapshot: deltaic.Snapshot) -> dict[str, Any]:
    """Returns state and timestamp. The timestamp depends on existing commits, so cleanup may change it."""
    return {"timestamp": snapshot.timestamp, **state(snapshot)}


@cache
def naive(name: str, version: int | None = None) -> dict[str, Any]:
    """Returns the state of a table by the naive replay of its log; many tests compare with the same one."""
    return wanted(naive_log.replay_log(reference(name).folder / "_delta_log", version))


def assert_says(said: dict[str, Any], naive: State) -> None:
    """Asserts that a state equals the naive replay of the log."""
    expected = wanted(naive)
    assert {key: said[key] for key in expected} == expected


def without_tombstones(said: dict[str, Any]) -> dict[str, Any]:
    """Returns a state without the tombstones: a checkpoint may leave out expired ones."""
    return {key: value for key, value in said.items() if key != "tombstones"}


def _partition_values(files: pa.Table) -> list[tuple[str, str]]:
    columns = [name for name in ("path", "partition_values") if name in files.column_names]
    rows = files.select(columns).to_pylist()
    return sorted((row["path"], repr(row.get("partition_values"))) for row in rows)


def _copy(source: str, target: str) -> None:
    shutil.copy2(source, target)
    Path(target).chmod(0o644)
