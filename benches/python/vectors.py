"""Benchmarks deletion vectors, deltaic and deltalake: `vectors.py [--repeat 5] [--markdown PAGE]`.

Each measurement is a separate process, in turns; the result is compared with the generated positions before
its time counts. A peer without a result after a minute is considered to hang.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from importlib.metadata import version
from pathlib import Path

import numpy as np

from deletions import VERSION, framed, vector, z85
from page_sections import with_section

ROWS, STEP, DELETED = 10_000, 7, 500
SHAPES = {"400 vectors in one file": (1, 400), "100,000 vectors in 100 files": (100, 1_000)}
PEERS = ("deltaic", "deltalake")
TIMEOUT = 60
HEADING = "## Deletion vectors"


def generate(root: Path, files: int, each: int) -> None:
    """Writes a log whose data files have deletion vectors; there are no data files, as nothing reads them."""
    log = root / "_delta_log"
    log.mkdir(parents=True)
    features = ["deletionVectors"]
    column = {"name": "id", "type": "long", "nullable": True, "metadata": {}}
    actions: list[dict] = [
        {
            "protocol": {
                "minReaderVersion": 3,
                "minWriterVersion": 7,
                "readerFeatures": features,
                "writerFeatures": features,
            }
        },
        {
            "metaData": {
                "id": "vectors",
                "format": {"provider": "parquet", "options": {}},
                "schemaString": json.dumps({"type": "struct", "fields": [column]}),
                "partitionColumns": [],
                "configuration": {},
            }
        },
    ]
    body = vector(np.arange(0, DELETED * STEP, STEP))
    frame = framed(body)
    for file in range(files):
        name = uuid.UUID(int=file)
        (root / f"deletion_vector_{name}.bin").write_bytes(VERSION + frame * each)
        actions += (
            {
                "add": {
                    "path": f"part-{file:03}-{number:05}.parquet",
                    "partitionValues": {},
                    "size": 1,
                    "modificationTime": 0,
                    "dataChange": True,
                    "stats": json.dumps({"numRecords": ROWS}),
                    "deletionVector": {
                        "storageType": "u",
                        "pathOrInlineDv": z85(name.bytes),
                        "offset": 1 + number * len(frame),
                        "sizeInBytes": len(body),
                        "cardinality": DELETED,
                    },
                }
            }
            for number in range(each)
        )
    lines = "".join(json.dumps(action) + "\n" for action in actions)
    (log / f"{0:020}.json").write_text(lines)


def measure(peer: str, root: str) -> None:
    """Prints how long a peer takes to read all deletion vectors of an open table; verifies them."""
    import pyarrow as pa

    if peer == "deltaic":
        import deltaic

        snapshot = deltaic.Table(root).snapshot()
        begin = time.perf_counter()
        read = snapshot.deletion_vectors()
        took = time.perf_counter() - begin
        rows = pa.table(read)["rows"]
    else:
        import deltalake

        table = deltalake.DeltaTable(root)
        begin = time.perf_counter()
        read = pa.table(table.deletion_vectors())
        took = time.perf_counter() - begin
        # It returns which rows survive.
        masks = read[read.column_names[-1]]
        rows = None if masks[0].as_py() is None else masks
    expected = list(range(0, DELETED * STEP, STEP))
    assert rows is not None
    for at in {0, len(rows) // 2, len(rows) - 1}:
        found = rows[at].as_py()
        if found and isinstance(found[0], bool):
            found = [position for position, kept in enumerate(found) if not kept]
        assert found == expected, f"vector {at} is wrong"
    print(json.dumps({"seconds": took, "vectors": len(rows)}))


def run(peer: str, root: Path, right: int) -> float | str:
    """Runs one measurement in a separate process: returns seconds, or the error."""
    command = [sys.executable, __file__, "--measure", peer, str(root)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return f"no answer after {TIMEOUT} s"
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:]
        return f"fails: {last[0] if last else 'without a word'}"
    found = json.loads(done.stdout)
    return found["seconds"] if found["vectors"] == right else f"wrong: {found['vectors']} vectors"


def page(repeat: int) -> str:
    """Returns the section of the page."""
    releases = ", ".join(f"{peer} {version(peer)}" for peer in PEERS)
    lines = [
        HEADING,
        "",
        f"Deletion vectors of {DELETED} rows in an open table; {releases}; medians of {repeat} processes.",
        "",
        "| table | deltaic | deltalake |",
        "|---|---|---|",
    ]
    for name, (files, each) in SHAPES.items():
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / "table"
            generate(root, files, each)
            found: dict[str, list[float | str]] = {peer: [] for peer in PEERS}
            for _ in range(repeat):
                for peer, results in found.items():
                    # A peer that failed once is not measured again.
                    if not any(isinstance(result, str) for result in results):
                        results.append(run(peer, root, files * each))
            cells = [shown(results) for results in found.values()]
            print(name, *cells, sep=" | ", flush=True)
            lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def shown(results: list[float | str]) -> str:
    """Returns the median in milliseconds, or the error."""
    failed = [result for result in results if isinstance(result, str)]
    if failed:
        return failed[0]
    return f"{statistics.median(result for result in results if isinstance(result, float)) * 1000:.1f} ms"


def main() -> None:
    """Measures, and writes the section of the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--measure", nargs=2, metavar=("PEER", "TABLE"))
    options = parser.parse_args()
    if options.measure:
        measure(*options.measure)
        return
    section = page(options.repeat)
    if options.markdown:
        before = options.markdown.read_text(encoding="utf-8")
        options.markdown.write_text(with_section(before, HEADING, section), encoding="utf-8")


if __name__ == "__main__":
    main()
