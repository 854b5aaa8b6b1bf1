"""Forks inside a transaction block: the child can neither commit the transaction nor delete staged files.

Each script forks between staging and commit, ends the child in some way, and ends the parent's block.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import deltaic

from .scripts import run

BEFORE = """
import gc, atexit, multiprocessing
table = deltaic.Table(sys.argv[1])
rows = pa.table({"id": [7, 8]})

def status_of(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

def error_of(work):
    try:
        work()
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return "no error"
"""

# How a child that was forked inside of the block ends; its exit code is 7 if it got that far.
CHILDREN = {
    "leaves the block by sys.exit": "sys.exit(7)",
    "leaves the block by an exception": "raise KeyboardInterrupt",
    "ends at once": "os._exit(7)",
    "abandons it": "tx._rust.abandon(); os._exit(7)",
    "lets go of it": """
        inherited = [tx, tx._rust]
        del tx, inherited
        gc.collect()
        os._exit(7)""",
    "abandons it when the interpreter ends": """
        atexit.register(lambda: tx._rust.abandon())
        class Late:
            def __del__(self): tx._rust.abandon()
        late = Late()
        sys.exit(7)""",
    "ends it by hand": "tx.__exit__(None, None, None)",
    "fails in a transaction of its own": """
        with deltaic.Table(sys.argv[1]).transaction() as own:
            own.append(rows)
            sys.exit(7)""",
}


def read(root: Path) -> list[int]:
    """Reads the rows from the files: a missing file fails here."""
    return sorted(deltaic.Table(root).snapshot().scan().to_arrow()["id"].to_pylist())


def files_on_disk(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*.parquet")}


def live_files(root: Path) -> set[str]:
    return set(deltaic.Table(root).snapshot().files().to_arrow()["path"].to_pylist())


def block(body: str) -> str:
    """Returns a script: a transaction that stages rows, the lines of the body in its block, and a commit."""
    indented = body.replace("\n", "\n    ")
    return f"{BEFORE}\nwith table.transaction() as tx:\n    tx.append(rows)\n    {indented}\nsound()\n"


@pytest.mark.parametrize("how", CHILDREN)
def test_a_child_that_ends_leaves_the_staged_files(root: Path, how: str) -> None:
    child = CHILDREN[how].strip().replace("\n        ", "\n    ")
    said = run(
        block(
            f"""child = os.fork()
if child == 0:
    sys.stderr = open(os.devnull, "w")
    {child}
say(str(status_of(child)))"""
        ),
        str(root),
    )
    assert said[-1] == "sound"
    assert said[0] in ("7", "1", "-2")
    assert read(root) == [0, 1, 2, 3, 4, 5, 7, 8]
    assert files_on_disk(root) == live_files(root)
    assert deltaic.Table(root).check(deep=True).is_healthy


VERBS = {
    "the end of its block": "tx.__exit__(None, None, None)",
    "an append": "tx.append(rows)",
    "a read": "tx.read()",
    "the files": "tx.files()",
    "an application": "tx.read_app('a')",
    "a remove": "tx.remove([])",
    "a deletion of rows": "tx.delete_rows({})",
    "files of another engine": "tx.add([])",
    "a property": "tx.set_properties({'mine': '1'})",
    "whether it is done": "tx.is_done",
    "the core's commit": "tx._rust.commit()",
    "the core's append": "tx._rust.append(rows)",
}


@pytest.mark.parametrize("what", VERBS)
def test_a_child_is_reported_that_the_transaction_is_its_parents(root: Path, what: str) -> None:
    said = run(block(f"say(forked(lambda: error_of(lambda: {VERBS[what]})))"), str(root))
    assert said[0].startswith("ValueError: The transaction belongs to process ")
    assert "hint: call table.transaction() in this process" in "\n".join(said)
    assert said[-1] == "sound"
    assert deltaic.Table(root).snapshot().version == 3
    assert read(root) == [0, 1, 2, 3, 4, 5, 7, 8]


def test_a_child_that_comes_to_the_end_of_the_block_commits_nothing(root: Path) -> None:
    """The child continues after the block, as a daemon does, and may write in its own transaction."""
    said = run(
        f"""{BEFORE}
parent = os.getpid()
def transact():
    with table.transaction() as tx:
        tx.append(rows)
        child = os.fork()
        if child:
            assert status_of(child) == 0
        else:
            say(repr(tx))
error = error_of(transact)
if os.getpid() == parent:
    say(error)
    sound()
else:
    say(error.splitlines()[0])
    with table.transaction() as tx:
        tx.append(pa.table({{"id": [100]}}))
    say(f"child committed {{tx.committed.version}}")
    os._exit(0)
""",
        str(root),
    )
    shown, refused, committed, parent, end = said
    assert "of another process" in shown
    assert refused.startswith("ValueError: The transaction belongs to process ")
    assert (committed, parent, end) == ("child committed 3", "no error", "sound")
    assert deltaic.Table(root).snapshot().version == 4
    assert read(root) == [0, 1, 2, 3, 4, 5, 7, 8, 100]
    assert files_on_disk(root) == live_files(root)


def test_a_parent_that_ends_before_its_child_commits_nothing(root: Path) -> None:
    """The reverse, as a daemon forks: staged rows are lost, and the child gets an error."""
    said = run(
        f"""{BEFORE}
reading, writing = os.pipe()
with table.transaction() as tx:
    tx.append(rows)
    if os.fork() == 0:
        os.close(writing)
        os.read(reading, 1)  # until the parent has gone
        say(error_of(lambda: tx.__exit__(None, None, None)).splitlines()[0])
        sound()
        os._exit(0)
    os._exit(0)
""",
        str(root),
    )
    assert said[0].startswith("ValueError: The transaction belongs to process ")
    assert said[1] == "sound"
    assert deltaic.Table(root).snapshot().version == 2
    assert read(root) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("lets_go", ["", "del tx; gc.collect()"])
def test_children_of_multiprocessing(root: Path, lets_go: str) -> None:
    said = run(
        block(
            f"""def work(tx, queue):
    queue.put(error_of(lambda: tx.append(rows)))
    try:
        with tx: pass
    except ValueError:
        pass
    {lets_go or "pass"}
fork = multiprocessing.get_context("fork")
queue = fork.SimpleQueue()
children = [fork.Process(target=work, args=(tx, queue)) for _ in range(3)]
for child in children: child.start()
for child in children: child.join()
say(" ".join(str(child.exitcode) for child in children))
say(queue.get().splitlines()[0])"""
        ),
        str(root),
    )
    assert said[0] == "0 0 0"
    assert said[1].startswith("ValueError: The transaction belongs to process ")
    assert said[2] == "sound"
    assert read(root) == [0, 1, 2, 3, 4, 5, 7, 8]


@pytest.mark.parametrize(
    "end",
    ["sys.exit(7)", "raise RuntimeError('broken')", "os._exit(7)", "return"],
)
@pytest.mark.parametrize("verb", ["table.append(source)", "transact()"])
def test_a_fork_while_rows_are_requested(root: Path, verb: str, end: str) -> None:
    """The input forks: the child has no writer thread, so it must end, and delete nothing."""
    said = run(
        f"""{BEFORE}
parent = os.getpid()
def batches():
    yield rows.to_batches()[0]
    child = os.fork()
    if child == 0:
        signal.alarm(280)
        sys.stderr = open(os.devnull, "w")
        {end}
    say(str(status_of(child) != -signal.SIGALRM))
    yield rows.to_batches()[0]
source = pa.RecordBatchReader.from_batches(rows.schema, batches())
def transact():
    with table.transaction() as tx:
        tx.append(source)
error = error_of(lambda: {verb})
if os.getpid() != parent:
    os._exit(0)
say(error)
sound()
""",
        str(root),
    )
    assert said == ["True", "no error", "sound"]
    assert read(root) == [0, 1, 2, 3, 4, 5, 7, 7, 8, 8]
    assert files_on_disk(root) == live_files(root)


def test_a_fork_while_progress_is_reported(large: Path) -> None:
    said = run(
        f"""{BEFORE}
parent = os.getpid()
children = []
def progress(stage, done, total):
    # The last progress is reported after the call's work.
    if not children and done < total:
        children.append(os.fork())
        if not children[0]:
            signal.alarm(280)
error = None
while not children:
    error = error_of(lambda: table.check(progress=progress))
if os.getpid() != parent:
    say(error)
    os._exit(0)
say(str(status_of(children[0])))
say(error)
sound()
""",
        str(large),
    )
    assert said[0].startswith("RuntimeError: the call was started before the fork")
    assert said[1:] == ["0", "no error", "sound"]


def test_deletion_vectors_of_the_parent_stay(tmp_path: Path) -> None:
    root = tmp_path / "vectors"
    rows = pa.table({"id": range(100)})
    table = deltaic.Table.create(root, rows.schema, properties={"delta.enableDeletionVectors": "true"})
    table.append(rows)
    said = run(
        f"""{BEFORE}
[path] = table.snapshot().files().to_arrow()["path"].to_pylist()
with table.transaction() as tx:
    tx.delete_rows({{path: range(0, 100, 2)}})
    child = os.fork()
    if child == 0:
        sys.stderr = open(os.devnull, "w")
        sys.exit(7)
    say(str(status_of(child)))
sound()
""",
        str(root),
    )
    assert said == ["7", "sound"]
    assert read(root) == list(range(1, 100, 2))
    assert len(list(root.glob("deletion_vector_*.bin"))) == 1


def test_a_file_that_another_commit_names_stays(root: Path) -> None:
    """A staged file that another writer commits is live: the conflict must not delete it."""
    before = files_on_disk(root)
    with pytest.raises(deltaic.ConcurrentAppend) as raised, deltaic.Table(root).transaction() as tx:  # noqa: PT012
        tx.append(pa.table({"id": [9]}))
        tx.append(pa.table({"id": [10]}))
        tx.read()
        staged = files_on_disk(root) - before
        with deltaic.Table(root).transaction() as another:
            another.add(
                {
                    "path": path,
                    "size": (root / path).stat().st_size,
                    "modification_time": 0,
                    "partition_values": {},
                }
                for path in staged
            )
            another.remove([live_files(root).pop()])
    staged = files_on_disk(root) - before
    assert len(staged) == 2
    assert raised.value.context["path"] in staged
    assert staged < live_files(root) <= files_on_disk(root)
    assert {9, 10} < set(read(root))
