"""What the checks of a table found."""

from __future__ import annotations

from dataclasses import dataclass

from deltaic.advice.clients import ClientSupport
from deltaic.advice.columns import ColumnClustering
from deltaic.advice.downgrade import DowngradeStep
from deltaic.advice.recommendation import Recommendation

__all__ = ["AdviceResults"]


@dataclass(frozen=True)
class AdviceResults:
    """What the checks found; `Advice` adds its formats."""

    uri: str
    """The table's root."""

    version: int
    """The version that was examined."""

    num_files: int
    size_in_bytes: int
    num_rows: int | None
    """None if the log does not specify it."""

    findings: tuple[Recommendation, ...] = ()
    """The most important first."""

    columns: tuple[ColumnClustering, ...] = ()
    """The clustering of the clustering columns and of the columns in ``filters``."""

    clients: tuple[ClientSupport, ...] = ()
    """Which known clients can read and write the table."""

    downgrade: tuple[DowngradeStep, ...] = ()
    """How to drop the features that known clients lack, in this order."""
