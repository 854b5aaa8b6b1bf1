"""Reports which requirements of the protocol were proved by a test in the last run.

The requirements are next to the project, in `../shared/protocol/requirements*.tsv`. A test names what it
proves (`tests/evidence/claims.py`). A row counts as proved only if, by the reports in `target/test-reports`,
such a test ran and passed and none failed. Rows that no client has to implement are in
`tests/requirements_exceptions.tsv` with the reason.

proved     a test that names the row passed
refused    a test that passed proves a refusal: deltaic returns a typed error instead of the required result
exception  not a requirement for clients
later      belongs to an operation that deltaic does not have yet
open       no test names it, or none that does has passed
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from evidence.claims import SEARCHED, Claim, claims_in
from evidence.reports import FAILED, PASSED, Report, Result, reports_in

TOP = Path(__file__).resolve().parent.parent
SHARED = TOP.parent / "shared"
REPORTS = TOP / "target" / "test-reports"
BAR = 24
LONGEST_SECTION = 60
LATER = "later:"
# Each state with its character in the bars.
STATES = {"proved": "█", "refused": "▓", "exception": "▒", "later": "░", "open": "·"}


@dataclass(frozen=True)
class Requirement:
    """A sentence of the protocol with must, should, required or cannot."""

    id: str
    section: str
    force: str
    text: str


@dataclass
class Coverage:
    """The requirements, the tests that name them, and the results of these tests."""

    requirements: list[Requirement]
    claims: dict[str, list[Claim]] = field(default_factory=dict)
    exceptions: dict[str, str] = field(default_factory=dict)
    reports: list[Report] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Indexes the results by group and name without parameters."""
        self._results: dict[tuple[str, str], list[Result]] = defaultdict(list)
        for report in self.reports:
            for result in report.results:
                self._results[result.group, result.name.partition("[")[0]].append(result)
        self._rust_roots = {group for group, _ in self._results if group.endswith(".rs")}

    def results(self, claim: Claim) -> list[Result]:
        """Returns the results of the test, with all its parameters and in all environments."""
        return [
            result for key in claim.recorded_as(self._rust_roots) for result in self._results.get(key, ())
        ]

    def state(self, requirement: Requirement) -> str:
        """Returns one of `STATES`."""
        reason = self.exceptions.get(requirement.id)
        if reason is not None:
            return "later" if reason.startswith(LATER) else "exception"
        outcomes = [(claim, self.outcome(claim)) for claim in self.claims.get(requirement.id, ())]
        passed = [claim for claim, outcome in outcomes if outcome == PASSED]
        if not passed or any(outcome == FAILED for _, outcome in outcomes):
            return "open"
        return "refused" if any(claim.refused for claim in passed) else "proved"

    def outcome(self, claim: Claim) -> str:
        """Returns `failed` if any result failed, `passed` if any passed, otherwise why there is neither."""
        results = self.results(claim)
        for outcome in (FAILED, PASSED):
            if any(result.outcome == outcome for result in results):
                return outcome
        return f"skipped: {results[0].reason}" if results else "did not run"

    def stale(self, changed: float) -> list[Report]:
        """Returns the reports that are older than the last change of the sources."""
        return [report for report in self.reports if report.written < changed]

    def errors(self) -> list[str]:
        """Returns unknown ids, ids named outside of a test, exceptions that have a test or no reason."""
        known = {requirement.id for requirement in self.requirements}
        found: list[str] = []
        for name, claims in sorted(self.claims.items()):
            if name not in known:
                found += [f"{claim.place}: there is no requirement {name}" for claim in claims]
            found += [
                f"{claim.place}: {name} is named outside of a test" for claim in claims if not claim.test
            ]
        for name, reason in sorted(self.exceptions.items()):
            if name not in known:
                found.append(f"exceptions: there is no requirement {name}")
            if not reason.removeprefix(LATER).strip():
                found.append(f"exceptions: {name} has no reason")
            if name in self.claims:
                found.append(f"exceptions: {name} has a test too, {self.claims[name][0].place}")
        return found


def read_rows(path: Path) -> list[dict[str, str]]:
    """Reads the rows of a tab-separated file; quotes in it are text."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def read_requirements(folder: Path) -> list[Requirement]:
    """Reads all rows of `requirements*.tsv`, in the order of the files' names."""
    return [
        Requirement(row["id"], row["section"], row["force"], row["text"])
        for path in sorted(folder.glob("requirements*.tsv"), key=lambda path: path.stem)
        for row in read_rows(path)
    ]


def coverage(shared: Path, top: Path) -> Coverage:
    """Reads the requirements, the exceptions, the sources and the reports of the last run."""
    claims: dict[str, list[Claim]] = defaultdict(list)
    for claim in claims_in(top):
        claims[claim.id].append(claim)
    exceptions = read_rows(top / "tests" / "requirements_exceptions.tsv")
    return Coverage(
        read_requirements(shared / "protocol"),
        dict(claims),
        {row["id"]: (row["reason"] or "").strip() for row in exceptions},
        list(reports_in(top / REPORTS.relative_to(TOP))),
    )


def last_change(top: Path, folders: Iterable[str] = SEARCHED) -> float:
    """Returns the time of the last change of a source (seconds since 1970)."""
    paths = (path for folder in folders for path in (top / folder).rglob("*"))
    times = (path.stat().st_mtime for path in paths if path.suffix in {".py", ".rs", ".toml"})
    return max(times, default=0.0)


def show_table(found: Coverage) -> None:
    """Prints a line for each section and the sum."""
    counts: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(STATES, 0))
    for requirement in found.requirements:
        counts[requirement.section][found.state(requirement)] += 1
    width = min(LONGEST_SECTION, max(map(len, counts), default=0))
    heads = "".join(f"{state:>10}" for state in STATES)
    print(f"{'section':<{width}}  {'':<{BAR}}{heads}")
    for section, states in [*counts.items(), ("all", total(counts.values()))]:
        if section == "all":
            print("─" * (width + BAR + 2 + len(heads)))
        columns = "".join(f"{states[state]:>10}" for state in STATES)
        name = section if len(section) <= width else section[: width - 1] + "…"
        print(f"{name:<{width}}  {bar(states)}{columns}")


def total(counts: Iterable[dict[str, int]]) -> dict[str, int]:
    """Returns the sum of the sections."""
    sums = dict.fromkeys(STATES, 0)
    for states in counts:
        for state, count in states.items():
            sums[state] += count
    return sums


def bar(states: dict[str, int]) -> str:
    """Returns the shares of the states, each with its character."""
    everything = max(1, sum(states.values()))
    drawn, counted = "", 0
    for state, character in STATES.items():
        counted += states[state]
        drawn += character * (round(BAR * counted / everything) - len(drawn))
    return drawn


def show_results(found: Coverage, changed: float) -> None:
    """Prints which results the table is based on, and whether the sources are newer."""
    if not found.reports:
        print("\nThere was no test run yet, so no row counts as proved: run `make test`.")
        return
    print("\nresults:")
    stale = found.stale(changed)
    for report in found.reports:
        written = time.strftime("%Y-%m-%d %H:%M", time.localtime(report.written))
        passed = sum(result.outcome == PASSED for result in report.results)
        older = "  older than the sources" if report in stale else ""
        print(f"{report.part:<10}{passed:>7} passed  {written}{older}")
    if stale:
        print("Some results are older than the sources: run `make test`.")


def show_open(found: Coverage) -> None:
    """Prints the open requirements with their text, and the outcome of the tests that name them."""
    for requirement in found.requirements:
        if found.state(requirement) == "open":
            print(f"{requirement.id}  ({requirement.force})\n    {requirement.text}")
            for claim in found.claims.get(requirement.id, ()):
                print(f"    {claim.place}: {found.outcome(claim)}")


def main() -> int:
    """Prints the table; returns 1 if a claim or an exception is wrong, in CI also if a row is open."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--open", action="store_true", help="list the open requirements")
    arguments = parser.parse_args()
    if not (SHARED / "protocol").is_dir():
        print("requirements: ../shared/protocol is not beside the project", file=sys.stderr)
        return 2
    found = coverage(SHARED, TOP)
    if arguments.open:
        show_open(found)
    else:
        show_table(found)
        show_results(found, last_change(TOP))
    errors = found.errors()
    if os.environ.get("CI"):
        rows = [requirement.id for requirement in found.requirements if found.state(requirement) == "open"]
        errors += [f"{row} is open" for row in rows]
    for error in errors:
        print(f"error: {error}", file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
