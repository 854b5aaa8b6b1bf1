"""Benchmarks writing in PySpark: `spark_writes.py [--scale 1] [--repeat 3] [--only plain]`.

Each way appends the same rows to a table of its own, in its own process and JVM; the ways alternate. The rows
that were written are compared before any figure is shown.
"""

from __future__ import annotations

import argparse
import fnmatch
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from spark_process import SparkProcess
from spark_ways import DELTA, NATIVE, PLAIN_DELTA, WAYS
from spark_write_shapes import CODECS, SHAPES, Shape

WRITERS = (DELTA, PLAIN_DELTA, NATIVE)


@dataclass(frozen=True)
class Cell:
    """The figures of one way for one shape and codec, in seconds."""

    walls: list[float]
    cpus: list[float]

    def ratios(self, peer: Cell) -> tuple[float, float]:
        """Returns the ratios of the medians of wall time and CPU to those of a peer."""
        return median(self.walls) / median(peer.walls), median(self.cpus) / median(peer.cpus)


@dataclass(frozen=True)
class Bench:
    """The processes of all ways, and how often and how much each of them writes."""

    peers: dict[str, SparkProcess]
    folder: Path
    repeat: int
    scale: float

    def cells(self, shape: Shape, codec: str) -> dict[str, Cell]:
        """Returns the figures of each way; ends the program if the tables differ."""
        runs: dict[str, list[dict[str, Any]]] = {way: [] for way in self.peers}
        paths = {way: str(self.folder / f"{shape.name}-{codec}-{way}") for way in self.peers}
        for turn in range(self.repeat + 1):
            for way, peer in self.peers.items():
                asked = {"codec": codec, **shape.asked(self.scale)}
                said = peer.ask(do="write", table=paths[way], **asked)
                if "wall" not in said:
                    why = said.get("failed") or said.get("absent")
                    raise SystemExit(f"{shape.name} {codec} {way}: {why}")
                if turn:  # the first one warms up
                    runs[way].append(said)
        answers = {way: peer.ask(do="written", table=paths[way]) for way, peer in self.peers.items()}
        if len({str(answer.get("answer")) for answer in answers.values()}) != 1:
            raise SystemExit(f"{shape.name} {codec}: the tables differ: {answers}")
        shutil.rmtree(self.folder)
        self.folder.mkdir()
        return {
            way: Cell([run["wall"] for run in each], [run["cpu"] for run in each])
            for way, each in runs.items()
        }


def main() -> None:
    """Measures all shapes, and prints a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", default="*")
    given = parser.parse_args()
    logs = Path(tempfile.mkdtemp(prefix="bench-writes-"))
    peers = {way: SparkProcess(way, logs / f"{way}.log") for way in WRITERS}
    folder = logs / "tables"
    folder.mkdir()
    bench = Bench(peers, folder, given.repeat, given.scale)
    print("| rows | codec | delta-spark s (CPU) | defaults s (CPU) | deltaic s (CPU) | wall | CPU | goal |")
    print("|---|---|--:|--:|--:|--:|--:|--:|", flush=True)
    try:
        for shape in SHAPES.values():
            if not any(fnmatch.fnmatch(shape.name, pattern) for pattern in given.only.split(",")):
                continue
            for codec in CODECS:
                cells = bench.cells(shape, codec)
                wall, cpu = cells[NATIVE].ratios(cells[DELTA])
                shown = " | ".join(
                    f"{median(cells[way].walls):.2f} ({median(cells[way].cpus):.1f})" for way in WRITERS
                )
                print(
                    f"| {shape.name} | {codec} | {shown} | {wall:.2f} | {cpu:.2f} | {shape.goal} |",
                    flush=True,
                )
    finally:
        for peer in peers.values():
            peer.stop()
    print(", ".join(f"{WAYS[way].title} {peer.release}" for way, peer in peers.items()))


if __name__ == "__main__":
    main()
