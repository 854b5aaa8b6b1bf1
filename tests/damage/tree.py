"""Contents of a folder, to assert that nothing changed."""

from __future__ import annotations

import hashlib
from pathlib import Path


def tree(root: Path) -> dict[str, str]:
    """Returns every file and folder below `root`, with the hash of its content."""
    return {
        path.relative_to(root).as_posix(): "folder"
        if path.is_dir()
        else hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_dir() or path.is_file()
    }
