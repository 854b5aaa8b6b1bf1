"""Properties that a table may have for other writers, and that deltaic does not do anything about."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from contextlib import suppress

from deltaic.exceptions import DeltaicWarning

__all__ = ["UNHEEDED", "warn_of_unheeded"]

_COMPACTS_NO_DATA = "it joins no data files"

UNHEEDED: Mapping[str, str] = {
    "delta.autoOptimize": _COMPACTS_NO_DATA,
    "delta.autoOptimize.autoCompact": _COMPACTS_NO_DATA,
    "delta.autoOptimize.optimizeWrite": _COMPACTS_NO_DATA,
    "delta.compatibility.symlinkFormatManifest.enabled": "it writes no manifests, and old ones grow older",
    "delta.universalFormat.enabledFormats": "it writes no metadata of other formats",
    "delta.writePartitionColumnsToParquet": "it writes partition values into the log alone",
}
"""What deltaic does not do, by the property that asks for it."""

_UNASKED = ("false", "")


def warn_of_unheeded(properties: Iterable[tuple[str, str]], stacklevel: int) -> None:
    """Warns of each property that was set and asks for what deltaic does not do.

    >>> warn_of_unheeded([("delta.appendOnly", "true")], stacklevel=1)
    """
    known = {name.lower(): name for name in UNHEEDED}
    for key, value in properties:
        name = known.get(key.lower())
        if name is not None and value.strip().lower() not in _UNASKED:
            told = f"{name} is set for other writers than deltaic: {UNHEEDED[name]}"
            # The table says so already: whoever makes errors of warnings would take it for one that does not.
            with suppress(DeltaicWarning):
                warnings.warn(told, DeltaicWarning, stacklevel=stacklevel + 1)
