"""Runs verbs in forks, each of which may be killed at a step.

Reads lines of JSON, ``{"root", "verb", "kill_step"}``, runs the verb in a fork and prints the fork's exit
code, negative for a signal. The process itself accesses no table.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable

import pyarrow as pa

import deltaic

SCHEMA = pa.schema([("id", pa.int64()), ("part", pa.string()), ("n", pa.int32())])
NEW = [{"id": 100 + i, "part": "ab"[i % 2], "n": i} for i in range(4)]


def new_rows() -> pa.Table:
    return pa.Table.from_pylist(NEW, SCHEMA)


VERBS: dict[str, Callable[[deltaic.Table], object]] = {
    "append": lambda table: table.append(new_rows()),
    "overwrite": lambda table: table.overwrite(new_rows(), "id >= 6"),
    "delete": lambda table: table.delete("n = 1 OR id = 9"),
    "update": lambda table: table.update({"n": "n + 10", "part": "'c'"}, "n < 2 AND id > 0"),
}
"""Each verb changes a part of the files of `rows_before`, some of them as a whole."""


def main() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if child == 0:
            os.environ["KILL_STEP"] = str(asked["kill_step"])
            VERBS[asked["verb"]](deltaic.Table(asked["root"]))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
