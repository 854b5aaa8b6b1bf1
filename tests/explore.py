"""Searches for faults: runs the random suites with new seeds, one after the other.

`make explore SEEDS=20 ONLY=programs,merges SIZE=10`. A search that was interrupted continues if it is started
again with the same arguments. `SEED=…` repeats the search that began with this number.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import secrets
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.commands import TOP, run_command, show
from tests.random_suites import INTEROP, SUITES, Suite
from tests.seed import OF_PROPTEST, VARIABLE

FOLDER = TOP / "target" / "explore"
NO_TESTS = 5
"""The exit code of pytest if the share of a seed has no test."""
MOST_LINES = 300


@dataclass(frozen=True)
class Ended:
    """A suite that ran with a seed."""

    suite: str
    seed: int
    failed: bool
    seconds: float


@dataclass
class Search:
    """What is searched, and what has ended; a file has the same contents."""

    file: Path
    names: list[str]
    seeds: int
    size: int
    first: int
    ended: list[Ended] = field(default_factory=list[Ended])

    def save(self) -> None:
        """Writes the file."""
        values = {name: value for name, value in asdict(self).items() if name != "file"}
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(json.dumps(values, indent=1))

    def numbers(self) -> list[int]:
        """Returns the seeds, none of which is near another: suites add the number of a case to them."""
        texts = (f"{self.first}/{index}" for index in range(self.seeds))
        return [int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") for text in texts]

    def left(self, suites: Sequence[Suite]) -> Iterator[tuple[int, Suite]]:
        """Yields what has not ended yet."""
        done = {(one.suite, one.seed) for one in self.ended}
        for index, seed in enumerate(self.numbers()):
            for suite in suites:
                if suite.name in self.names and (suite.name, seed) not in done and not (suite.once and index):
                    yield seed, suite


def resumed(asked: Search, suites: Sequence[Suite], *, is_repeated: bool) -> Search:
    """Returns the search of the file if it has these arguments and is not complete, otherwise the new one."""
    if not asked.file.exists():
        return asked
    values = json.loads(asked.file.read_text())
    values["ended"] = [Ended(**one) for one in values["ended"]]
    earlier = Search(asked.file, **values)
    is_same = (earlier.names, earlier.seeds, earlier.size) == (asked.names, asked.seeds, asked.size)
    is_first = not is_repeated or earlier.first == asked.first
    return earlier if is_same and is_first and any(earlier.left(suites)) else asked


def run(suite: Suite, seed: int, size: int, folder: Path) -> Ended:
    """Runs a suite with a seed; prints only what failed."""
    set_here = {VARIABLE: str(seed), OF_PROPTEST: str(seed), **suite.environment(size)}
    began, failed, lines = time.monotonic(), False, list[str]()
    for command in suite.commands:
        code, printed = run_command(list(command), set_here, shows=lambda _: False)
        lines += printed
        if code not in (0, NO_TESTS):
            failed = True
            show("\n".join(["", f"━━━ {suite.name} failed with the seed {seed}", *failures(printed)]))
            variables = " ".join(f"{name}={value}" for name, value in set_here.items())
            show(f"to repeat: {variables} {shlex.join(command)}")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{suite.name}-{seed}.log").write_text("\n".join(lines))
    ended = Ended(suite.name, seed, failed, time.monotonic() - began)
    show(f"{seed:>10}  {suite.name:<22} {'failed' if failed else 'passed'} in {ended.seconds:.0f} s")
    return ended


def failures(lines: list[str]) -> list[str]:
    """Returns the part of the output that describes failures: of pytest, of cargo, or the end."""
    for index, line in enumerate(lines):
        if line == "failures:" or line.strip("= ") in {"FAILURES", "ERRORS"}:
            return lines[index : index + MOST_LINES]
    return lines[-30:]


def search_all(search: Search, suites: Sequence[Suite]) -> int:
    """Runs what is left of a search; returns the number of failures."""
    search.save()
    show(f"SEED={search.first}, {len(search.ended)} runs have ended before")
    for seed, suite in search.left(suites):
        search.ended.append(run(suite, seed, search.size, search.file.parent))
        search.save()
    return summary(search)


def summary(search: Search) -> int:
    """Prints a line for each suite; returns the number of failures."""
    show(f"\n{'suite':<24}{'seeds':>6}{'failures':>10}{'time':>10}")
    for name in search.names:
        of_suite = [one for one in search.ended if one.suite == name]
        failed = [one for one in of_suite if one.failed]
        show(f"{name:<24}{len(of_suite):>6}{len(failed):>10}{sum(one.seconds for one in of_suite):>8.0f} s")
        for one in failed:
            show(f"    {VARIABLE}={one.seed}: {search.file.parent / f'{name}-{one.seed}.log'}")
    return sum(one.failed for one in search.ended)


def main() -> int:
    """Searches; 0 if nothing failed."""
    known = [suite.name for suite in SUITES]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--only", default="", help=f"some of {', '.join(known)}")
    parser.add_argument("--size", type=int, default=1, help="so many times the cases of a seed")
    parser.add_argument("--seed", type=int, help="the first seed of an earlier search")
    arguments = parser.parse_args()
    names = [name for name in arguments.only.split(",") if name] or known
    if unknown := set(names) - set(known):
        parser.error(f"there is no suite {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    if any(INTEROP in command for suite in SUITES if suite.name in names for command in suite.commands):
        run_command(["envs/make_env.sh", "interop"])
    # The tests of untrusted input start from tables that others wrote, if these are available.
    run_command([sys.executable, "fuzz/collect_seeds.py", "../shared", "fuzz/golden"], shows=lambda _: False)
    first = secrets.randbits(32) if arguments.seed is None else arguments.seed
    asked = Search(FOLDER / "search.json", names, arguments.seeds, arguments.size, first)
    search = resumed(asked, SUITES, is_repeated=arguments.seed is not None)
    return 1 if search_all(search, SUITES) else 0


if __name__ == "__main__":
    sys.exit(main())
