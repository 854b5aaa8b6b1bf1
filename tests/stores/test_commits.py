"""Commits on a store that loses responses, cannot decide or overwrites: one commit, or none and an error."""

from __future__ import annotations

import pyarrow as pa
import pytest

import deltaic

from .store import Store, google, strict_s3
from .strict_store import Fault, StrictStore

DATA = pa.table({"id": [1, 2]})
COMMIT = r"_delta_log/0{19}1\.json"
FIRST = r"_delta_log/0{20}\.json"
UNDECIDED = "<Error><Code>ConditionalRequestConflict</Code><Message>again</Message></Error>"


@pytest.fixture(params=["s3", "google"])
def store(request: pytest.FixtureRequest, strict: StrictStore) -> Store:
    """The strict store, as S3 and as Google's store."""
    return strict_s3(strict.port) if request.param == "s3" else google(strict.port)


def made(store: Store) -> deltaic.Table:
    return deltaic.Table.create(store.fresh(), DATA.schema, storage_options=store.options)


def rows(table: deltaic.Table, store: Store) -> int | None:
    return deltaic.Table(table.uri, storage_options=store.options).snapshot().num_rows


@pytest.mark.parametrize("status", [500, 503, 429, None])
def test_a_put_whose_answer_is_lost_is_one_commit(
    store: Store, strict: StrictStore, status: int | None
) -> None:
    """A retried put finds its own object: this is not a conflict (aws-sdk-java-v2#6580, delta#7345)."""
    strict.faults = [Fault("PUT", FIRST, status, done=True), Fault("PUT", COMMIT, status, done=True)]
    table = made(store)
    commit = table.append(DATA)
    assert (commit.version, commit.conflicts_resolved) == (1, [])
    assert rows(table, store) == 2
    assert [c.operation for c in table.history()] == ["WRITE", "CREATE TABLE"]


@pytest.mark.parametrize("status", [500, 503, None])
def test_a_put_that_never_arrives_is_made_again(
    store: Store, strict: StrictStore, status: int | None
) -> None:
    table = made(store)
    strict.faults = [Fault("PUT", COMMIT, status)]
    assert table.append(DATA).version == 1
    assert rows(table, store) == 2


def test_an_undecided_put_is_made_again_at_the_same_version(strict: StrictStore) -> None:
    """S3 returns 409 during a concurrent write to the same key: no writer has won yet."""
    store = strict_s3(strict.port)
    table = made(store)
    strict.faults = [Fault("PUT", COMMIT, 409, UNDECIDED, times=2)]
    commit = table.append(DATA)
    assert (commit.version, commit.conflicts_resolved) == (1, [])
    assert strict.asked("PUT", COMMIT) == 3


def test_a_commit_is_a_conditional_put(store: Store, strict: StrictStore) -> None:
    """protocol: creation-of-new-log-entries.1, creation-of-new-log-entries.2."""
    table = made(store)
    key = f"{store.key(table.uri)}/_delta_log/{1:020}.json"
    other = '{"commitInfo":{"operation":"OTHER","timestamp":1,"isBlindAppend":true}}\n'
    strict.objects[key] = other.encode()
    commit = table.append(DATA)
    assert commit.version == 2
    assert strict.objects[key] == other.encode()


def test_a_store_that_overwrites_is_not_written_to(store: Store, strict: StrictStore) -> None:
    """A server that ignores the condition would lose commits (delta#1830, delta#1410)."""
    strict.ignores_conditions = True
    with pytest.raises(deltaic.StorageError, match="overwrites") as caught:
        made(store)
    assert caught.value.hint
    assert not [key for key in strict.objects if key.endswith(".json")]
    assert not [key for key in strict.objects if "_probe-" in key]


def test_a_store_that_overwrites_loses_no_version_to_an_append(store: Store, strict: StrictStore) -> None:
    table = made(strict_s3(strict.port, aws_conditional_put="etag") if store.scheme == "s3" else store)
    strict.ignores_conditions = True
    before = dict(strict.objects)
    # Settings that were not used before, so that nothing is cached about the store.
    fresh = {**store.options, "user_agent": "another"}
    with pytest.raises(deltaic.StorageError, match="overwrites"):
        deltaic.Table(table.uri, storage_options=fresh).append(DATA)
    commits = {key: body for key, body in strict.objects.items() if "_delta_log" in key}
    assert commits == {key: body for key, body in before.items() if "_delta_log" in key}


def test_the_store_is_tried_once_and_not_where_the_user_vouches(strict: StrictStore) -> None:
    store = strict_s3(strict.port)
    table = made(store)
    table.append(DATA)
    table.append(DATA)
    assert strict.asked("PUT", "_probe-") == 2
    vouched = strict_s3(strict.port, aws_conditional_put="etag")
    made(vouched).append(DATA)
    assert strict.asked("PUT", "_probe-") == 2


def test_a_store_without_conditional_puts_is_read_and_not_written(strict: StrictStore) -> None:
    store = strict_s3(strict.port)
    table = made(store)
    table.append(DATA)
    without = {**store.options, "aws_conditional_put": "disabled"}
    reader = deltaic.Table(table.uri, storage_options=without)
    assert reader.snapshot().num_rows == 2
    with pytest.raises(deltaic.StorageError, match="does not support the request"):
        reader.append(DATA)


def test_an_outcome_that_cannot_be_learnt_is_reported(strict: StrictStore) -> None:
    store = strict_s3(strict.port, max_retries="0")
    table = made(store)
    table.snapshot()
    strict.faults = [Fault("PUT", COMMIT, 500, times=9), Fault("GET", COMMIT, 500, times=9)]
    with pytest.raises(deltaic.CommitUnknown) as caught:
        table.append(DATA)
    assert caught.value.context["version"] == 1
    assert caught.value.hint
