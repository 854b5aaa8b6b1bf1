"""deltaic beside its peers, end to end: `python benches/python/run.py [--scale 1] [--repeat 5]`.

Tables are generated once and kept under `target/bench-tables`. `--check` compares the answers with the
manifests and times nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from generate import Manifest, generate
from report import Line, line_of, markdown, write_json
from workload import Workload, read_all

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent
TABLES = TOP / "target" / "bench-tables"


class WrongAnswerError(Exception):
    """A peer did not answer what the manifest says: its time would mean nothing."""


def table_of(workload: Workload, tables: Path) -> tuple[Path, Manifest]:
    """The workload's table; generated when none is there of this spec and this generator."""
    spec = json.dumps(asdict(workload.table), sort_keys=True).encode()
    key = hashlib.blake2b(spec + (HERE / "generate.py").read_bytes(), digest_size=6).hexdigest()
    folder = tables / f"{workload.name}-{key}"
    if (folder / "manifest.json").exists():
        return folder, Manifest(**json.loads((folder / "manifest.json").read_text()))
    shutil.rmtree(folder, ignore_errors=True)  # an earlier run may have been stopped half way
    print(f"generating {workload.name}: {workload.table.adds:,} files", flush=True)
    return folder, generate(workload.table, folder)


def child(*arguments: str) -> dict:
    """What `measure.py` printed, from a fresh process."""
    done = subprocess.run(
        [sys.executable, str(HERE / "measure.py"), *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"measure.py {' '.join(arguments)} failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def check(workload: Workload, peer: str, table: Path, manifest: Manifest) -> str:
    """Compare a peer's answer with the manifest; return the peer's version."""
    found = child(peer, workload.operation, str(table), "--answer")
    if found["answer"] != asdict(manifest):
        raise WrongAnswerError(f"{workload.name}: {peer} says {found['answer']}, right is {asdict(manifest)}")
    print(f"{workload.name}: {peer} {found['release']} answers right", flush=True)
    return found["release"]


def measure(workload: Workload, releases: dict[str, str], table: Path, repetitions: int) -> list[Line]:
    """All peers in turn, again and again, so that what slows the machine slows each of them."""
    runs: dict[str, list[dict[str, float]]] = {peer: [] for peer in releases}
    for _ in range(repetitions):
        for peer, found in runs.items():
            found.append(child(peer, workload.operation, str(table)))
    return [line_of(workload.name, peer, releases[peer], found) for peer, found in runs.items()]


def main() -> int:
    """Check, measure, report; 1 when an answer is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="share of each workload's size (default 1)")
    parser.add_argument("--repeat", type=int, default=5, help="repetitions of each measurement (default 5)")
    parser.add_argument("--check", action="store_true", help="check the answers, time nothing")
    parser.add_argument("--tables", type=Path, default=TABLES, help="where generated tables are kept")
    parser.add_argument("--markdown", type=Path, help="write the table of ratios here")
    parser.add_argument("--json", type=Path, default=TOP / "target" / "benchmarks.json")
    arguments = parser.parse_args()
    lines: list[Line] = []
    workloads = [workload.scaled(arguments.scale) for workload in read_all()]
    for workload in workloads:
        table, manifest = table_of(workload, arguments.tables)
        try:
            releases = {peer: check(workload, peer, table, manifest) for peer in workload.peers}
        except WrongAnswerError as error:
            print(f"wrong answer: {error}", file=sys.stderr)
            return 1
        if not arguments.check:
            lines += measure(workload, releases, table, arguments.repeat)
    if arguments.check:
        return 0
    page = markdown(lines, {workload.name: workload.what for workload in workloads}, arguments.scale)
    print("\n" + page)
    write_json(lines, arguments.scale, arguments.json)
    if arguments.markdown:
        arguments.markdown.write_text(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
