"""Which files anybody opened: told by the kernel, so that no reader can be overlooked."""

from __future__ import annotations

import ctypes
import os
import struct
from pathlib import Path

OPENED_OR_READ = 0x20 | 0x1
"""IN_OPEN, which a look at a file's name or size is not, and IN_ACCESS."""


class Watch:
    """Watches files; Linux alone has this."""

    def __init__(self, *files: Path) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self.handle: int = libc.inotify_init1(os.O_NONBLOCK)
        self.names: dict[int, Path] = {}
        for file in files:
            watched: int = libc.inotify_add_watch(self.handle, os.fsencode(file), OPENED_OR_READ)
            assert watched >= 0, os.strerror(ctypes.get_errno())
            self.names[watched] = file

    def opened(self) -> set[Path]:
        """What was opened since this was last asked."""
        found: set[Path] = set()
        while True:
            try:
                events = os.read(self.handle, 1 << 16)
            except BlockingIOError:
                return found
            at = 0
            while at < len(events):
                watched, _, _, length = struct.unpack_from("iIII", events, at)
                found.add(self.names[watched])
                at += 16 + length

    def close(self) -> None:
        """Watch no longer."""
        os.close(self.handle)
