"""One measurement in a separate process: `measure.py PEER OPERATION TABLE` prints one line of JSON.

The peer is imported before the clock starts. `measure.py PEER OPERATION,OPERATION… TABLE --check` times
nothing: it verifies the peer's answers, with a line for each operation.
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
    """Measures, or checks."""
    peer, operations, table, *options = sys.argv[1:]
    importlib.import_module(peers.PACKAGES[peer])
    for operation in operations.split(","):
        found = checked(peer, operation, table) if options else measured(peer, operation, table)
        print(json.dumps({"operation": operation, **found}), flush=True)


def measured(peer: str, operation: str, table: str) -> dict:
    """Returns seconds, CPU seconds, and the peak memory of this process."""
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
    """Verifies the peer's answer: returns what is wrong, what failed, or a note."""
    from answers import WrongAnswerError, check
    from generate import manifest_of

    manifest = manifest_of(Path(table))
    assert manifest is not None
    try:
        call = peers.call_of(peer, operation)
        state = call.prepare(table)
        with later(operation, table):
            answer = call.answer((call.kept or call.run)(state))
    except Exception as error:  # noqa: BLE001 - a peer may raise any error
        return {"failed": f"{type(error).__name__}: {error}".splitlines()[0]}
    try:
        return {"note": check(operation, answer, manifest, exact=peer == "deltaic")}
    except WrongAnswerError as error:
        return {"wrong": str(error)}


def later(operation: str, table: str) -> object:
    """Prepares the table for the operation: a refresh finds one version more than was opened."""
    return committed(Path(table)) if operation == "refresh" else nullcontext()


def peak_mib() -> float:
    """Returns the peak memory of this process from Linux; rusage would include the parent's."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
    # A peer with running threads may crash during interpreter shutdown, after its answer was printed.
    os._exit(0)
