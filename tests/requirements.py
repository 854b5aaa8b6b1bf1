"""Which of the protocol's requirements have a test that names them, an exception, or nothing yet.

The requirements lie beside the project, in `../shared/protocol/requirements*.tsv`. A test names what it
proves in its docstring or in a comment, `protocol:` and one or more ids separated by commas. What is no
duty of a client stands in `tests/requirements_exceptions.tsv` with a word why.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
SHARED = TOP.parent / "shared"
SEARCHED = ("rust", "python", "tests")
ID = r"(?:[a-z]+:)?[a-z][a-z0-9-]*\.\d+"
# The list may run over several lines; each line of it may begin as a comment does.
NAMED = re.compile(rf"protocol:\s+({ID}(?:,\s*(?:(?:///?!?|#|\*)\s*)?{ID})*)")
BAR = 24
LATER = "later:"
STATES = ("covered", "exception", "later", "open")


@dataclass(frozen=True)
class Requirement:
    """One sentence of the protocol that says must, should, required or cannot."""

    id: str
    section: str
    force: str
    text: str


@dataclass
class Coverage:
    """The requirements, and what stands behind each."""

    requirements: list[Requirement]
    tests: dict[str, list[str]] = field(default_factory=dict)
    exceptions: dict[str, str] = field(default_factory=dict)

    def state(self, requirement: Requirement) -> str:
        """`covered`, `exception`, `later` or `open`."""
        if requirement.id in self.tests:
            return "covered"
        reason = self.exceptions.get(requirement.id)
        if reason is None:
            return "open"
        return "later" if reason.startswith(LATER) else "exception"

    def errors(self) -> list[str]:
        """What cannot be right: ids that do not exist, exceptions that have a test or no reason."""
        known = {requirement.id for requirement in self.requirements}
        found = [
            f"{place}: there is no requirement {name}"
            for name, places in sorted(self.tests.items())
            if name not in known
            for place in places
        ]
        for name, reason in sorted(self.exceptions.items()):
            if name not in known:
                found.append(f"exceptions: there is no requirement {name}")
            if not reason.removeprefix(LATER).strip():
                found.append(f"exceptions: {name} has no reason")
            if name in self.tests:
                found.append(f"exceptions: {name} has a test too, in {self.tests[name][0]}")
        return found


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a table of tab-separated values; quotes in it are text."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def read_requirements(folder: Path) -> list[Requirement]:
    """All rows of `requirements*.tsv`, in the order of the files' names."""
    return [
        Requirement(row["id"], row["section"], row["force"], row["text"])
        for path in sorted(folder.glob("requirements*.tsv"), key=lambda path: path.stem)
        for row in read_rows(path)
    ]


def ids_in(text: str) -> list[str]:
    """The ids that a source file names, each as often as it does.

    >>> ids_in("# protocol:" + " data-files.2, beyond:void.1")
    ['data-files.2', 'beyond:void.1']
    """
    return [name for found in NAMED.finditer(text) for name in re.findall(ID, found[1])]


def named_in(top: Path, folders: Iterable[str] = SEARCHED) -> dict[str, list[str]]:
    """For every id that a source or test names: the files that name it."""
    places: dict[str, list[str]] = defaultdict(list)
    for folder in folders:
        for path in sorted((top / folder).rglob("*")):
            if path.suffix in {".rs", ".py"}:
                for name in dict.fromkeys(ids_in(path.read_text(encoding="utf-8"))):
                    places[name].append(path.relative_to(top).as_posix())
    return dict(places)


def coverage(shared: Path, top: Path) -> Coverage:
    """Read the requirements, the exceptions and the sources."""
    exceptions = top / "tests" / "requirements_exceptions.tsv"
    return Coverage(
        read_requirements(shared / "protocol"),
        named_in(top),
        {row["id"]: (row["reason"] or "").strip() for row in read_rows(exceptions)},
    )


def show_table(found: Coverage) -> None:
    """A line for each section and the sum."""
    counts: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(STATES, 0))
    for requirement in found.requirements:
        counts[requirement.section][found.state(requirement)] += 1
    width = max(map(len, counts), default=0)
    print(f"{'section':<{width}}  {'':<{BAR}}  covered  exception  later  open")
    for section, states in [*counts.items(), ("all", total(counts.values()))]:
        if section == "all":
            print("─" * (width + BAR + 36))
        columns = f"{states['covered']:>7}{states['exception']:>11}{states['later']:>7}{states['open']:>6}"
        print(f"{section:<{width}}  {bar(states)}  {columns}")


def total(counts: Iterable[dict[str, int]]) -> dict[str, int]:
    """The sum of the sections."""
    sums = dict.fromkeys(STATES, 0)
    for states in counts:
        for state, count in states.items():
            sums[state] += count
    return sums


def bar(states: dict[str, int]) -> str:
    """Covered as a full block, exceptions and what waits as paler ones, the rest as dots."""
    all_of_them = max(1, sum(states.values()))
    covered = round(BAR * states["covered"] / all_of_them)
    excepted = round(BAR * (states["covered"] + states["exception"]) / all_of_them) - covered
    later = round(BAR * (all_of_them - states["open"]) / all_of_them) - covered - excepted
    return "█" * covered + "▒" * excepted + "░" * later + "·" * (BAR - covered - excepted - later)


def show_open(found: Coverage) -> None:
    """The requirements without a test, with their text."""
    for requirement in found.requirements:
        if found.state(requirement) == "open":
            print(f"{requirement.id}  ({requirement.force})\n    {requirement.text}")


def main() -> int:
    """Print the table; 1 when something in it cannot be right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--open", action="store_true", help="list the requirements that have nothing yet")
    arguments = parser.parse_args()
    if not (SHARED / "protocol").is_dir():
        print("requirements: ../shared/protocol is not beside the project", file=sys.stderr)
        return 2
    found = coverage(SHARED, TOP)
    (show_open if arguments.open else show_table)(found)
    errors = found.errors()
    for error in errors:
        print(f"error: {error}", file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
