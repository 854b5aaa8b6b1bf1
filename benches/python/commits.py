"""Writes the commits of a generated log. Section: Delta Log Entries."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import actions
from files import files_of
from history import added_in, base, first_version, removed_in
from workload import TableSpec

BLOCK = 50_000
COMMITS_AT_ONCE = 1_000


def write_first(spec: TableSpec, log: Path) -> None:
    """Writes version 0, with all of its files in one commit."""
    head = [
        {"commitInfo": actions.commit_info(0)},
        {"protocol": actions.protocol(spec)},
        {"metaData": actions.metadata(spec)},
    ]
    with (log / f"{0:020}.json").open("w", encoding="utf-8") as file:
        file.writelines(line(action) for action in head)
        numbers = base(spec)
        for begin in range(0, len(numbers), BLOCK):
            texts = actions.add_lines(files_of(spec, numbers[begin : begin + BLOCK])).to_pylist()
            file.write("\n".join(texts) + "\n")


def write_commits(spec: TableSpec, log: Path, following: Path) -> None:
    """Writes all commits after the first version; the one after the last goes to `following`."""
    for begin in range(1, spec.commits + 2, COMMITS_AT_ONCE):
        commits = range(begin, min(begin + COMMITS_AT_ONCE, spec.commits + 2))
        added = [added_in(spec, commit) for commit in commits]
        removed = [removed_in(spec, commit) if commit <= spec.commits else added[0][:0] for commit in commits]
        adds = iter(actions.add_lines(files_of(spec, np.concatenate(added))).to_pylist())
        gone = files_of(spec, np.concatenate(removed), statistics=False)
        removes = iter(actions.remove_lines(gone).to_pylist())
        for commit, plus, minus in zip(commits, added, removed, strict=True):
            version = first_version(spec) + commit
            lines = [line({"commitInfo": actions.commit_info(version)})]
            lines += [next(adds) + "\n" for _ in plus]
            lines += [next(removes) + "\n" for _ in minus]
            path = log / f"{version:020}.json" if commit <= spec.commits else following
            path.write_text("".join(lines), encoding="utf-8")


def line(action: dict) -> str:
    """Returns an action as a line of a commit."""
    return json.dumps(action, separators=(",", ":")) + "\n"
