"""Ctrl-C interrupts any operation at once with a `KeyboardInterrupt`; then the table still works.

Events determine the order: Ctrl-C is sent when the operation is known to be running, on a store that never
responds or inside of the call.
"""

from __future__ import annotations

import contextlib
import signal
import socket
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic
from tests.stores.store import strict_s3
from tests.stores.strict_store import Fault, StrictStore

from .scripts import SECONDS, finish, run, start, until

SCHEMA = pa.schema([("id", pa.int64())])
FOREVER = float("inf")

OPTIONS = """
options = eval(sys.argv[2])
table = deltaic.Table(sys.argv[1], storage_options=options)
"""

SILENT = {
    "exists": "deltaic.Table.exists(sys.argv[1], options)",
    "snapshot": "table.snapshot()",
    "history": "table.history()",
    "check": "table.check(deep=True)",
    "append": "table.append(pa.table({'id': [1]}))",
    "create": "deltaic.Table.create(sys.argv[1], pa.schema([('id', pa.int64())]), storage_options=options)",
}


@pytest.mark.parametrize("verb", SILENT)
def test_a_store_that_never_answers(verb: str) -> None:
    """A pending request is cancelled: its connection is closed while the process continues."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        store = strict_s3(server.getsockname()[1])
        script = OPTIONS + f"attempt(lambda: {SILENT[verb]})\nsys.stdin.readline()\nsound()"
        process = start(script, "s3://tables/t", repr(store.options))
        server.settimeout(SECONDS)
        connection, _ = server.accept()
        with connection:
            connection.settimeout(SECONDS)
            assert connection.recv(1)
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(ConnectionResetError):
                while connection.recv(65536):
                    pass
        assert process.stdin is not None
        print(file=process.stdin, flush=True)
        assert finish(process) == ["interrupted", "sound"]


HALF_WAY = {
    "refresh": ("_delta_log/0+2", "snapshot.refresh()"),
    "rows": ("parquet", "snapshot.scan().to_arrow()"),
    "batches": ("parquet", "list(snapshot.scan())"),
    "count": ("parquet", "snapshot.scan(predicate='id % 2 = 1').count()"),
    "task": ("parquet", "snapshot.scan().tasks()[0].read().read_all()"),
    "deep check": ("parquet", "table.check(deep=True)"),
    "append": ("parquet", "table.append(pa.table({'id': [1]}))"),
    "commit": ("_delta_log/.*json", "table.append(pa.table({'id': [1]}))"),
}


@pytest.mark.parametrize("verb", HALF_WAY)
def test_a_store_that_falls_silent(strict: StrictStore, verb: str) -> None:
    path, work = HALF_WAY[verb]
    store = strict_s3(strict.port)
    table = deltaic.Table.create("s3://tables/t", SCHEMA, storage_options=store.options)
    table.append(pa.table({"id": [1, 2]}))
    script = f"""
        options = eval(sys.argv[2])
        table = deltaic.Table(sys.argv[1], storage_options=options)
        snapshot = table.snapshot()
        say("open")
        sys.stdin.readline()
        attempt(lambda: {work.replace("id % 2 = 1", "id > 1")})
        sys.stdin.readline()
        attempt(lambda: {work.replace("id % 2 = 1", "id > 1")})
        say(str(table.snapshot().scan().to_arrow().num_rows >= 2))
        sound()
    """
    process = start(script, "s3://tables/t", repr(store.options))
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == "open\n"
    if verb == "refresh":
        table.append(pa.table({"id": [3]}))
    methods = ["PUT", "POST"] if verb in ("append", "commit") else ["GET", "HEAD"]
    strict.faults = [Fault(method, path, hangs=True, times=FOREVER) for method in methods]
    asked = sum(strict.asked(method, path) for method in methods)
    print(file=process.stdin, flush=True)
    until(lambda: sum(strict.asked(method, path) for method in methods) > asked, process)
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "interrupted\n"
    strict.faults = []
    print(file=process.stdin, flush=True)
    assert finish(process) == ["finished", "True", "sound"]


@pytest.mark.breaks_off
def test_work_that_never_pauses() -> None:
    said = run(
        """
        began = []
        def work():
            began.append(time.process_time())
            _rust.provoke("work")
        press_when(lambda: began and time.process_time() > began[0] + 0.5)
        attempt(work)
        _rust.provoke("rest")
        sound()
        """
    )
    assert said == ["interrupted", "sound"]


LONG = {
    "opening": "table.snapshot()",
    "history": "table.history()",
    "check": "table.check()",
    "deep check": "table.check(deep=True)",
    "listing": "[snapshot.files(stats=True) for _ in range(1000)]",
    "skipping": "[snapshot.files(predicate='id > 5000') for _ in range(1000)]",
    "tasks": "[snapshot.scan().tasks() for _ in range(1000)]",
    "counting": "snapshot.scan(predicate='id > 100').count()",
    "rows": "snapshot.scan().to_arrow()",
    "writing": "written.append(pa.table({'id': pa.array(range(5_000_000)), }))",
}


@pytest.mark.parametrize("verb", LONG)
def test_long_work_on_the_processor(large: Path, tmp_path: Path, verb: str) -> None:
    """Its background work stops: the process becomes idle.

    The work is repeated until the Ctrl-C, which another thread sends during a call.
    """
    deltaic.Table.create(tmp_path / "written", SCHEMA)
    work = LONG[verb]
    opens = "snapshot = table.snapshot()" if "snapshot." in work else ""
    said = run(
        f"""
        table = deltaic.Table(sys.argv[1])
        {opens}
        written = deltaic.Table(sys.argv[3])
        def repeat():
            while True:
                {work}
        press_when(is_inside)
        attempt(repeat)
        rests = 0
        while rests < 3:
            before = time.process_time()
            time.sleep(0.05)
            rests = rests + 1 if time.process_time() - before < 0.02 else 0
        say(str(deltaic.Table(sys.argv[2]).snapshot().num_rows))
        sound()
        """,
        str(large),
        str(small(large)),
        str(tmp_path / "written"),
    )
    assert said == ["interrupted", "1", "sound"]


def small(large: Path) -> Path:
    """A small table next to the large one."""
    root = large.parent / "small"
    if not root.exists():
        deltaic.Table.create(root, SCHEMA).append(pa.table({"id": [1]}))
    return root


SOURCES = {
    "that sleeps": "time.sleep(600)",
    "that waits": "threading.Event().wait(600)",
    "that computes": "while True: pass",
    "that reads a table": "waiting()",
}


@pytest.mark.parametrize("source", SOURCES)
def test_an_append_from_a_slow_source(root: Path, strict: StrictStore, source: str) -> None:
    """Unfinished files are deleted, and the table is unchanged."""
    store = strict_s3(strict.port)
    deltaic.Table.create("s3://tables/t", SCHEMA, storage_options=store.options)
    before = sorted(root.rglob("*"))
    process = start(
        f"""
        options = eval(sys.argv[2])
        other = deltaic.Table("s3://tables/t", storage_options=options)
        def waiting():
            other.snapshot()
        def rows():
            yield pa.record_batch({{"id": list(range(1000))}})
            say("slow")
            sys.stdin.readline()
            press_when(lambda: True) if {source != "that reads a table"} else say("now")
            {SOURCES[source]}
            yield pa.record_batch({{"id": [1]}})
        reader = pa.RecordBatchReader.from_batches(pa.schema([("id", pa.int64())]), rows())
        table = deltaic.Table(sys.argv[1])
        attempt(lambda: table.append(reader))
        sys.stdin.readline()
        while len([name for _, _, names in os.walk(sys.argv[1]) for name in names if "parquet" in name]) > 2:
            time.sleep(0.01)
        say(str(table.append(pa.table({{"id": [1]}})).version))
        sound()
        """,
        str(root),
        repr(store.options),
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == "slow\n"
    if source == "that reads a table":
        strict.faults = [Fault("GET", "", hangs=True, times=FOREVER)]
        asked = len(strict.requests)
        print(file=process.stdin, flush=True)
        assert process.stdout.readline() == "now\n"
        until(lambda: len(strict.requests) > asked, process)
        process.send_signal(signal.SIGINT)
    else:
        print(file=process.stdin, flush=True)
    assert process.stdout.readline() == "interrupted\n"
    print(file=process.stdin, flush=True)
    assert finish(process) == ["3", "sound"]
    # Data file, commit and checksum.
    assert len(sorted(root.rglob("*"))) == len(before) + 3


STREAMED = {
    "pyarrow, batch by batch": """
        def work():
            for batch in pa.RecordBatchReader.from_stream(scan):
                pass
    """,
    "pyarrow, in one call": """
        def work():
            try:
                pa.table(scan)
            except pa.ArrowInvalid as error:
                assert "KeyboardInterrupt" in str(error)
                # Nothing but a little Python is needed for the real one to come.
                for _ in range(1000): pass
    """,
    "deltaic, batch by batch": """
        def work():
            for batch in scan:
                pass
    """,
}


@pytest.mark.parametrize("way", STREAMED)
def test_a_stream_that_falls_silent(strict: StrictStore, way: str) -> None:
    store = strict_s3(strict.port)
    table = deltaic.Table.create("s3://tables/t", SCHEMA, storage_options=store.options)
    table.append(pa.table({"id": [1, 2]}))
    script = (
        "\n        options = eval(sys.argv[2])"
        "\n        table = deltaic.Table(sys.argv[1], storage_options=options)"
        "\n        scan = table.snapshot().scan()" + STREAMED[way] + '\n        say("open")'
        "\n        sys.stdin.readline()"
        "\n        attempt(work)"
        "\n        sys.stdin.readline()"
        "\n        attempt(work)"
        "\n        sound()"
    )
    process = start(script, "s3://tables/t", repr(store.options))
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == "open\n"
    strict.faults = [Fault(method, "parquet", hangs=True, times=FOREVER) for method in ("GET", "HEAD")]
    asked = len(strict.requests)
    print(file=process.stdin, flush=True)
    until(lambda: len(strict.requests) > asked, process)
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "interrupted\n"
    strict.faults = []
    print(file=process.stdin, flush=True)
    assert finish(process) == ["finished", "sound"]
