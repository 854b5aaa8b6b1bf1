"""Faults of a store during reads: retried with a limit, then reported. Never an incomplete table."""

from __future__ import annotations

import pyarrow as pa
import pytest

import deltaic

from .store import Store, strict_s3
from .strict_store import Fault, StrictStore

DATA = pa.table({"id": [1, 2]})
LIST = r"list-type=2"
COMMIT = r"_delta_log/0{19}1\.json"
FOREVER = float("inf")


def table(strict: StrictStore, **options: str) -> tuple[deltaic.Table, Store]:
    """Returns a table of two versions."""
    store = strict_s3(strict.port, **options)
    made = deltaic.Table.create(store.fresh(), DATA.schema, storage_options=store.options)
    made.append(DATA)
    return made, store


def opened(made: deltaic.Table, store: Store) -> deltaic.Snapshot:
    return deltaic.Table(made.uri, storage_options=store.options).snapshot()


@pytest.mark.parametrize("status", [429, 500, 502, 503, None])
@pytest.mark.parametrize("request_of", [("GET", LIST), ("GET", COMMIT), ("GET", r"\.parquet")])
def test_a_fault_that_passes_is_not_noticed(
    strict: StrictStore, request_of: tuple[str, str], status: int | None
) -> None:
    made, store = table(strict)
    strict.faults = [Fault(*request_of, status, times=2)]
    assert opened(made, store).scan().to_arrow()["id"].to_pylist() == [1, 2]


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_requests_are_made_again_as_often_as_reported(strict: StrictStore, retries: int) -> None:
    made, store = table(strict, max_retries=str(retries))
    strict.faults = [Fault("GET", LIST, 503, times=FOREVER)]
    strict.requests.clear()
    with pytest.raises(deltaic.StorageError, match="503") as caught:
        opened(made, store)
    assert caught.value.hint
    assert strict.asked("GET", LIST) == 1 + retries


@pytest.mark.parametrize("status", [400, 401, 403, 404, 412])
def test_permanent_failures_are_not_retried(strict: StrictStore, status: int) -> None:
    made, store = table(strict)
    strict.faults = [Fault("GET", LIST, status, times=FOREVER)]
    strict.requests.clear()
    with pytest.raises(deltaic.StorageError):
        opened(made, store)
    assert strict.asked("GET", LIST) == 1


@pytest.mark.parametrize("path", [LIST, COMMIT, r"\.parquet"])
def test_an_answer_that_breaks_off_is_never_taken_for_the_whole(strict: StrictStore, path: str) -> None:
    """A commit that is received empty or truncated is not an empty version (ClickHouse#111738)."""
    made, store = table(strict, max_retries="0")
    strict.faults = [Fault("GET", path, truncated=True, times=FOREVER)]
    with pytest.raises(deltaic.StorageError):
        opened(made, store).scan().to_arrow()
    strict.faults = [Fault("GET", path, truncated=True)]
    try:
        assert opened(made, store).scan().to_arrow()["id"].to_pylist() == [1, 2]
    except deltaic.StorageError:
        assert opened(made, store).scan().to_arrow()["id"].to_pylist() == [1, 2]


def test_a_store_that_states_nothing_is_given_up(strict: StrictStore) -> None:
    made, _ = table(strict)
    impatient = strict_s3(strict.port, max_retries="1", read_timeout="100ms")
    strict.faults = [Fault("GET", LIST, hangs=True, times=FOREVER)]
    strict.requests.clear()
    with pytest.raises(deltaic.StorageError, match=r"cannot be reached|timed out"):
        opened(made, impatient)
    assert strict.asked("GET", LIST) == 2


def test_a_listing_in_pages_and_out_of_order_is_the_same_table(strict: StrictStore) -> None:
    """protocol: delta-log-entries.1."""
    made, store = table(strict)
    for _ in range(5):
        made.append(DATA)
    whole = opened(made, store)
    strict.page, strict.lists_backwards = 2, True
    paged = opened(made, store)
    assert (paged.version, paged.num_files) == (whole.version, whole.num_files) == (6, 6)


@pytest.mark.parametrize("verb", ["snapshot", "history", "append", "exists", "create"])
def test_every_verb_reports_that_it_may_not(strict: StrictStore, verb: str) -> None:
    made, store = table(strict)
    strict.faults = [
        Fault(method, "", 403, "<Error><Code>AccessDenied</Code></Error>", times=FOREVER)
        for method in ("GET", "PUT", "HEAD", "POST")
    ]
    handle = deltaic.Table(made.uri, storage_options=store.options)
    verbs = {
        "snapshot": handle.snapshot,
        "history": handle.history,
        "append": lambda: handle.append(DATA),
        "exists": lambda: deltaic.Table.exists(made.uri, store.options),
        "create": lambda: deltaic.Table.create(store.fresh(), DATA.schema, storage_options=store.options),
    }
    with pytest.raises(deltaic.StorageError, match="permission denied") as caught:
        verbs[verb]()
    assert caught.value.hint


def test_a_writer_that_may_only_read_is_reported_so(strict: StrictStore) -> None:
    made, _ = table(strict)
    strict.faults = [Fault("PUT", "", 403, times=FOREVER)]
    before = dict(strict.objects)
    with pytest.raises(deltaic.StorageError, match="permission denied"):
        made.append(DATA)
    assert strict.objects == before
