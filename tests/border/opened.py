"""Which files and folders anybody opened: reported by the kernel, so that no reader can be overlooked."""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterator
from pathlib import Path

# Of <sys/inotify.h>; a look at a file's name, size or times is none of them.
IN_ACCESS, IN_MODIFY, IN_OPEN = 0x1, 0x2, 0x20
IN_MOVED_FROM, IN_MOVED_TO, IN_CREATE, IN_DELETE = 0x40, 0x80, 0x100, 0x200
IN_Q_OVERFLOW, IN_ISDIR = 0x4000, 0x40000000
OPENED = IN_OPEN | IN_ACCESS
CHANGED = IN_MODIFY | IN_MOVED_FROM | IN_MOVED_TO | IN_CREATE | IN_DELETE


class Watch:
    """Watches files and folders, not what is in these; Linux alone has this."""

    def __init__(self, *paths: Path) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self.handle: int = libc.inotify_init1(os.O_NONBLOCK)
        self.names: dict[int, Path] = {}
        for path in paths:
            watched: int = libc.inotify_add_watch(self.handle, os.fsencode(path), OPENED | CHANGED)
            assert watched >= 0, os.strerror(ctypes.get_errno())
            self.names[watched] = path

    def touched(self) -> set[Path]:
        """What was opened or changed since the last call; in a watched folder, whatever was made there.

        A folder counts when its names are read: to notice links that go round in circles, a listing opens the
        folder that a link leads to, and compares which one it is.
        """
        return {path for path, mask in self._events() if mask & ~(IN_ISDIR | IN_OPEN) or not mask & IN_ISDIR}

    def read(self) -> set[Path]:
        """What was read, and not just opened, since the last call."""
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
        """Watch no longer."""
        os.close(self.handle)
