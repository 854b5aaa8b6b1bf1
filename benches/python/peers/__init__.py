"""The measured peers: each module defines how its peer runs an operation, and extracts the result.

A module is imported in the measured process, so imports that only the verification needs are local.
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
# The package whose version is shown on the page.
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
    """The timed part; takes the result of `prepare`."""
    answer: Callable[[Any], Answer]
    """Extracts the answer to verify; takes the result of `run`."""
    prepare: Callable[[str], Any] = str
    """Runs before the clock starts; takes the table's path."""
    kept: Callable[[Any], Any] | None = None
    """Replaces `run` for verification, if the timed run drops the rows it read."""

    @classmethod
    def of_rows(
        cls,
        batches: Callable[[Any], Iterable[Any]],
        prepare: Callable[[str], Any] = str,
        timed: Callable[[Any], Iterable[Any]] | None = None,
    ) -> Call:
        """Returns a scan: consumes all batches in order, as Arrow or in the form of `timed`."""
        drained = timed or batches
        return cls(lambda state: drain(drained(state)), scan_answer, prepare, batches)


def importing(*modules: str) -> Callable[[str], str]:
    """Imports further modules that a peer needs, outside of the measured time."""

    def prepare(uri: str) -> str:
        for module in modules:
            importlib.import_module(module)
        return uri

    return prepare


def drain(batches: Iterable[Any]) -> int:
    """Consumes all batches without keeping them."""
    rows = 0
    for batch in batches:
        rows += len(batch)
    return rows


def scan_answer(batches: Iterable[Any]) -> Answer:
    """Returns the digest of the rows."""
    from answers import Answer
    from row_digest import digest_of

    return Answer(digest=digest_of(batches))


def rows_answer(rows: int) -> Answer:
    """Returns the number of rows as an answer."""
    from answers import Answer

    return Answer(num_rows=rows)


def call_of(peer: str, operation: str) -> Call:
    """Returns the peer's implementation of the operation."""
    return importlib.import_module(MODULES[peer]).CALLS[operation]


def release_of(peer: str) -> str:
    """Returns the version of the peer's package; empty if it is not installed."""
    try:
        return version(PACKAGES[peer])
    except PackageNotFoundError:
        return ""


def program_of(peer: str) -> str:
    """Returns a program for `python -c` that lists the table `argv[1]` and prints the file count."""
    return importlib.import_module(MODULES[peer]).PROGRAM
