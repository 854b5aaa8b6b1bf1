"""The files that each version of a generated log adds and removes, derived from the spec."""

from __future__ import annotations

import numpy as np

from files import Numbers
from workload import TableSpec

CHECKPOINT_VERSION = 10


def first_version(spec: TableSpec) -> int:
    """Returns the version of the checkpoint, or 0."""
    return 0 if spec.form == "commits" else CHECKPOINT_VERSION


def last_version(spec: TableSpec) -> int:
    """Returns the newest version."""
    return first_version(spec) + spec.commits


def base(spec: TableSpec) -> Numbers:
    """Returns the live files of the checkpoint, or of version 0."""
    return np.arange(spec.adds, dtype=np.uint64)


def buried(spec: TableSpec) -> Numbers:
    """Returns the files whose tombstones are in the checkpoint."""
    return np.arange(spec.adds, spec.adds + spec.tombstones, dtype=np.uint64)


def added_in(spec: TableSpec, commit: int) -> Numbers:
    """Returns the files that a commit adds; commits are numbered from 1."""
    begin = spec.adds + spec.tombstones + (commit - 1) * spec.adds_per_commit
    return np.arange(begin, begin + spec.adds_per_commit, dtype=np.uint64)


def removed_in(spec: TableSpec, commit: int) -> Numbers:
    """Returns the files that a commit removes: spread over the checkpoint, or from the previous commit."""
    count = spec.removes_per_commit
    if spec.adds == 0:
        return added_in(spec, commit - 1)[:count] if commit > 1 else np.empty(0, dtype=np.uint64)
    stride = max(1, spec.adds // max(1, spec.commits * count))
    begin = (commit - 1) * count
    return np.arange(begin, begin + count, dtype=np.uint64) * np.uint64(stride)


def live(spec: TableSpec) -> Numbers:
    """Returns the live files at the last version, in order."""
    commits = range(1, spec.commits + 1)
    added = [base(spec), *(added_in(spec, commit) for commit in commits)]
    removed = [removed_in(spec, commit) for commit in commits]
    gone = np.concatenate(removed) if removed else np.empty(0, dtype=np.uint64)
    return np.setdiff1d(np.concatenate(added), gone, assume_unique=True)


def adds_in_log(spec: TableSpec) -> int:
    """Returns the number of add actions in the log, live or not."""
    return spec.adds + spec.commits * spec.adds_per_commit
