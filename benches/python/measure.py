"""One measurement in a process of its own: `measure.py PEER OPERATION URI [--answer]`, one line of JSON out.

The peer is imported before the clock starts. With `--answer` nothing is timed, and the line tells what
the peer answered, to be compared with the table's manifest.
"""

from __future__ import annotations

import importlib
import json
import resource
import sys
import time
from pathlib import Path

import peers


def main() -> None:
    """Measure, or answer."""
    peer, operation, uri, *options = sys.argv[1:]
    module = importlib.import_module(peers.MODULES[peer])
    run = peers.OPERATIONS[peer, operation]
    if options == ["--answer"]:
        from generate import digest_of

        version, files = peers.ANSWERS[peer](run(uri))
        answer = {
            "version": version,
            "num_files": len(files),
            "size_in_bytes": sum(size for _, size in files),
            "digest": digest_of(iter(files)),
        }
        print(json.dumps({"release": release_of(module), "answer": answer}))
        return
    wall, cpu = time.perf_counter(), time.process_time()
    result = run(uri)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(json.dumps({"wall": wall, "cpu": cpu, "peak_mib": peak_mib()}))
    del result


def release_of(module: object) -> str:
    """The peer's version."""
    return str(getattr(module, "__version__", "unknown"))


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
