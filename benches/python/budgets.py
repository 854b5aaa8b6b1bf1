"""Compares deltaic's figures with the budgets; reports those missed by more than the noise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from figures import FIGURES, OURS, Line, best_of, shown
from workload import Operation, Workload

# Relative to a peer or another operation of the run, this share is noise, however small the spread.
NOISE_BESIDE_PEERS = 0.1


@dataclass(frozen=True)
class Rating:
    """Our figure compared with its strictest budget."""

    limit: float
    share: float
    """Our figure as a share of the budget."""
    noise: float
    """The share above the budget that is noise, by the spread of the repetitions."""

    @property
    def missed(self) -> bool:
        """Whether the figure exceeds the budget by more than the noise."""
        return self.share > 1 + self.noise

    def __str__(self) -> str:
        """Returns the text for the page."""
        if self.share <= 1:
            return f"yes, {self.share:.0%} of it"
        if not self.missed:
            return f"within noise, {self.share:.2f} times it"
        return f"**no, {self.share:.2f} times it**"


def rating(operation: Operation, key: str, mine: dict[str, Line], ours: dict[str, Line]) -> Rating | None:
    """Returns the rating on a figure; `mine` are the peers' lines by name, `ours` our lines by operation."""
    line = mine.get(OURS)
    found = getattr(line, key) if line else None
    limits = list(_limits(operation, key, mine, ours))
    if line is None or found is None or not limits:
        return None
    limit, noise = min(limits)
    return Rating(limit, found / limit, max(noise, line.noise(key)))


def _limits(
    operation: Operation, key: str, mine: dict[str, Line], ours: dict[str, Line]
) -> Iterator[tuple[float, float]]:
    """Yields each limit of a figure, and the noise of the figure that it is relative to."""
    if key in operation.budget:
        yield operation.budget[key], 0.0
    best = best_of(mine, key)
    if best is not None and key in operation.of_best:
        yield operation.of_best[key] * getattr(best, key), max(NOISE_BESIDE_PEERS, best.noise(key))
    for other, shares in operation.of_ours.items():
        line = ours.get(other)
        needed = getattr(line, key) if line else None
        if line is not None and needed is not None and key in shares:
            yield shares[key] * needed, line.noise(key)


def missed(lines: list[Line], workloads: list[Workload]) -> list[str]:
    """Returns every budget that is missed by more than the noise. Budgets apply at scale 1."""
    found = []
    for workload in workloads:
        all_of_it = [line for line in lines if line.workload == workload.name]
        ours = {line.operation: line for line in all_of_it if line.peer == OURS}
        for operation in workload.operations:
            mine = {line.peer: line for line in all_of_it if line.operation == operation.name}
            for key, title in FIGURES.items():
                judged = rating(operation, key, mine, ours)
                if judged is not None and judged.missed:
                    figure = f"{title} {shown(getattr(mine[OURS], key), key)}"
                    limit = f"budget {shown(judged.limit, key)}, noise {judged.noise:.0%}"
                    found.append(f"{workload.name} {operation.name}: {figure}, {limit}")
    return found
