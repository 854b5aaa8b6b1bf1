"""A cleaner in a fork: checkpoints a table and cleans up its log until its standard input closes.

It appends a byte to a file after each round. After the input has closed it makes a last round and prints the
number of deleted files.
"""

from __future__ import annotations

import select
import sys
from pathlib import Path

import deltaic

PAUSE = 0.01


def main(uri: str, rounds: str) -> None:
    table = deltaic.Table(uri)
    deleted, is_last = 0, False
    with Path(rounds).open("ab", buffering=0) as made:
        while not is_last:
            is_last = bool(select.select([sys.stdin], [], [], PAUSE)[0])
            table.checkpoint()
            deleted += len(table.clean_up().files)
            made.write(b".")
    print(deleted, flush=True)
