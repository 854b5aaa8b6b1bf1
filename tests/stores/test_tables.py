"""The same operations on every store as on a disk: create, append, race, read back, history, refresh."""

from __future__ import annotations

import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest

import deltaic

from .store import Store, strict_s3
from .strict_store import StrictStore

DATA = pa.table({"id": [1, 2, 3], "city": ["Rome", None, "x/y %ä"]})


def made(store: Store, uri: str) -> deltaic.Table:
    return deltaic.Table.create(uri, DATA.schema, partition_by=["city"], storage_options=store.options)


def test_a_table_is_made_filled_and_read_back(each: Store) -> None:
    uri = each.fresh()
    assert not deltaic.Table.exists(uri, each.options)
    with pytest.raises(deltaic.TableNotFound):
        deltaic.Table(uri, storage_options=each.options).snapshot()
    table = made(each, uri)
    assert table.uri == f"{uri}/"
    assert deltaic.Table.exists(uri, each.options)
    before = table.snapshot()
    assert table.append(DATA, commit_info={"job": "nightly"}).version == 1
    assert before.refresh().version == 1
    other = deltaic.Table(uri, storage_options=each.options)
    rows = other.snapshot().scan().to_arrow().sort_by("id")
    assert rows.to_pydict() == DATA.to_pydict()
    assert other.snapshot().scan(predicate="city = 'x/y %ä'").count() == 1
    assert [commit.operation for commit in other.history()] == ["WRITE", "CREATE TABLE"]
    assert other.history(limit=1)[0].info["job"] == "nightly"
    assert other.snapshot(version=0).num_files == 0
    with pytest.raises(deltaic.TableExists):
        made(each, uri)


@pytest.mark.parametrize("name", ["a b", "ä/ü", "100%25", "day=1%252F2", "%23 %3F", "x+y&z", "deep/er/still"])
def test_a_place_may_have_any_name(each: Store, name: str) -> None:
    uri = f"{each.fresh()}/{name}"
    made(each, uri).append(DATA)
    table = deltaic.Table(uri, storage_options=each.options)
    assert sorted(table.snapshot().scan().to_arrow()["id"].to_pylist()) == [1, 2, 3]
    assert deltaic.Table(table.uri, storage_options=each.options).uri == table.uri
    # A URI with the same prefix is another table.
    assert not deltaic.Table.exists(f"{uri}x", each.options)


def test_a_table_may_be_the_whole_bucket(strict: StrictStore) -> None:
    store = strict_s3(strict.port)
    table = deltaic.Table.create("s3://whole", DATA.schema, storage_options=store.options)
    table.append(DATA)
    assert table.uri == "s3://whole/"
    assert deltaic.Table("s3://whole/", storage_options=store.options).snapshot().num_rows == 3


def test_one_of_many_makes_the_table(each: Store) -> None:
    """protocol: creation-of-new-log-entries.2."""
    uri = each.fresh()

    def make(_: int) -> int:
        try:
            made(each, uri)
        except deltaic.TableExists:
            return 0
        return 1

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(make, range(8))) == 1


def test_racing_appenders_lose_nothing(each: Store) -> None:
    """protocol: creation-of-new-log-entries.1, creation-of-new-log-entries.2."""
    uri = each.fresh()
    made(each, uri)

    def append(writer: int) -> list[int]:
        table = deltaic.Table(uri, storage_options=each.options)
        rows = (pa.table({"id": [writer * 10 + turn], "city": ["Rome"]}) for turn in range(3))
        return [table.append(row).version for row in rows]

    with ThreadPoolExecutor(6) as pool:
        versions = [version for mine in pool.map(append, range(6)) for version in mine]
    assert sorted(versions) == list(range(1, 19))
    snapshot = deltaic.Table(uri, storage_options=each.options).snapshot()
    ids = snapshot.scan(columns=["id"]).to_arrow()["id"].to_pylist()
    assert sorted(ids) == sorted(writer * 10 + turn for writer in range(6) for turn in range(3))


def test_a_large_file_goes_and_comes_in_parts(s3: Store, azure: Store) -> None:
    for store in (s3, azure):
        data = pa.table({"id": pa.array(range(3_000_000), pa.int64())})
        data = data.append_column("x", pa.array([(i * 2654435761) % 2**61 for i in range(3_000_000)]))
        uri = store.fresh()
        table = deltaic.Table.create(uri, data.schema, storage_options=store.options)
        table.append(data)
        assert table.snapshot().size_in_bytes > 10 * 2**20
        assert table.snapshot().scan().to_arrow().sort_by("id").equals(data)


def test_a_task_carries_what_another_process_needs(each: Store) -> None:
    uri = each.fresh()
    made(each, uri).append(DATA)
    tasks = deltaic.Table(uri, storage_options=each.options).snapshot().scan(columns=["id"]).tasks()
    code = (
        "import pickle, sys\n"
        "tasks = pickle.load(sys.stdin.buffer)\n"
        "print(sorted(id for task in tasks for id in task.read().read_all()['id'].to_pylist()))"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, input=pickle.dumps(tasks), capture_output=True, check=True)
    assert done.stdout.decode().strip() == "[1, 2, 3]"
    for task in tasks:
        for value in each.options.values():
            assert len(value) < 6 or value not in repr(task)


def test_a_table_lives_through_a_fork(each: Store) -> None:
    """A child has none of its parent's threads: it opens inherited objects again; the parent's still work."""
    uri = each.fresh()
    code = f"""
import os, pyarrow as pa, deltaic
options = {each.options!r}
data = pa.table({{"id": [1]}})
table = deltaic.Table.create({uri!r}, data.schema, storage_options=options)
table.append(data)
snapshot = table.snapshot()
child = os.fork()
if child == 0:
    code = 1
    try:
        assert snapshot.scan().count() == 1 and snapshot.files().num_rows == 1
        assert table.append(data).version == 2
        assert deltaic.Table({uri!r}, storage_options=options).snapshot().num_rows == 2
        code = 0
    finally:
        os._exit(code)
assert os.waitpid(child, 0)[1] == 0
assert table.snapshot().num_rows == 2
assert table.append(data).version == 3
print("both")
"""
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout == "both\n", done.stderr


def test_a_path_of_the_log_may_name_the_same_store_below_an_allowed_root(google: Store) -> None:
    donor, clone = google.fresh(), google.fresh()
    made(google, donor).append(DATA)
    files = deltaic.Table(donor, storage_options=google.options).snapshot().files().to_arrow()
    made(google, clone)
    adds = "".join(
        f'{{"add":{{"path":"{donor}/{path}","size":{size},"partitionValues":{{"city":null}},'
        '"modificationTime":1,"dataChange":true}}\n'
        for path, size in zip(files["path"].to_pylist(), files["size"].to_pylist(), strict=True)
    )
    google.put_all([(f"{google.key(clone)}/_delta_log/{1:020}.json", adds.encode())])
    with pytest.raises(deltaic.PathEscape):
        deltaic.Table(clone, storage_options=google.options).snapshot().scan().to_arrow()
    allowed = deltaic.Table(clone, storage_options=google.options, allowed_roots=[donor])
    assert sorted(allowed.snapshot().scan().to_arrow()["id"].to_pylist()) == [1, 2, 3]
