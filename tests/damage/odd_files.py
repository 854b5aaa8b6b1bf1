"""Ways to put files with odd names, and objects that are not regular files, into `_delta_log`."""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path

from tests.protocol.handmade_log import commit_path

from . import broken

TWO = f"{2:020}"

# Names similar to those of commit 2, to be ignored.
NEARLY = [
    "2.json",
    f"{2:019}.json",
    f"{2:021}.json",
    f"{TWO}.JSON",
    f"{TWO}.json.tmp",
    f"{TWO}.json~",
    f"{TWO}.json ",
    f" {TWO}.json",
    f"{TWO}.json%20",
    f"%30{TWO[1:]}.json",
    f"{TWO}..json",
    f"{TWO}.json.gz",
    f"+{TWO[1:]}.json",
    f"-{TWO[1:]}.json",
    "0" * 19 + "\uff12.json",
    "\u0660" * 19 + "\u0662.json",
    f"{TWO}.js\u200bon",
    f"{TWO}.json?",
    f"{TWO}.json#x",
    f"{2**63:020}.json",
    f"{'9' * 20}.json",
    f".{TWO}.json.crc",
    f"{TWO}.{TWO}.json",
    f"{TWO}.checkpoint.json",
    f"{TWO}.checkpoint.parquet.tmp",
    f"{TWO}.checkpoint.0000000000.0000000001.parquet",
    f"{TWO}.checkpoint.0000000002.0000000001.parquet",
    f"{TWO}.checkpoint.1.1.parquet",
    f"{TWO}.checkpoint.not-a-uuid.parquet",
    f"{TWO}.compacted.json",
    f"{TWO}.crc.tmp",
    f"{TWO}.json\n",
    "x" * 250,
]


def place(root: Path, name: str) -> Path:
    """Returns a path in the log after deleting the file there."""
    path = root / "_delta_log" / name
    path.unlink(missing_ok=True)
    return path


def named_in_bytes(name: bytes) -> broken.Damage:
    """A file whose name may be invalid UTF-8."""

    def apply(root: Path) -> None:
        with open(os.path.join(os.fsencode(root / "_delta_log"), name), "wb") as file:  # noqa: PTH118, PTH123
            file.write(b"garbage")

    return apply


def link(name: str, target: str) -> broken.Damage:
    """A symbolic link in the log."""
    return lambda root: place(root, name).symlink_to(target)


def named(name: str) -> broken.Damage:
    return lambda root: place(root, name).write_bytes(b"garbage")


def pipe(name: str) -> broken.Damage:
    """A named pipe: opening it blocks forever."""
    return lambda root: os.mkfifo(place(root, name))


def end_of_a_socket(name: str) -> broken.Damage:
    def apply(root: Path) -> None:
        here = Path.cwd()
        os.chdir(root / "_delta_log")  # a socket path is limited to about 100 characters
        try:
            Path(name).unlink(missing_ok=True)
            with socket.socket(socket.AF_UNIX) as end:
                end.bind(name)
        finally:
            os.chdir(here)

    return apply


def device(name: str) -> broken.Damage:
    """An endless device."""
    return lambda root: place(root, name).symlink_to("/dev/zero")


def folder(name: str) -> broken.Damage:
    def apply(root: Path) -> None:
        path = place(root, name)
        path.mkdir()
        (path / "within").write_text("{}")

    return apply


def far_commit(version: int) -> broken.Damage:
    return lambda root: commit_path(root, version).write_text('{"commitInfo":{}}\n')


def log_is(what: str) -> broken.Damage:
    """Replaces the log itself."""

    def apply(root: Path) -> None:
        log = root / "_delta_log"
        shutil.rmtree(log)
        if what == "a file":
            log.write_text("{}")
        elif what == "a pipe":
            os.mkfifo(log)
        elif what == "a dangling link":
            log.symlink_to("gone")
        elif what == "an empty folder":
            log.mkdir()

    return apply
