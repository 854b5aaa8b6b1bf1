"""Checkpoints that reference older sidecars, compared with checkpoints that write all of them.

Usage: python benches/python/shared_sidecars.py [--files N] [--checkpoints N] [--complete N] [--commits N]
       [--added N]

Two tables have the same commits, and differ in `delta.logRetentionDuration`: with a day, deltaic writes every
sidecar again. Each checkpoint is written in a new process, which opens the table first. The time for that is
measured separately and subtracted; the memory is what the process needs beyond an open table. The numbers of
files and actions in the checkpoints of both tables are compared.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

COLUMNS = 10
TOGETHER = 50_000


def main() -> None:
    """Builds the tables, measures, and prints a table of results."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--checkpoints", type=int, default=100, help="with shared sidecars")
    parser.add_argument(
        "--complete", type=int, default=5, help="how many of them are also written completely"
    )
    parser.add_argument("--commits", type=int, default=10, help="commits before each checkpoint")
    parser.add_argument("--added", type=int, default=100, help="files of each commit")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measured(options.measure)))
        return
    with tempfile.TemporaryDirectory() as folder:
        compare(Path(folder), options)


def compare(folder: Path, options: argparse.Namespace) -> None:
    """Measures both tables."""
    shared, complete = Log(folder / "shared", "30 days"), Log(folder / "complete", "1 day")
    for log in (shared, complete):
        for first in range(0, options.files, TOGETHER):
            log.commit(first, min(TOGETHER, options.files - first))
        run(log.root)
    next_file = options.files
    figures: dict[str, list[dict]] = {"shared": [], "complete": []}
    for number in range(options.checkpoints):
        for _ in range(options.commits):
            for log in (shared, complete):
                log.commit(next_file, options.added)
            next_file += options.added
        figures["shared"].append(run(shared.root))
        if number % max(1, options.checkpoints // options.complete) == 0:
            figures["complete"].append(run(complete.root))
            assert figures["complete"][-1]["reused"] == 0
            assert figures["complete"][-1]["digest"] == figures["shared"][-1]["digest"]
    report(options, figures)


def report(options: argparse.Namespace, figures: dict[str, list[dict]]) -> None:
    """Prints means and maxima."""
    print(
        f"{options.files:,} files, {options.commits} commits of {options.added} files before each checkpoint"
    )
    names = ["sidecars", "checkpoints", "open s", "checkpoint s", "slowest s", "MiB", "MiB with the table"]
    print(f"| {' | '.join([*names, 'number', 'bytes written'])} |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, runs in figures.items():
        seconds = [run["seconds"] for run in runs]
        print(
            f"| {name} | {len(runs)} | {statistics.mean(run['open'] for run in runs):.3f} "
            f"| {statistics.mean(seconds):.3f} | {max(seconds):.3f} "
            f"| {max(run['memory'] for run in runs) / 2**20:.0f} "
            f"| {max(run['peak'] for run in runs) / 2**20:.0f} "
            f"| {max(run['sidecars'] for run in runs)} "
            f"| {statistics.mean(run['written'] for run in runs):,.0f} |"
        )
    means = [statistics.mean(run["seconds"] for run in figures[name]) for name in ("shared", "complete")]
    print(f"ratio of the means: {means[0] / means[1]:.3f}")


def run(root: Path) -> dict:
    """Writes a checkpoint in a new process."""
    command = [sys.executable, __file__, "--measure", str(root)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def measured(root: Path) -> dict:
    """Opens the table, then writes a checkpoint of that version with its snapshot in memory."""
    import deltaic

    began = time.perf_counter()
    snapshot = deltaic.Table(root).snapshot()
    opened = time.perf_counter() - began
    files = snapshot.num_files
    del snapshot
    before = peak_bytes()
    began = time.perf_counter()
    written = deltaic.Table(root).checkpoint()
    # `checkpoint` opens the table too.
    seconds = time.perf_counter() - began - opened
    new = written.sidecars[written.reused_sidecars :]
    return {
        "open": opened,
        "seconds": max(seconds, 0.0),
        "memory": peak_bytes() - before,
        "peak": peak_bytes(),
        "sidecars": len(written.sidecars),
        "reused": written.reused_sidecars,
        "written": sum((root / path).stat().st_size for path in [written.path, *new]),
        "digest": [files, written.actions - len(written.sidecars)],
    }


def peak_bytes() -> int:
    """The largest resident memory of this process so far."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


class Log:
    """A table whose data files do not exist."""

    def __init__(self, root: Path, retention: str) -> None:
        """Creates the table with the first commit."""
        self.root = root
        self.version = 0
        (root / "_delta_log").mkdir(parents=True)
        fields = [
            {"name": f"c{number}", "type": "long", "nullable": True, "metadata": {}}
            for number in range(COLUMNS)
        ]
        configuration = {
            "delta.checkpointPolicy": "v2",
            "delta.logRetentionDuration": f"interval {retention}",
            "delta.checkpoint.writeStatsAsStruct": "true",
        }
        protocol = {"minReaderVersion": 3, "minWriterVersion": 7}
        features = {"readerFeatures": ["v2Checkpoint"], "writerFeatures": ["v2Checkpoint"]}
        metadata = {
            "id": str(uuid.UUID(int=1)),
            "format": {"provider": "parquet", "options": {}},
            "schemaString": json.dumps({"type": "struct", "fields": fields}),
            "partitionColumns": [],
            "configuration": configuration,
        }
        self.write([{"protocol": {**protocol, **features}}, {"metaData": metadata}])

    def commit(self, first: int, count: int) -> None:
        """Commits files with consecutive numbers."""
        self.write([add(number) for number in range(first, first + count)])

    def write(self, actions: list[dict]) -> None:
        """Writes the next commit."""
        path = self.root / "_delta_log" / f"{self.version:020}.json"
        path.write_text("".join(json.dumps(action, separators=(",", ":")) + "\n" for action in actions))
        self.version += 1


def add(number: int) -> dict:
    """Returns the add of a file."""
    columns = [f"c{column}" for column in range(COLUMNS)]
    stats = {
        "numRecords": 1000 + number,
        "minValues": {name: number * 1000 + place for place, name in enumerate(columns)},
        "maxValues": {name: number * 1000 + 999 + place for place, name in enumerate(columns)},
        "nullCount": dict.fromkeys(columns, 0),
    }
    return {
        "add": {
            "path": f"part-{number:05}-{uuid.UUID(int=number)}-c000.snappy.parquet",
            "partitionValues": {},
            "size": 1_000_000 + number,
            "modificationTime": 1_700_000_000_000 + number,
            "dataChange": True,
            "stats": json.dumps(stats, separators=(",", ":")),
        }
    }


if __name__ == "__main__":
    main()
