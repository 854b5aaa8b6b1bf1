"""Verifies answers: exactly the expected files or rows, and every column as written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import history
from changing import ADDED
from files import Files, Numbers, files_of, numbers_of
from generate import Manifest
from predicates import DAY, RANGE_COLUMN, RANGE_HIGH, RANGE_LOW
from row_digest import Digest
from workload import TableSpec

BLOCK = 100_000
KEY_COLUMNS = frozenset({"path", "size", "modification_time", "day"})


class WrongAnswerError(Exception):
    """A peer's answer is wrong: its time would be meaningless."""


@dataclass(frozen=True)
class Answer:
    """A peer's answer. For a list of files: columns by the names of `Files.columns`, `path` at least."""

    version: int | None = None
    num_files: int | None = None
    """If no file was listed."""
    columns: dict[str, pa.Array] = field(default_factory=dict)
    adds_in_log: int | None = None
    """The actions that a floor parsed; it replays nothing, so it knows no live files."""
    digest: Digest | None = None
    """Of the rows that were read."""
    num_rows: int | None = None
    """If rows were only counted."""


def check(operation: str, answer: Answer, manifest: Manifest, *, exact: bool) -> str:
    """Raises if the answer is wrong; returns a note on a correct one.

    A file matches a range if its minimum and maximum overlap it. There are no data files, so nothing more is
    known: a missing file is wrong, and an additional file is wrong if the answer must be `exact`.
    """
    if operation in manifest.answers:
        check_rows(answer, Digest(**manifest.answers[operation]))
        return ""
    spec = TableSpec(**manifest.spec)
    if answer.adds_in_log is not None:
        adds = spec.adds_per_commit if operation == "refresh" else manifest.adds_in_log
        same("add actions parsed", answer.adds_in_log, adds)
        return ""
    if operation in ("refresh", "append_row"):
        added = ADDED if operation == "append_row" else spec.adds_per_commit
        same("version", answer.version, manifest.version + 1)
        same("num_files", answer.num_files, manifest.num_files + added)
        return ""
    if answer.version is not None:
        same("version", answer.version, manifest.version)
    return check_files(operation, answer.columns, manifest, spec, exact=exact)


def check_rows(answer: Answer, right: Digest) -> None:
    """Raises unless these are the expected rows, or their number."""
    if answer.digest is None:
        same("the number of rows", answer.num_rows, right.rows)
        return
    found = answer.digest
    same("the number of rows", found.rows, right.rows)
    same("the columns", sorted(found.columns), sorted(right.columns))
    for name, value in right.columns.items():
        if found.columns[name] != value:
            raise WrongAnswerError(f"column {name} is not as written")
    if found.whole != right.whole:
        raise WrongAnswerError("values stand in rows that are not theirs")


def check_files(
    operation: str, columns: dict[str, pa.Array], manifest: Manifest, spec: TableSpec, *, exact: bool
) -> str:
    """Raises unless these are the expected files, with the expected values."""
    try:
        numbers = numbers_of(columns["path"])
    except pa.ArrowInvalid as error:
        raise WrongAnswerError(f"a path is not of this table: {error}") from error
    if operation in MATCHES:
        right = matching(spec, MATCHES[operation])
    else:
        same("num_files", len(numbers), manifest.num_files)
        if "size" in columns:
            same("size_in_bytes", pc.sum(columns["size"]).as_py(), manifest.size_in_bytes)
        right = history.live(spec)
    found = np.sort(numbers)
    if len(np.unique(found)) != len(found):
        raise WrongAnswerError("a file stands twice")
    if exact and not np.array_equal(found, right):
        raise WrongAnswerError(f"{len(found)} files that are not the {len(right)} right ones")
    if not np.isin(right, found).all():
        raise WrongAnswerError(f"{len(found)} files that are not all of the {len(right)} right ones")
    if not np.isin(found, history.live(spec)).all():
        raise WrongAnswerError(f"{len(found)} files that are not all live")
    statistics = any(name.startswith("min.") for name in columns)
    for begin in range(0, len(numbers), BLOCK):
        facts = files_of(spec, numbers[begin : begin + BLOCK], statistics=statistics).columns()
        for name, column in columns.items():
            if not whole(column.slice(begin, BLOCK)).cast(facts[name].type).equals(facts[name]):
                raise WrongAnswerError(f"column {name} is not as written")
    return "" if len(found) == len(right) else f"keeps {len(found):,} files where {len(right):,} can match"


def whole(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Returns the column as one chunk."""
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def same(what: str, found: object, right: object) -> None:
    """Raises unless the two are equal."""
    if found != right:
        raise WrongAnswerError(f"{what} is {found}, right is {right}")


def matching(spec: TableSpec, match: Callable[[Files], pa.BooleanArray]) -> Numbers:
    """Returns the live files that match, in order."""
    live = history.live(spec)
    parts = []
    for begin in range(0, len(live), BLOCK):
        numbers = live[begin : begin + BLOCK]
        parts.append(numbers[np.asarray(match(files_of(spec, numbers)))])
    return np.concatenate(parts)


def overlaps(files: Files) -> pa.BooleanArray:
    """Returns which files' minimum and maximum overlap the range."""
    above = pc.greater_equal(files.high[RANGE_COLUMN], RANGE_LOW)
    return pc.and_(above, pc.less_equal(files.low[RANGE_COLUMN], RANGE_HIGH))


def on_the_day(files: Files) -> pa.BooleanArray:
    """Returns which files are in the partition."""
    return pc.equal(files.day.cast(pa.string()), DAY)


MATCHES = {"open_and_prune_range": overlaps, "open_and_prune_partition": on_the_day}
