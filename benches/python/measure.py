"""One measurement in a process of its own: `measure.py PEER OPERATION TABLE`, one line of JSON out.

The peer is imported before the clock starts. `measure.py PEER OPERATION,OPERATION… TABLE --check` times
nothing: it compares what the peer answers with what is right, a line for each operation.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import peers
from following import committed


def main() -> None:
    """Measure, or check."""
    peer, operations, table, *options = sys.argv[1:]
    importlib.import_module(peers.PACKAGES[peer])
    for operation in operations.split(","):
        found = checked(peer, operation, table) if options else measured(peer, operation, table)
        print(json.dumps({"operation": operation, **found}), flush=True)


def measured(peer: str, operation: str, table: str) -> dict:
    """Seconds, CPU seconds, and the most memory that this process held."""
    call = peers.call_of(peer, operation)
    state = call.prepare(table)
    with later(operation, table):
        wall, cpu = time.perf_counter(), time.process_time()
        result = call.run(state)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    found = {"wall": wall, "cpu": cpu, "peak_mib": peak_mib()}
    del result
    return found


def checked(peer: str, operation: str, table: str) -> dict:
    """Whether the peer answers right: what is wrong, what failed, or what should be said."""
    from answers import WrongAnswerError, check
    from generate import manifest_of

    manifest = manifest_of(Path(table))
    assert manifest is not None
    try:
        call = peers.call_of(peer, operation)
        state = call.prepare(table)
        with later(operation, table):
            answer = call.answer((call.kept or call.run)(state))
    except Exception as error:  # noqa: BLE001 - a peer may fail in any way of its own
        return {"failed": f"{type(error).__name__}: {error}".splitlines()[0]}
    try:
        return {"note": check(operation, answer, manifest, exact=peer == "deltaic")}
    except WrongAnswerError as error:
        return {"wrong": str(error)}


def later(operation: str, table: str) -> object:
    """The table as the operation finds it: a refresh finds a version more than was opened."""
    return committed(Path(table)) if operation == "refresh" else nullcontext()


def peak_mib() -> float:
    """The most memory that this process held. Linux keeps it per program; rusage would count the parent's."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
    # A peer whose threads are still busy may crash while the interpreter ends; what it answered stands.
    os._exit(0)
