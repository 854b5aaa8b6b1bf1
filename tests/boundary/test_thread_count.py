"""Number of threads in a process that opens, scans and appends to local tables."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic
from tests.protocol.handmade_log import HandmadeTable, ids, metadata, protocol

SIDECARS = 100

# Each local request uses a thread: 16 for a checkpoint's files, 12 for commits, some for single files. The
# runtime starts at most so many besides its workers, one a processor, or as many as there are processors.
ON_DISK = 32

PROGRAM = """
import json, os, sys
import pyarrow as pa
import deltaic

def threads():
    names = []
    for task in os.listdir("/proc/self/task"):
        try:
            names.append(open(f"/proc/self/task/{task}/comm").read().strip())
        except FileNotFoundError:
            pass
    return names.count("deltaic")

table = deltaic.Table(sys.argv[1])
counts = {}
snapshot = table.snapshot()
counts["open"] = threads()
assert snapshot.scan().to_arrow().num_rows == int(sys.argv[2])
counts["scan"] = threads()
assert len(table.history()) > 1
counts["history"] = threads()
table.append(pa.table({"id": pa.array(range(64), pa.int64())}))
other = deltaic.Table(sys.argv[3])
other.append(pa.table({"p": pa.array(range(256), pa.int64()), "id": pa.array(range(256), pa.int64())}))
counts["append"] = threads()
with table.transaction() as tx:
    tx.add(json.loads(sys.argv[4]))
counts["add"] = threads()
print(json.dumps(counts))
"""


# A slow disk shows how many requests are made concurrently.
SLOW = [
    "strace",
    "--follow-forks",
    "--quiet=all",
    "--output=/dev/null",
    "--trace=openat",
    "--inject=openat:delay_enter=20ms",
]


@pytest.mark.skipif(shutil.which("strace") is None, reason="install strace, which slows the disk down")
def test_a_process_has_few_threads(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    v2 = protocol(3, 7, ["v2Checkpoint"], ["v2Checkpoint"])
    described = metadata(configuration={"delta.checkpointInterval": "1000"})
    table.commit(v2, described)
    adds = [table.data(f"{number}.parquet", ids(number)) for number in range(SIDECARS)]
    table.commit(*adds)
    sidecars = [table.sidecar(f"{number}.parquet", [add]) for number, add in enumerate(adds)]
    table.top_level(
        "00000000000000000001.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json",
        [{"checkpointMetadata": {"version": 1}}, v2, described, *sidecars],
    )
    (table.log / f"{0:020}.json").unlink()
    for number in range(100):
        table.commit({"commitInfo": {"number": number}})
    given = [table.data(f"given-{number}.parquet", ids(number))["add"] for number in range(100)]
    files = [{"path": add["path"], "size": add["size"], "modification_time": 1} for add in given]
    other = deltaic.Table.create(
        tmp_path / "other", pa.schema([("p", pa.int64()), ("id", pa.int64())]), partition_by=["p"]
    )
    arguments = [str(table.root), str(SIDECARS), str(tmp_path / "other"), json.dumps(files)]
    assert other.snapshot().version == 0
    slow = [f"--trace-path={path}" for path in sorted(table.root.rglob("*")) if path.is_file()]
    command = [*SLOW, *slow, sys.executable, "-c", PROGRAM, *arguments]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert ran.returncode == 0, ran.stderr
    counts = json.loads(ran.stdout)
    workers = len(os.sched_getaffinity(0))
    assert max(counts.values()) <= workers + max(workers, ON_DISK), counts
