"""A retried put is refused: the first one may have succeeded, so no data file may be deleted unchecked."""

from __future__ import annotations

import pyarrow as pa
import pytest

import deltaic

from .store import Store, google, strict_s3
from .strict_store import Fault, StrictStore

DATA = pa.table({"id": [1, 2]})
COMMIT = r"_delta_log/0{19}1\.json"
FIRST = r"_delta_log/0{20}\.json"
SECOND = r"_delta_log/0{19}2\.json"
FOREVER = float("inf")

BEFORE = [500, 503, 429, None]
REFUSALS = [401, 403, 404]


@pytest.fixture(params=["s3", "google"])
def store(request: pytest.FixtureRequest, strict: StrictStore) -> Store:
    """The strict store, as S3 and as Google's store."""
    return strict_s3(strict.port) if request.param == "s3" else google(strict.port)


def made(store: Store) -> deltaic.Table:
    return deltaic.Table.create(store.fresh(), DATA.schema, storage_options=store.options)


def rows(table: deltaic.Table, store: Store) -> int:
    opened = deltaic.Table(table.uri, storage_options=store.options)
    return opened.snapshot().scan().to_arrow().num_rows


@pytest.mark.parametrize("refusal", REFUSALS)
@pytest.mark.parametrize("status", BEFORE)
def test_an_append_that_remains_is_not_a_failure(
    store: Store, strict: StrictStore, status: int | None, refusal: int
) -> None:
    """protocol: creation-of-new-log-entries.1, creation-of-new-log-entries.2."""
    table = made(store)
    strict.faults = [Fault("PUT", COMMIT, status, done=True), Fault("PUT", COMMIT, refusal, times=FOREVER)]
    commit = table.append(DATA)
    assert (commit.version, commit.conflicts_resolved) == (1, [])
    assert rows(table, store) == 2


@pytest.mark.parametrize("refusal", REFUSALS)
@pytest.mark.parametrize("status", BEFORE)
def test_no_data_file_is_deleted_in_an_unlistable_folder(
    store: Store, strict: StrictStore, status: int | None, refusal: int
) -> None:
    table = made(store)
    strict.faults = [
        Fault("PUT", COMMIT, status, done=True),
        Fault("PUT", COMMIT, refusal, times=FOREVER),
        Fault("GET", COMMIT, refusal if refusal != 404 else 403, times=FOREVER),
    ]
    strict.requests.clear()
    with pytest.raises(deltaic.CommitUnknown):
        table.append(DATA)
    assert strict.asked("DELETE", r"\.parquet") == 0
    strict.faults = []
    assert rows(table, store) == 2


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_successful_delete_retains_its_deletion_vectors(strict: StrictStore, refusal: int) -> None:
    store = strict_s3(strict.port)
    properties = {"delta.enableDeletionVectors": "true"}
    table = deltaic.Table.create(
        store.fresh(), DATA.schema, properties=properties, storage_options=store.options
    )
    # Too many scattered rows for an inline deletion vector.
    table.append(pa.concat_tables([DATA] * 50))
    (path,) = table.snapshot().files().to_arrow()["path"].to_pylist()
    strict.faults = [Fault("PUT", SECOND, 503, done=True), Fault("PUT", SECOND, refusal, times=FOREVER)]
    with table.transaction() as tx:
        tx.delete_rows({path: range(0, 100, 2)})
    assert strict.asked("PUT", "deletion_vector") == 1
    assert rows(table, store) == 50


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_table_that_was_made_is_made(store: Store, strict: StrictStore, refusal: int) -> None:
    strict.faults = [Fault("PUT", FIRST, 500, done=True), Fault("PUT", FIRST, refusal, times=FOREVER)]
    table = made(store)
    assert (table.snapshot().version, rows(table, store)) == (0, 0)


@pytest.mark.parametrize("refusal", REFUSALS)
def test_a_first_refusal_is_reported_at_once(store: Store, strict: StrictStore, refusal: int) -> None:
    table = made(store)
    before = set(strict.objects)
    strict.faults = [Fault("PUT", COMMIT, refusal, times=FOREVER)]
    strict.requests.clear()
    with pytest.raises(deltaic.StorageError) as caught:
        table.append(DATA)
    assert type(caught.value) is deltaic.StorageError
    assert caught.value.hint
    assert strict.asked("PUT", COMMIT) == 1
    assert set(strict.objects) == before


def key_of(uri: str) -> str:
    return uri.split("://", 1)[1].split("/", 1)[1]


def longest_line(commit: bytes) -> int:
    return max(len(line) for line in commit.splitlines())


@pytest.mark.parametrize("what", ["commit_info", "stats"])
def test_our_own_commit_is_known_however_long_its_lines_are(
    store: Store, strict: StrictStore, what: str
) -> None:
    # The schema contains the names once, the statistics three times.
    data = pa.table({f"{number}{'x' * 60}": [number] for number in range(30)}) if what == "stats" else DATA
    uri = store.fresh()
    deltaic.Table.create(uri, data.schema, storage_options=store.options)
    (first,) = [name for name in strict.objects if name.startswith(key_of(uri)) and name.endswith("0.json")]
    limit = longest_line(strict.objects[first])
    table = deltaic.Table(uri, storage_options=store.options, max_line_bytes=limit)
    strict.faults = [Fault("PUT", COMMIT, 500, done=True)]
    info = {"userMetadata": "x" * (2 * limit)} if what == "commit_info" else None
    commit = table.append(data, commit_info=info, upkeep=False)
    assert commit.version == 1
    assert longest_line(strict.objects[first.replace("0.json", "1.json")]) > limit
    assert rows(table, store) == data.num_rows
