"""Properties that deserve a warning: those that deltaic ignores, and those that exclude another reader."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from contextlib import suppress

from deltaic.exceptions import DeltaicWarning

__all__ = ["IGNORED", "UNREADABLE", "warn_of_ignored"]

_COMPACTS_NO_DATA = "it does not compact data files"

IGNORED: Mapping[str, str] = {
    "delta.autoOptimize": _COMPACTS_NO_DATA,
    "delta.autoOptimize.autoCompact": _COMPACTS_NO_DATA,
    "delta.compatibility.symlinkFormatManifest.enabled": "it does not update symlink manifests",
    "delta.universalFormat.enabledFormats": "it does not write metadata of other formats",
}
"""Properties that deltaic does not implement, with the consequence."""

UNREADABLE: Mapping[tuple[str, str], str] = {
    (
        "delta.parquet.compression.codec",
        "brotli",
    ): ("Spark cannot read such files: it comes without this codec"),
}
"""Properties and values that make files unreadable for another reader, with the reason."""

_DISABLED = ("false", "")


def warn_of_ignored(properties: Iterable[tuple[str, str]], stacklevel: int) -> None:
    """Warns of each newly set property that deltaic ignores, or that excludes another reader.

    >>> warn_of_ignored([("delta.appendOnly", "true")], stacklevel=1)
    """
    for key, value in properties:
        message = _warning(key.lower(), value.strip().lower())
        if message is not None:
            # The property is committed: if warnings are turned into errors, the caller would take it for
            # failed.
            with suppress(DeltaicWarning):
                warnings.warn(message, DeltaicWarning, stacklevel=stacklevel + 1)


def _warning(key: str, value: str) -> str | None:
    unreadable = UNREADABLE.get((key, value))
    if unreadable is not None:
        return f"{key} is {value}: {unreadable}"
    name = next((name for name in IGNORED if name.lower() == key), None)
    if name is None or value in _DISABLED:
        return None
    return f"deltaic ignores {name}: {IGNORED[name]}"
