"""Who is measured: for each peer a module that tells what it does for an operation, and what it answered.

A module is imported in the process that is measured, so what only the answer needs is imported there.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from answers import Answer

MODULES = {
    "deltaic": "peers.ours",
    "deltalake": "peers.delta_rs",
    "deltalake_uris": "peers.delta_rs_uris",
    "polars": "peers.polars_frame",
    "polars_arrow": "peers.polars_arrow",
    "daft": "peers.daft_frame",
    "pyarrow": "peers.arrow_dataset",
    "floor": "peers.floor",
}
# The package whose version stands in the page.
PACKAGES = {
    **{peer: peer for peer in MODULES},
    "floor": "pyarrow",
    "polars_arrow": "polars",
    "deltalake_uris": "deltalake",
}


@dataclass(frozen=True)
class Call:
    """An operation of a peer."""

    run: Callable[[Any], Any]
    """What is timed; takes what `prepare` gave."""
    answer: Callable[[Any], Answer]
    """What came out, to be checked; takes what `run` gave."""
    prepare: Callable[[str], Any] = str
    """What comes before the clock starts; takes the table's path."""
    kept: Callable[[Any], Any] | None = None
    """Run instead of `run` where there is something to check: what is timed has dropped the rows it read."""

    @classmethod
    def of_rows(
        cls,
        batches: Callable[[Any], Iterable[Any]],
        prepare: Callable[[str], Any] = str,
        timed: Callable[[Any], Iterable[Any]] | None = None,
    ) -> Call:
        """A scan: all batches are taken one after another, as Arrow or as what `timed` gives instead."""
        drained = timed or batches
        return cls(lambda state: drain(drained(state)), scan_answer, prepare, batches)


def importing(*modules: str) -> Callable[[str], str]:
    """What a peer needs besides itself, imported where no clock sees it."""

    def prepare(uri: str) -> str:
        for module in modules:
            importlib.import_module(module)
        return uri

    return prepare


def drain(batches: Iterable[Any]) -> int:
    """Take all batches and keep none."""
    rows = 0
    for batch in batches:
        rows += len(batch)
    return rows


def scan_answer(batches: Iterable[Any]) -> Answer:
    """What the rows sum up to."""
    from answers import Answer
    from row_digest import digest_of

    return Answer(digest=digest_of(batches))


def rows_answer(rows: int) -> Answer:
    """How many rows there are."""
    from answers import Answer

    return Answer(num_rows=rows)


def call_of(peer: str, operation: str) -> Call:
    """The peer's way to do the operation."""
    return importlib.import_module(MODULES[peer]).CALLS[operation]


def release_of(peer: str) -> str:
    """The version of the peer's package; nothing where it is not installed."""
    try:
        return version(PACKAGES[peer])
    except PackageNotFoundError:
        return ""


def program_of(peer: str) -> str:
    """A program for `python -c`: it lists the table in its first argument and prints how many files."""
    return importlib.import_module(MODULES[peer]).PROGRAM
