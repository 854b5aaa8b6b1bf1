"""Runs the parts of a run in two lanes, and makes environments beside them."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass

from commands import output_held, run_command, show
from outcome import Outcome, headline


@dataclass(frozen=True)
class Part:
    """A part of the tests, which can be run by its name."""

    title: str
    run: Callable[[], Outcome]
    only_when_named: bool = False
    only_in_ci: bool = False
    # Parts that build Rust code share build folders, and a build uses all cores: one runs after the other.
    builds: bool = False
    # Whether its tests import the extension.
    imports: bool = True
    # The environment of `envs/make_env.sh` that its tests need.
    environment: str | None = None


class Environments:
    """Environments that are made one after the other, in the order in which they were requested."""

    def __init__(self) -> None:
        """No environment is made yet."""
        self._executor = ThreadPoolExecutor(1)
        self._made: dict[str, Future[int]] = {}

    def begin(self, names: Iterable[str]) -> None:
        """Begin to make environments beside what runs."""
        for name in names:
            if name not in self._made:
                self._made[name] = self._executor.submit(self._make, name)

    def code(self, name: str) -> int:
        """Wait for an environment and return the exit code of its script."""
        self.begin([name])
        return self._made[name].result()

    def _make(self, name: str) -> int:
        with output_held():
            return run_command(["envs/make_env.sh", name])[0]


def run_parts(parts: dict[str, Part]) -> dict[str, Outcome]:
    """Run parts in two lanes; the outcomes are in the order of the parts.

    The parts that build Rust code run one after the other, and the first of the others beside them. Each lane
    then takes the next part that is left.
    """
    building = deque(name for name in parts if parts[name].builds)
    others = deque(name for name in parts if not parts[name].builds)
    outcomes: dict[str, Outcome] = {}

    def run_all(lane: deque[str], *, is_shown_live: bool) -> None:
        while name := next_of(lane) or next_of(others):
            with nullcontext() if is_shown_live else output_held():
                outcomes[name] = run_part(name, parts[name])

    first = deque([others.popleft()]) if building and others else deque[str]()
    with ThreadPoolExecutor(1) as beside:
        running = beside.submit(run_all, building, is_shown_live=not first) if building else None
        run_all(first, is_shown_live=True)
        if running:
            running.result()
    return {name: outcomes[name] for name in parts}


def run_part(name: str, part: Part) -> Outcome:
    """Run one part and measure its time."""
    show(headline(f"{name}: {part.title}"))
    began = time.monotonic()
    outcome = part.run()
    outcome.seconds = time.monotonic() - began
    return outcome


def next_of(names: deque[str]) -> str | None:
    """Take the first name, if there is one."""
    try:
        return names.popleft()
    except IndexError:
        return None
