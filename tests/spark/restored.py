"""Restores the session settings that tests change, so that no module depends on those before it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def restored(session: SparkSession) -> Iterator[SparkSession]:
    """Restores all settings of the session at the end of the block."""
    before = session.conf.getAll
    try:
        yield session
    finally:
        after = session.conf.getAll
        for name in after.keys() - before.keys():
            session.conf.unset(name)
        for name, value in before.items():
            if after.get(name) != value:
                session.conf.set(name, value)
