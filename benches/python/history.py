"""Which files a generated log adds and removes, and in which version; all of it follows from the spec."""

from __future__ import annotations

import numpy as np

from files import Numbers
from workload import TableSpec

CHECKPOINT_VERSION = 10


def first_version(spec: TableSpec) -> int:
    """The version of the checkpoint, or 0."""
    return 0 if spec.form == "commits" else CHECKPOINT_VERSION


def last_version(spec: TableSpec) -> int:
    """The version that a reader finds."""
    return first_version(spec) + spec.commits


def base(spec: TableSpec) -> Numbers:
    """The live files of the checkpoint, or of version 0."""
    return np.arange(spec.adds, dtype=np.uint64)


def buried(spec: TableSpec) -> Numbers:
    """The files that the checkpoint has tombstones of."""
    return np.arange(spec.adds, spec.adds + spec.tombstones, dtype=np.uint64)


def added_in(spec: TableSpec, commit: int) -> Numbers:
    """The files that a commit adds; commits count from 1."""
    begin = spec.adds + spec.tombstones + (commit - 1) * spec.adds_per_commit
    return np.arange(begin, begin + spec.adds_per_commit, dtype=np.uint64)


def removed_in(spec: TableSpec, commit: int) -> Numbers:
    """The files that a commit removes: from all over the checkpoint, or from the commit before."""
    count = spec.removes_per_commit
    if spec.adds == 0:
        return added_in(spec, commit - 1)[:count] if commit > 1 else np.empty(0, dtype=np.uint64)
    stride = max(1, spec.adds // max(1, spec.commits * count))
    begin = (commit - 1) * count
    return np.arange(begin, begin + count, dtype=np.uint64) * np.uint64(stride)


def live(spec: TableSpec) -> Numbers:
    """The live files at the last version, in order."""
    commits = range(1, spec.commits + 1)
    added = [base(spec), *(added_in(spec, commit) for commit in commits)]
    removed = [removed_in(spec, commit) for commit in commits]
    gone = np.concatenate(removed) if removed else np.empty(0, dtype=np.uint64)
    return np.setdiff1d(np.concatenate(added), gone, assume_unique=True)


def adds_in_log(spec: TableSpec) -> int:
    """How many add actions the log holds, live or not."""
    return spec.adds + spec.commits * spec.adds_per_commit
