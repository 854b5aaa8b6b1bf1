"""Files that a careless reader would open for a path in the log.

A test that no file was opened is meaningful only if there is one to open: each spelling that it tries must
lead such a reader to a watched file.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

# What a reader may do to a path beyond the single decoding that the protocol requires.
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
    """Returns the files that the path may resolve to, from a table's root."""
    readings = {path}
    for _ in range(2):
        readings |= {misread(reading) for misread in MISREADINGS for reading in readings}
    named = {root / reading for reading in readings if "\0" not in reading}
    # POSIX does not specify the meaning of two leading slashes; Linux treats them as one.
    return {Path("/" + os.path.normpath(name).lstrip("/")) for name in named}
