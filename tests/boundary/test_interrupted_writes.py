"""Ctrl-C in a verb that writes files, before its commit: the table is unchanged and the files are deleted.

The verb waits at a step until the Ctrl-C was handled.
"""

from __future__ import annotations

import signal
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import deltaic
from tests.conflicts.preload import STEPS, compiled
from tests.stores.store import strict_s3
from tests.stores.strict_store import Fault, StrictStore

from .scripts import finish, start, until

FEED = {"delta.enableChangeDataFeed": "true"}
VECTORS = {"delta.enableDeletionVectors": "true"}
FOREVER = float("inf")

VERBS = {
    "delete": "table.delete('n < 0.5')",
    "update": "table.update({'n': 'n + 1'}, 'n < 0.5')",
    "overwrite": "table.overwrite(pa.table({'id': [1], 'n': [0.25]}), 'n < 0.5')",
    "transaction": "together()",
    "run_transaction": "table.run_transaction(lambda tx: tx.update({'n': 'n + 1'}, 'n < 0.5'))",
}

TOGETHER = """
        def together():
            with table.transaction() as tx:
                tx.append(pa.table({'id': [1], 'n': [0.25]}))
                tx.update({'n': 'n + 1'}, 'n < 0.5')
"""


@pytest.fixture(scope="module")
def preloaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that stalls a process at a step."""
    return compiled(STEPS, tmp_path_factory.mktemp("steps"))


@pytest.mark.parametrize("verb", VERBS)
def test_on_a_disk(tmp_path: Path, preloaded: Path, verb: str) -> None:
    """Files that are finished, and one that is being written."""
    root, count = tmp_path / "table", 500_000
    rows = pa.table({"id": pa.array(range(count)), "n": pc.random(count, initializer=1)})
    deltaic.Table.create(root, rows.schema, properties={"delta.targetFileSize": "1mb"}).append(rows)
    before = sorted(root.rglob("*"))
    stalls, go = tmp_path / "stalls", tmp_path / "go"
    process = start(
        f"""
        table = deltaic.Table(sys.argv[1])
        {TOGETHER}
        attempt(lambda: {VERBS[verb]})
        sys.stdin.readline()
        say(str(table.delete("id < 10").metrics["numDeletedRows"]))
        sound()
        """,
        str(root),
        environment={
            "LD_PRELOAD": str(preloaded),
            "STALL_AT": "data file synced",
            # The second file, and no later one.
            "STALL_EVERY": "2",
            "STALL_FILE": str(stalls),
            "STALL_UNTIL": str(go),
        },
    )
    assert process.stdout is not None
    until(stalls.exists, process)
    assert len(sorted(root.rglob("*"))) > len(before) + 1
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "interrupted\n"
    go.write_text("go")
    until(lambda: sorted(root.rglob("*")) == before, process)
    print(file=process.stdin, flush=True)
    assert finish(process) == ["10", "sound"]


# The file at which the store falls silent: data files were sent before it.
SILENT = {
    "delete": (FEED, "_change_data"),
    "update": (FEED, "_change_data"),
    "update by vectors": ({**FEED, **VECTORS}, "deletion_vector"),
    "overwrite": (FEED, "_change_data"),
    "transaction": (FEED, "_change_data"),
    "run_transaction": ({**FEED, **VECTORS}, "deletion_vector"),
}


@pytest.mark.parametrize("verb", SILENT)
def test_on_a_store_that_falls_silent(strict: StrictStore, verb: str) -> None:
    """The request is cancelled, and the files that were sent before are deleted."""
    (properties, path), work = SILENT[verb], VERBS[verb.removesuffix(" by vectors")]
    store = strict_s3(strict.port)
    schema = pa.schema([("id", pa.int64()), ("n", pa.float64())])
    table = deltaic.Table.create(
        "s3://tables/t", schema, properties=properties, storage_options=store.options
    )
    # Too many scattered rows for an inline deletion vector.
    table.append(pa.table({"id": range(100), "n": [0.0, 0.5] * 50}))
    before = set(strict.objects)
    process = start(
        f"""
        table = deltaic.Table(sys.argv[1], storage_options=eval(sys.argv[2]))
        {TOGETHER}
        say("open")
        sys.stdin.readline()
        attempt(lambda: {work})
        sys.stdin.readline()
        say(str(table.snapshot().version))
        sound()
        """,
        "s3://tables/t",
        repr(store.options),
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "open\n"
    strict.faults = [Fault("PUT", path, hangs=True, times=FOREVER)]
    print(file=process.stdin, flush=True)
    until(lambda: strict.asked("PUT", path) > 0, process)
    sent = set(strict.objects) - before
    assert any(name.endswith(".parquet") for name in sent)
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "interrupted\n"
    until(lambda: set(strict.objects) == before, process)
    print(file=process.stdin, flush=True)
    assert finish(process) == ["1", "sound"]


def test_an_abandoned_transaction_leaves_no_file(tmp_path: Path) -> None:
    """A transaction that is never committed, and whose block did not end."""
    table = deltaic.Table.create(tmp_path, pa.schema([("id", pa.int64())]))
    before = sorted(tmp_path.rglob("*"))
    transaction = table.transaction()
    transaction.__enter__()
    transaction.append(pa.table({"id": [1]}))
    assert sorted(tmp_path.rglob("*")) != before
    del transaction
    assert sorted(tmp_path.rglob("*")) == before
