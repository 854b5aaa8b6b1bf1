"""Benchmarks deltaic and its peers end to end: `run.py [--scale 1] [--repeat 5] [--only v1,data*]`.

Tables are generated once and cached in `target/bench-tables`. `--check` compares the answers with the
expected ones and times nothing; `--generate` only generates the tables.
"""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import repeat
from pathlib import Path

import child
import peers
from budgets import missed
from figures import Line, Peer, line_of
from following import place_of
from generate import Manifest, generate, manifest_of
from report import page, write_json
from workload import Operation, RowsSpec, Workload, read_all

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent
TABLES = TOP / "target" / "bench-tables"
# The modules that determine the bytes of a table, besides its spec.
LOG_GENERATOR = ("actions", "checkpoints", "commits", "files", "generate", "history")
DATA_GENERATOR = ("data_files", "data_log", "deletions", "predicates", "row_digest", "rows")
FRESH_PROCESS = "fresh_process"
NOT_INSTALLED = "is not installed"


@dataclass
class Entry:
    """One peer and one operation."""

    operation: Operation
    peer: str
    release: str
    note: str = ""
    """A note on its answer."""
    failed: str = ""
    """Why it has no answer."""
    wrong: str = ""
    """What is wrong with its answer, which is then not timed."""

    def remark(self) -> str:
        """Returns the three as one sentence, for the page."""
        if self.wrong:
            return f"answers wrong: {self.wrong}"
        return f"fails: {self.failed}" if self.failed else self.note


def table_of(workload: Workload, tables: Path) -> tuple[Path, Manifest]:
    """Returns the workload's table; generates it unless the spec and the generator are unchanged."""
    digest = hashlib.blake2b(json.dumps(asdict(workload.table), sort_keys=True).encode(), digest_size=6)
    for module in DATA_GENERATOR if isinstance(workload.table, RowsSpec) else LOG_GENERATOR:
        digest.update((HERE / f"{module}.py").read_bytes())
    folder = tables / f"{workload.name}-{digest.hexdigest()}"
    manifest = manifest_of(folder)
    if manifest is not None:
        place_of(folder).unlink(missing_ok=True)  # an earlier run may have stopped in a refresh
        return folder, manifest
    shutil.rmtree(folder, ignore_errors=True)  # or during the generation
    print(f"generating {workload.name}", flush=True)
    return folder, generate(workload.table, folder)


def check(workload: Workload, table: Path, manifest: Manifest) -> list[Entry]:
    """Verifies every peer's answer to every operation. If deltaic fails, its answer counts as wrong."""
    entries = [
        Entry(operation, peer, peers.release_of(peer))
        for operation in workload.operations
        for peer in operation.peers
    ]
    for peer in dict.fromkeys(entry.peer for entry in entries):
        mine = [entry for entry in entries if entry.peer == peer]
        outcomes = (
            answers(peer, mine, table, manifest) if mine[0].release else repeat({"failed": NOT_INSTALLED})
        )
        for entry, found in zip(mine, outcomes, strict=False):
            entry.note, entry.failed = found.get("note", ""), found.get("failed", "")
            entry.wrong = found.get("wrong", entry.failed if peer == "deltaic" else "")
            text = entry.remark() if entry.wrong or entry.failed else f"answers right {entry.note}".rstrip()
            print(f"{workload.name} {entry.operation.name}: {peer} {entry.release} {text}", flush=True)
    return entries


def answers(peer: str, entries: list[Entry], table: Path, manifest: Manifest) -> Iterator[dict]:
    """Yields the outcome of each check; they share a process, since nothing is timed."""
    names = [entry.operation.name for entry in entries]
    try:
        if names == [FRESH_PROCESS]:
            found = child.program(peer, table)["num_files"]
            right = manifest.num_files if peer != "floor" else None
            yield {} if found == right else {"wrong": f"{found} files, right is {right}"}
            return
        yield from child.measure(peer, ",".join(names), str(table), "--check")
    except child.ChildFailedError as error:
        yield from ({"failed": str(error)} for _ in names)


def measure(workload: Workload, entries: list[Entry], table: Path, repetitions: int) -> list[Line]:
    """Measures all operations and peers in turn, so that slow periods of the machine affect all of them."""
    runs: list[list[dict]] = [[] for _ in entries]
    all_of_them = list(zip(entries, runs, strict=True))
    turn = [
        (entry, mine)
        for operation in workload.operations
        for entry, mine in operation.times * [one for one in all_of_them if one[0].operation == operation]
    ]
    for entry, mine in repetitions * turn:
        if entry.failed or entry.wrong:
            continue
        try:
            if entry.operation.name == FRESH_PROCESS:
                mine.append(child.program(entry.peer, table))
            else:
                mine.extend(child.measure(entry.peer, entry.operation.name, str(table)))
        except child.ChildFailedError as error:
            entry.failed = str(error)
            place_of(table).unlink(missing_ok=True)
    print(f"{workload.name}: measured", flush=True)
    return [
        line_of(workload.name, entry.operation, Peer(entry.peer, entry.release, entry.remark()), mine)
        for entry, mine in all_of_them
    ]


def main() -> int:
    """Checks, measures and reports; returns 1 if an answer is wrong or a budget missed beyond the noise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="share of each workload's size (default 1)")
    parser.add_argument("--repeat", type=int, default=5, help="repetitions of each measurement (default 5)")
    parser.add_argument(
        "--only", default="", help="names of workloads, with commas between; data* is all of them"
    )
    parser.add_argument("--check", action="store_true", help="check the answers, time nothing")
    parser.add_argument("--generate", action="store_true", help="make the tables, check and time nothing")
    parser.add_argument("--tables", type=Path, default=TABLES, help="where generated tables are kept")
    parser.add_argument("--markdown", type=Path, help="write the page here")
    parser.add_argument("--json", type=Path, default=TOP / "target" / "benchmarks.json")
    arguments = parser.parse_args()
    known = {workload.name: workload.scaled(arguments.scale) for workload in read_all()}
    names = []
    for wanted in arguments.only.split(",") if arguments.only else known:
        if not (found := fnmatch.filter(known, wanted)):
            parser.error(f"no workload is called {wanted}: there are {', '.join(known)}")
        names += found
    workloads = [known[name] for name in dict.fromkeys(names)]
    lines: list[Line] = []
    wrong: list[str] = []
    for workload in workloads:
        table, manifest = table_of(workload, arguments.tables)
        if arguments.generate:
            continue
        entries = check(workload, table, manifest)
        wrong += [
            f"{workload.name} {entry.operation.name}: {entry.peer}: {entry.wrong}"
            for entry in entries
            if entry.wrong and entry.peer not in entry.operation.unable
        ]
        if not arguments.check:
            lines += measure(workload, entries, table, arguments.repeat)
    for text in wrong:
        print(f"wrong answer: {text}", file=sys.stderr)
    if arguments.check or arguments.generate:
        return 1 if wrong else 0
    before = arguments.markdown.read_text() if arguments.markdown and arguments.markdown.exists() else ""
    text = page(lines, workloads, arguments.scale, arguments.repeat, before)
    print("\n" + text)
    write_json(lines, arguments.scale, arguments.json)
    if wrong:
        return 1  # without a page: only correct results are published
    if arguments.markdown:
        arguments.markdown.write_text(text)
    over = missed(lines, workloads) if arguments.scale == 1 else []
    for text in over:
        print(f"budget missed: {text}", file=sys.stderr)
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
