"""Many threads with one table, snapshot or scan; forks during operations; interpreter shutdown."""

from __future__ import annotations

import gc
import multiprocessing
import pickle
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic

from .scripts import run


def test_every_method_at_once(root: Path) -> None:
    """Table, snapshot and scan of one version return the same results on every thread."""
    table = deltaic.Table(root)
    snapshot = table.snapshot()
    scan = snapshot.scan(predicate="id >= 1")
    [task, *_] = scan.tasks()
    same: dict[str, Callable[[], object]] = {
        "version": lambda: snapshot.version,
        "schema": lambda: str(snapshot.schema),
        "timestamp": lambda: snapshot.timestamp,
        "num_rows": lambda: snapshot.num_rows,
        "files": lambda: snapshot.files(stats=True).to_arrow().num_rows,
        "tombstones": lambda: snapshot.tombstones().num_rows,
        "old": lambda: table.snapshot(version=1).num_files,
        "count": scan.count,
        "explain": scan.explain,
        "rows": lambda: sorted(scan.to_arrow()["id"].to_pylist()),
        "stream": lambda: pa.table(scan).num_rows,
        "iteration": lambda: sum(batch.num_rows for batch in scan),
        "task": lambda: task.read().read_all().num_rows,
        "pickle": lambda: pickle.loads(pickle.dumps(task)).read().read_all().num_rows,
        "repr": lambda: repr((table, snapshot, scan, task)),
        "exists": lambda: deltaic.Table.exists(root),
        "check": lambda: table.check(deep=True).is_healthy,
    }
    moves: dict[str, Callable[[], object]] = {
        "append": lambda: table.append(pa.table({"id": [7]})).version,
        "refresh": lambda: snapshot.refresh().version,
        "newest": lambda: table.snapshot().num_rows,
        "history": lambda: len(table.history()),
    }
    expected = {name: work() for name, work in same.items()}
    turns = 4
    with ThreadPoolExecutor(len(same) + len(moves)) as pool:
        answers = [(name, pool.submit(work)) for _ in range(turns) for name, work in same.items()]
        moved = [pool.submit(work) for _ in range(turns) for work in moves.values()]
        for name, answer in answers:
            assert answer.result() == expected[name], name
        for answer in moved:
            answer.result()
    assert snapshot.refresh().version == 2 + turns
    assert table.snapshot().num_rows == 6 + turns


def test_a_stream_is_put_away_on_another_thread(root: Path) -> None:
    for make in (iter, lambda scan: scan.__arrow_c_stream__(), pa.RecordBatchReader.from_stream):
        held = [make(deltaic.Table(root).snapshot().scan())]
        thread = threading.Thread(target=lambda held=held: (held.clear(), gc.collect()))
        thread.start()
        thread.join()


FORKED = {
    "a table": ("", "table.snapshot().num_rows", "6"),
    "a snapshot": ("", "snapshot.files(stats=True).num_rows", "2"),
    "a refresh": ("", "snapshot.refresh().version", "2"),
    "a scan": ("", "sum(batch.num_rows for batch in scan)", "6"),
    "a stream": ("", "pa.table(scan).num_rows", "6"),
    "a task": ("tasks = scan.tasks()", "sum(task.read().read_all().num_rows for task in tasks)", "6"),
    "a pickle": (
        "import pickle; data = pickle.dumps(scan.tasks())",
        "sum(task.read().read_all().num_rows for task in pickle.loads(data))",
        "6",
    ),
    "an append": ("", "table.append(pa.table({'id': [9]})).version", "3"),
    "a check": ("", "table.check(deep=True).is_healthy", "True"),
    "a grandchild": ("", "forked(lambda: table.snapshot().num_rows + scan.count())", "12"),
    "a half-read iterator": (
        "half = scan._rust.batches(); first = next(half).num_rows",
        "next(half)",
        "RuntimeError: this iterator was created before the fork",
    ),
    "a half-read stream": (
        "half = pa.RecordBatchReader.from_stream(scan); first = half.read_next_batch().num_rows",
        "half.read_next_batch()",
        "created before the fork",
    ),
    "an iterator that is put away": (
        "import gc; half = [scan._rust.batches()]; next(half[0])",
        "(half.clear(), gc.collect(), 'away')[2]",
        "away",
    ),
    "a stream that is put away": (
        "import gc; half = [pa.RecordBatchReader.from_stream(scan)]; half[0].read_next_batch()",
        "(half.clear(), gc.collect(), 'away')[2]",
        "away",
    ),
}


@pytest.mark.parametrize("what", FORKED)
def test_objects_in_a_forked_child_work_or_raise(root: Path, what: str) -> None:
    before, work, expected = FORKED[what]
    said = run(
        f"""
        table = deltaic.Table(sys.argv[1])
        snapshot = table.snapshot()
        scan = snapshot.scan(batch_size=1)
        assert scan.to_arrow().num_rows == 6
        {before}
        say(forked(lambda: {work}))
        say(str(scan.to_arrow().num_rows))
        if "half" in globals() and not isinstance(half, list):
            say(str(first + sum(batches.num_rows for batches in half)))
        sound()
        """,
        str(root),
    )
    assert expected in said[0]
    assert said[1] == "6"
    # The parent's reader continues.
    if "half-read" in what:
        assert said[2] == "6"
    assert said[-1] == "sound"


def test_forks_while_other_threads_are_in_the_middle(large: Path, root: Path) -> None:
    said = run(
        """
        busy = deltaic.Table(sys.argv[1])
        table = deltaic.Table(sys.argv[2])
        rounds = [0] * 4
        over = threading.Event()
        def work(number):
            while not over.is_set():
                for batch in table.snapshot().scan(batch_size=1):
                    pass
                deltaic.Table(sys.argv[2]).check()
                rounds[number] += 1
        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads: thread.start()
        answers = []
        def fork_often():
            for _ in range(10):
                reached = [done + 1 for done in rounds]
                answers.append(forked(lambda: table.snapshot().scan().to_arrow().num_rows))
                while any(done < wanted for done, wanted in zip(rounds, reached)): time.sleep(0.001)
        # From a thread that is not the main one, too.
        forker = threading.Thread(target=fork_often)
        forker.start(); forker.join()
        fork_often()
        over.set()
        for thread in threads: thread.join()
        say(" ".join(answers))
        sound()
        """,
        str(large),
        str(root),
    )
    assert said == [" ".join(["6"] * 20), "sound"]


def rows_of(task: deltaic.ScanTask) -> int:
    return task.read().read_all().num_rows


@pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_tasks_are_read_by_a_pool_of_processes(root: Path, method: str) -> None:
    tasks = deltaic.Table(root).snapshot().scan().tasks()
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        assert sum(pool.map(rows_of, tasks)) == 6


# A daemon thread inside of pyarrow at shutdown can crash the process without deltaic, so the daemons here
# do not use it.
ENDS = {
    "a reader is open": "reader = iter(scan); next(reader)",
    "a stream is open": "reader = pa.RecordBatchReader.from_stream(scan); reader.read_next_batch()",
    "a capsule was never used": "capsule = scan.__arrow_c_stream__()",
    "a daemon reads on": """
        def read():
            while True:
                for batch in scan._rust.batches(): pass
        threading.Thread(target=read, daemon=True).start()
        next(iter(scan))""",
    "a daemon counts": """
        even = table.snapshot().scan(predicate="id = 2 OR id = 4")
        def read():
            while True: even.count()
        threading.Thread(target=read, daemon=True).start()
        next(iter(scan))""",
    "a daemon appends": """
        rows = pa.table({"id": [1]})
        def write():
            while True: table.append(rows)
        threading.Thread(target=write, daemon=True).start()
        next(iter(scan))""",
    "something reads at the very end": """
        import atexit
        atexit.register(lambda: say(str(scan.count())))
        class Late:
            def __del__(self): scan.count()
        late = Late()""",
    "a circle holds a reader": """
        class Circle: pass
        circle = Circle(); circle.me = circle; circle.reader = iter(scan); next(circle.reader)
        del circle""",
    "a child is left": """
        if os.fork() == 0:
            pa.table(scan)
            sys.exit(0)
        os.wait()""",
}


@pytest.mark.parametrize("when", ENDS)
def test_the_interpreter_ends_in_peace(root: Path, when: str) -> None:
    script = """
        table = deltaic.Table(sys.argv[1])
        scan = table.snapshot().scan(batch_size=1)"""
    said = run(f"{script}\n        {ENDS[when].lstrip()}\n        sound()\n        ", str(root))
    assert "sound" in said
    assert said[1:] in ([], ["6"], ["sound"])
