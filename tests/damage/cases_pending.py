"""Damage that is not yet met as it must be: each case fails, and moves to its row when it does not."""

from __future__ import annotations

import os
from pathlib import Path

from tests.protocol import handmade_log as log

from . import broken, odd_files
from .case import Case, Survivor, commit_case
from .cases_of_checkpoints import PASSED_OVER
from .check_damage import checkpoint

COMMIT_1, CRC = f"{1:020}.json", f"{1:020}.crc"


def named_in_bytes(name: bytes) -> broken.Damage:
    def apply(root: Path) -> None:
        with open(os.path.join(os.fsencode(root / "_delta_log"), name), "wb") as file:  # noqa: PTH118, PTH123
            file.write(b"garbage")

    return apply


def link(name: str, target: str) -> broken.Damage:
    return lambda root: odd_files.place(root, name).symlink_to(target)


PENDING: list[Case | Survivor] = [
    Survivor(
        "a checkpoint with add and remove of a file",
        checkpoint(lambda held: [*held, log.remove(broken.FIRST_FILE)]),
        PASSED_OVER,
    ),
    Survivor("a name in the log that is not UTF-8", named_in_bytes(b"\xff\xfe.json")),
    Survivor("a name in the log with a newline", odd_files.named(f"{2:020}.json\n")),
    Survivor("a link in the log that leads to itself", link(CRC, CRC)),
    Survivor("a folder in the log that leads back to it", link("loop", ".")),
    commit_case("a commit that is a link to itself", link(COMMIT_1, COMMIT_1)),
    commit_case("a commit that is a link to nowhere", link(COMMIT_1, "nowhere")),
]
