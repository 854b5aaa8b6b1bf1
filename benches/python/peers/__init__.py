"""Who is measured: for each peer a module that tells what it does for an operation, and what it answered.

A module is imported in the process that is measured, so what only the answer needs is imported there.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from answers import Answer

MODULES = {"deltaic": "peers.ours", "deltalake": "peers.delta_rs", "floor": "peers.floor"}
# The package whose version stands in the page.
PACKAGES = {"deltaic": "deltaic", "deltalake": "deltalake", "floor": "pyarrow"}


@dataclass(frozen=True)
class Call:
    """An operation of a peer."""

    run: Callable[[Any], Any]
    """What is timed; takes what `prepare` gave."""
    answer: Callable[[Any], Answer]
    """What came out, to be checked; takes what `run` gave."""
    prepare: Callable[[str], Any] = str
    """What comes before the clock starts; takes the table's path."""


def call_of(peer: str, operation: str) -> Call:
    """The peer's way to do the operation."""
    return importlib.import_module(MODULES[peer]).CALLS[operation]


def release_of(peer: str) -> str:
    """The version of the peer's package."""
    return version(PACKAGES[peer])


def program_of(peer: str) -> str:
    """A program for `python -c`: it lists the table in its first argument and prints how many files."""
    return importlib.import_module(MODULES[peer]).PROGRAM
