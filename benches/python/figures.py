"""The figures of a measurement: medians, all repetitions, and the ratio of two peers."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from statistics import median, quantiles

from workload import Operation

OURS, FLOOR = "deltaic", "floor"
FIGURES = {"wall": "wall s", "cpu": "CPU s", "peak_mib": "peak MiB"}


@dataclass(frozen=True)
class Peer:
    """A peer with its version, and a note on its answer."""

    peer: str
    release: str
    note: str


@dataclass(frozen=True)
class Line:
    """The figures of one peer on one operation; the medians are None if it failed."""

    workload: str
    operation: str
    peer: str
    release: str
    note: str
    wall: float | None
    """Seconds."""
    cpu: float | None
    """Seconds, over all threads."""
    peak_mib: float | None
    repetitions: int
    budget: dict[str, float]
    runs: dict[str, list[float]] = field(default_factory=dict)
    """Each figure of every repetition, ascending."""

    def noise(self, key: str) -> float:
        """Returns the interquartile range of a figure as a share of its median."""
        return noise_of(self.runs.get(key, []))


def line_of(workload: str, operation: Operation, peer: Peer, runs: list[dict]) -> Line:
    """Returns the medians and values of the repetitions."""
    values = {key: sorted(run[key] for run in runs) for key in FIGURES}
    middle = {key: median(found) if found else None for key, found in values.items()}
    return Line(
        workload,
        operation.name,
        **asdict(peer),
        **middle,
        repetitions=len(runs),
        budget=operation.budget,
        runs=values if runs else {},
    )


def ratio(line: Line, ours: Line | None, key: str) -> float | None:
    """Returns the peer's figure divided by ours; above 1 ours is better."""
    mine = getattr(ours, key) if ours else None
    theirs = getattr(line, key)
    return theirs / mine if mine and theirs is not None else None


def ratios(line: Line, ours: Line | None) -> dict[str, float | None]:
    """Returns all ratios of a line."""
    return {key: ratio(line, ours, key) for key in FIGURES}


def best_of(mine: dict[str, Line], key: str) -> Line | None:
    """Returns the peer with the smallest figure; None if every peer failed."""
    rivals = [line for peer, line in mine.items() if peer not in {OURS, FLOOR}]
    able = [line for line in rivals if getattr(line, key) is not None]
    return min(able, key=lambda line: getattr(line, key)) if able else None


def shown(value: float | None, key: str) -> str:
    """Formats a figure with its significant digits."""
    if value is None:
        return "fails"
    if key == "peak_mib" or value >= 100:
        return f"{value:.0f}"
    return f"{value:.3f}" if value >= 0.01 else f"{value:.4f}"


def shown_with_spread(values: list[float], key: str) -> str:
    """Formats the median, with the smallest and the largest of several repetitions in parentheses."""
    middle = shown(median(values) if values else None, key)
    if len(values) < 2:
        return middle
    return f"{middle} ({shown(min(values), key)}–{shown(max(values), key)})"


def noise_of(values: list[float]) -> float:
    """Returns the interquartile range as a share of the median."""
    if len(values) < 2 or not median(values):
        return 0.0
    lower, middle, upper = quantiles(values, n=4, method="inclusive")
    return (upper - lower) / middle
