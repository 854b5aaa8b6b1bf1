"""A cleaner in a separate process: checkpoints a table and cleans up its log until its standard input closes.

`python cleaner.py TABLE` finally prints the number of deleted files.
"""

from __future__ import annotations

import select
import sys

import deltaic

PAUSE = 0.05


def main(uri: str) -> None:
    table = deltaic.Table(uri)
    deleted = 0
    while not select.select([sys.stdin], [], [], PAUSE)[0]:
        table.checkpoint()
        deleted += len(table.clean_up().files)
    print(deleted, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
