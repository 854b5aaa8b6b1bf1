"""Many processes append to one table on S3, also with lost responses: each commit lands once."""

from __future__ import annotations

import deltaic
from tests.conflicts.appender import SCHEMA
from tests.conflicts.writers import Reader, asked_for, landed_once, race

from .losing_proxy import losing_proxy
from .store import Store
from .store import s3 as s3_on

WRITERS = asked_for("RACE_WRITERS", 8)
COMMITS = asked_for("RACE_STORE_COMMITS", 10)
LOST_WRITERS, LOST_COMMITS = 8, 8


def reader(store: Store, uri: str) -> Reader:
    """Returns a reader of a table's files without deltaic."""
    return lambda path: store.get(f"{store.key(uri)}/{path}")


def test_every_commit_of_many_writers_lands_once(s3: Store) -> None:
    """protocol: creation-of-new-log-entries.1, creation-of-new-log-entries.2."""
    table = deltaic.Table.create(s3.fresh(), SCHEMA, storage_options=s3.options)
    told = race(table.uri, WRITERS, COMMITS, s3.options)
    landed_once(told, COMMITS, reader(s3, table.uri))
    snapshot = table.snapshot()
    assert (snapshot.version, snapshot.num_rows) == (WRITERS * COMMITS, WRITERS * COMMITS)


def test_a_put_that_is_taken_unheard_is_one_commit(s3: Store) -> None:
    """No writer fails, and none mistakes its own commit for another one."""
    table = deltaic.Table.create(s3.fresh(), SCHEMA, storage_options=s3.options)
    with losing_proxy(s3.port) as proxy:
        options = {**s3_on(proxy.port).options, "aws_conditional_put": "etag"}
        told = race(table.uri, LOST_WRITERS, LOST_COMMITS, options)
        lost = list(proxy.lost)
    landed_once(told, LOST_COMMITS, reader(s3, table.uri))
    assert len(lost) == len(set(lost)) == LOST_WRITERS * LOST_COMMITS
