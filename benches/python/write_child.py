"""One write in a separate process: `write_child.py PEER OPERATION TABLE SOURCE` prints one line of JSON.

The library is imported before the clock starts. With `--check` the rows of the table are then read by both
libraries, and the digests of their rows are printed too.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import pyarrow as pa

from measure import peak_mib
from merge_operations import call_of_merge
from optimize_operations import call_of_optimize
from write_operations import call_of

CALLS = {"merge": call_of_merge, "optimize": call_of_optimize}


def main() -> None:
    """Measures, or checks."""
    peer, operation, table, source, *options = sys.argv[1:]
    call = CALLS.get(operation.partition("_")[0], call_of)(peer, operation)
    before = files_of(Path(table))
    with pa.OSFile(source or os.devnull) as file:
        rows = pa.ipc.open_stream(file) if source else None
        wall, cpu = time.perf_counter(), time.process_time()
        returned = call(table, rows)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    found = {"wall": wall, "cpu": cpu, "peak_mib": peak_mib()}
    written = files_of(Path(table))
    found["written_mib"] = sum(size for path, size in written.items() if path not in before) / (1 << 20)
    if options and peer == "duckdb":
        found["matches"] = returned
    elif options:
        found["digests"] = {name: vars(digest) for name, digest in digests_of(table).items()}
    print(json.dumps(found))


def files_of(table: Path) -> dict[Path, int]:
    """Returns the size of each file of the table."""
    return {path: path.stat().st_size for path in table.rglob("*") if path.is_file()}


def digests_of(table: str) -> dict:
    """Returns the digest of the table's rows, as each library reads them."""
    import deltalake

    import deltaic
    from row_digest import digest_of

    rows = pa.RecordBatchReader.from_stream(deltalake.DeltaTable(table).scan())
    return {
        "deltaic": digest_of(batch for batch in deltaic.Table(table).snapshot().scan()),
        "deltalake": digest_of(rows),
    }


if __name__ == "__main__":
    main()
    # A library with running threads may crash during interpreter shutdown, after its answer was printed.
    sys.stdout.flush()
    os._exit(0)
