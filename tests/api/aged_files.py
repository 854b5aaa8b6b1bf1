"""Makes a table older, so that its files and tombstones expire: without waiting, and without deltaic."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from pathlib import Path

DAYS_30 = timedelta(days=30)


def age(root: Path, by: timedelta = DAYS_30) -> None:
    """Moves the times of all files and folders, and of all tombstones of commits, into the past."""
    nanos = by // timedelta(microseconds=1) * 1000
    for commit in (root / "_delta_log").glob("*.json"):
        found = commit.stat()
        lines = [json.loads(line) for line in commit.read_bytes().splitlines()]
        for line in lines:
            if "remove" in line and line["remove"].get("deletionTimestamp") is not None:
                line["remove"]["deletionTimestamp"] -= nanos // 1_000_000
        commit.write_text("".join(json.dumps(line) + "\n" for line in lines))
        os.utime(commit, ns=(found.st_atime_ns, found.st_mtime_ns))
        # Hadoop's checksum of the file.
        (commit.parent / f".{commit.name}.crc").unlink(missing_ok=True)
    for place in sorted(root.rglob("*"), reverse=True):
        found = place.lstat()
        times = (found.st_atime_ns - nanos, found.st_mtime_ns - nanos)
        os.utime(place, ns=times, follow_symlinks=False)


def files_of(root: Path) -> set[str]:
    """Returns the files outside of the log, relative to the root."""
    found = (path for path in root.rglob("*") if not path.is_dir())
    names = {path.relative_to(root).as_posix() for path in found}
    return {name for name in names if not name.startswith("_delta_log/")}
