"""Log records of what deltaic does and how long it takes, for Python's `logging`."""

from __future__ import annotations

import logging

from deltaic import _rust

__all__ = ["disable_logging", "enable_logging"]

LOGGER = logging.getLogger("deltaic")


def enable_logging(level: int | str | None = None) -> None:
    """Passes records of requests, log replay, planning, reading, commits and maintenance to `logging`.

    Each record ends with the time that the step took. The loggers are ``deltaic.storage`` (each request to a
    store), ``deltaic.log`` (listing and replay), ``deltaic.scan``, ``deltaic.commit`` and
    ``deltaic.maintenance``. If no handler is configured, records are written to standard error. Records
    arrive while a call of deltaic waits, or at its end. Secrets are never recorded.

    Args:
        level: ``"INFO"`` for one record of each operation, ``"DEBUG"`` also for steps, files and requests.
            By default the level of the logger ``deltaic`` if it is set, otherwise ``"INFO"``.

    Raises:
        ValueError: The level is unknown.

    >>> import deltaic, pyarrow
    >>> table = deltaic.Table.create("boats", pyarrow.schema([("id", pyarrow.int64())]))
    >>> deltaic.enable_logging("INFO")
    >>> commit = table.append(pyarrow.table({"id": [1]}))
    >>> deltaic.disable_logging()
    """
    if level is None:
        level = LOGGER.level or logging.INFO
    LOGGER.setLevel(level)
    if not LOGGER.hasHandlers():
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)-5s %(name)s: %(message)s"))
        LOGGER.addHandler(handler)
    _rust.set_log_level(LOGGER.level)


def disable_logging() -> None:
    """Stops what `enable_logging` started. The loggers keep their levels and handlers."""
    _rust.set_log_level(None)
