"""Reports which files and folders any reader opened; the kernel reports it, so that none is missed."""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterator
from pathlib import Path

# From <sys/inotify.h>; reading name, size or times of a file causes none of these events.
IN_ACCESS, IN_MODIFY, IN_OPEN = 0x1, 0x2, 0x20
IN_MOVED_FROM, IN_MOVED_TO, IN_CREATE, IN_DELETE = 0x40, 0x80, 0x100, 0x200
IN_Q_OVERFLOW, IN_ISDIR = 0x4000, 0x40000000
OPENED = IN_OPEN | IN_ACCESS
CHANGED = IN_MODIFY | IN_MOVED_FROM | IN_MOVED_TO | IN_CREATE | IN_DELETE


class Watch:
    """Watches files and folders, not recursively; Linux only."""

    def __init__(self, *paths: Path) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self.handle: int = libc.inotify_init1(os.O_NONBLOCK)
        self.names: dict[int, Path] = {}
        for path in paths:
            watched: int = libc.inotify_add_watch(self.handle, os.fsencode(path), OPENED | CHANGED)
            assert watched >= 0, os.strerror(ctypes.get_errno())
            self.names[watched] = path

    def touched(self) -> set[Path]:
        """Returns what was opened or changed since the last call, including new files in watched folders.

        A folder counts if its names are read: to detect cycles of links, a listing opens the folder that a
        link refers to and compares its identity.
        """
        return {path for path, mask in self._events() if mask & ~(IN_ISDIR | IN_OPEN) or not mask & IN_ISDIR}

    def read(self) -> set[Path]:
        """Returns what was read, not only opened, since the last call."""
        return {path for path, mask in self._events() if mask & IN_ACCESS}

    def _events(self) -> Iterator[tuple[Path, int]]:
        while True:
            try:
                events = os.read(self.handle, 1 << 16)
            except BlockingIOError:
                return
            at = 0
            while at < len(events):
                watched, mask, _, length = struct.unpack_from("iIII", events, at)
                assert not mask & IN_Q_OVERFLOW, "the kernel dropped events"
                name = os.fsdecode(events[at + 16 : at + 16 + length].rstrip(b"\0"))
                if watched in self.names:
                    yield self.names[watched] / name, mask
                at += 16 + length

    def close(self) -> None:
        """Stops watching."""
        os.close(self.handle)
