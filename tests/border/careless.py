"""Where a careless reader would look for a path of the log.

A test that says that nothing was opened proves something only if there is something to open: each spelling
that it tries must lead such a reader to a watched file.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

# What a reader may do to a path beyond the one decoding that the protocol demands.
MISREADINGS: list[Callable[[str], str]] = [
    unquote,
    lambda path: path.replace("\\", "/"),
    lambda path: re.sub(r"(?i)^file:(//[^/]*(?=/))?", "", path),
    lambda path: re.sub("[\0\n]", "", path),
    lambda path: path.replace("%c0%ae", "."),
    lambda path: unicodedata.normalize("NFKC", path),
    os.path.expanduser,
    os.path.expandvars,
]


def places(root: Path, path: str) -> set[Path]:
    """The files that it could come to, from a table's root."""
    readings = {path}
    for _ in range(2):
        readings |= {misread(reading) for misread in MISREADINGS for reading in readings}
    named = {root / reading for reading in readings if "\0" not in reading}
    # POSIX leaves open what two slashes at the front mean; Linux takes them for one.
    return {Path("/" + os.path.normpath(name).lstrip("/")) for name in named}
