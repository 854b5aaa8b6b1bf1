"""The table of ratios, as Markdown and as JSON."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median


@dataclass(frozen=True)
class Line:
    """The medians of one peer on one workload."""

    workload: str
    peer: str
    release: str
    wall: float
    """Seconds."""
    cpu: float
    """Seconds, over all threads."""
    peak_mib: float
    repetitions: int


def line_of(workload: str, peer: str, release: str, runs: list[dict[str, float]]) -> Line:
    """Medians over the repetitions."""
    wall, cpu, peak = (median(run[key] for run in runs) for key in ("wall", "cpu", "peak_mib"))
    return Line(workload, peer, release, wall, cpu, peak, len(runs))


def ratio(line: Line, ours: Line, key: str) -> float:
    """How many times our figure the peer's is; above 1 we are better."""
    return getattr(line, key) / getattr(ours, key)


def rows(lines: Iterable[Line]) -> list[tuple[Line, Line]]:
    """Each line beside deltaic's line of the same workload."""
    lines = list(lines)
    ours = {line.workload: line for line in lines if line.peer == "deltaic"}
    return [(line, ours[line.workload]) for line in lines if line.workload in ours]


def markdown(lines: list[Line], descriptions: dict[str, str], scale: float) -> str:
    """The page `docs/benchmarks.md`."""
    text = [
        "# Benchmarks",
        "",
        "Written by `make bench`: a release build beside its peers in one run, each measurement in a",
        "fresh process, repetitions interleaved, medians. Every answer was checked against the table's",
        "manifest before anything was timed. Times move with the machine; the ratios (the peer's figure",
        "divided by deltaic's) are what to look at.",
        "",
        f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}, scale {scale:g}.",
        "",
    ]
    for name, what in descriptions.items():
        text += [f"**{name}**: {what}.", ""]
    text += [
        "| workload | peer | wall s | ratio | CPU s | ratio | peak MiB | ratio |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for line, ours in rows(lines):
        figures = " | ".join(
            f"{getattr(line, key):.{digits}f} | {ratio(line, ours, key):.2f}"
            for key, digits in (("wall", 3), ("cpu", 3), ("peak_mib", 0))
        )
        text.append(f"| {line.workload} | {line.peer} {line.release} | {figures} |")
    return "\n".join(text) + "\n"


def write_json(lines: list[Line], scale: float, path: Path) -> None:
    """The same figures for a program."""
    found = {
        "scale": scale,
        "cores": os.cpu_count(),
        "lines": [
            {**asdict(line), "ratios": {key: ratio(line, ours, key) for key in ("wall", "cpu", "peak_mib")}}
            for line, ours in rows(lines)
        ],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=2) + "\n")
