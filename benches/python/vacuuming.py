"""Benchmarks a vacuum beside deltalake: `vacuuming.py [--files 1000000] [--unneeded 100000] [--turns 1]`.

The table is on the disk, in 100 partition folders. The program fails if a needed file is deleted or another
is left, or if deltaic takes more than half of the time or of the peak memory of deltalake.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path

import pyarrow as pa

from measure import peak_mib

FOLDERS, PER_COMMIT = 100, 10_000
SCHEMA = pa.schema([("id", pa.int64()), ("part", pa.int32())])
PEERS = ("deltaic", "deltalake")
GOAL = 0.5


def name_of(number: int) -> str:
    return f"part={number % FOLDERS}/part-{number:07}.parquet"


def make_table(root: Path, files: int) -> None:
    """Makes a table whose files have one byte each, and no rows that could be read."""
    import deltaic

    table = deltaic.Table.create(root, SCHEMA, partition_by=["part"])
    for folder in range(FOLDERS):
        (root / f"part={folder}").mkdir()
    for first in range(0, files, PER_COMMIT):
        lines: list[str] = []
        for number in range(first, min(first + PER_COMMIT, files)):
            (root / name_of(number)).write_bytes(b"1")
            add = {
                "path": name_of(number),
                "partitionValues": {"part": str(number % FOLDERS)},
                "size": 1,
                "modificationTime": 0,
                "dataChange": True,
                "stats": '{"numRecords":1}',
            }
            lines.append(json.dumps({"add": add}))
        version = 1 + first // PER_COMMIT
        (root / "_delta_log" / f"{version:020}.json").write_text("\n".join(lines))
    table.checkpoint()


def add_unneeded(root: Path, count: int) -> None:
    for number in range(count):
        (root / f"part={number % FOLDERS}" / f"old-{number:07}.parquet").write_bytes(b"1")


def vacuum(peer: str, root: str) -> None:
    """Vacuums, and prints the time, the peak memory and the number of deleted files."""
    if peer == "deltaic":
        import deltaic

        start, cpu = time.perf_counter(), time.process_time()
        deleted = deltaic.Table(root).vacuum(timedelta(0), force=True).deleted_files
    else:
        import deltalake

        start, cpu = time.perf_counter(), time.process_time()
        table = deltalake.DeltaTable(root)
        gone = table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False, full=True)
        deleted = len(gone)
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    print(json.dumps({"wall": wall, "cpu": cpu, "peak": peak_mib(), "deleted": deleted}))


def count_files(root: Path) -> int:
    return sum(1 for folder in root.glob("part=*") for _ in folder.iterdir())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=1_000_000, help="the files of the table and the others")
    parser.add_argument("--unneeded", type=int, default=100_000)
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        vacuum(*given.child)
        return 0
    found: dict[str, list[dict[str, float]]] = {peer: [] for peer in PEERS}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "table"
        make_table(root, given.files - given.unneeded)
        for _ in range(given.turns):
            for peer in PEERS:
                add_unneeded(root, given.unneeded)
                command = [sys.executable, __file__, "--child", peer, str(root)]
                ended = subprocess.run(command, check=True, capture_output=True, text=True)
                found[peer].append(json.loads(ended.stdout))
                assert found[peer][-1]["deleted"] == given.unneeded, found[peer][-1]
                assert count_files(root) == given.files - given.unneeded
    medians = {
        peer: {name: statistics.median(turn[name] for turn in turns) for name in ("wall", "cpu", "peak")}
        for peer, turns in found.items()
    }
    print(f"{given.files:,} files, {given.unneeded:,} of them unneeded, {given.turns} turns")
    for peer, figures in medians.items():
        print(f"{peer}: {figures['wall']:.2f} s, CPU {figures['cpu']:.2f} s, peak {figures['peak']:.0f} MiB")
    ours, theirs = (medians[peer] for peer in PEERS)
    shares = {name: ours[name] / theirs[name] for name in ("wall", "peak")}
    print(", ".join(f"{name}: {share:.2f} of deltalake" for name, share in shares.items()))
    return int(max(shares.values()) > GOAL)


if __name__ == "__main__":
    sys.exit(main())
