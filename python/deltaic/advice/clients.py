"""Which known clients can read and write a table with given features."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from deltaic.advice.facts import TableFacts
from deltaic.advice.known_clients import CLIENTS, KnownClient
from deltaic.advice.recommendation import Recommendation

__all__ = ["ClientSupport", "check_clients", "client_support"]

Support = Literal["yes", "no", "unknown"]


@dataclass(frozen=True)
class ClientSupport:
    """Whether one client can read and write the table."""

    name: str
    """The client, with its version unless a line of versions is meant."""
    reads: str
    """``"yes"``, ``"no"``, ``"unknown"``, or the first version that can, as ``"3.2 or later"``."""
    writes: str
    """The same for appends; a writer must support the reader features too."""
    obstacles: tuple[str, ...] = ()
    """The features that the client does not support."""
    unknown: tuple[str, ...] = ()
    """The features of which it is not known."""
    source: str = ""
    """Where this is known from."""

    def to_dict(self) -> dict[str, object]:
        """Returns the support as plain values."""
        return {
            "name": self.name,
            "reads": self.reads,
            "writes": self.writes,
            "obstacles": list(self.obstacles),
            "unknown": list(self.unknown),
            "source": self.source,
        }


def client_support(readers: Iterable[str], writers: Iterable[str]) -> tuple[ClientSupport, ...]:
    """Evaluates all known clients.

    Args:
        readers: The features that a reader must support.
        writers: The features that a writer must support.

    >>> spark = client_support(["deletionVectors"], ["deletionVectors", "rowTracking"])[0]
    >>> spark.name, spark.reads, spark.writes
    ('delta-spark', '3.0 or later', '3.2 or later')
    """
    for_reading, for_writing = frozenset(readers), frozenset(readers) | frozenset(writers)
    return tuple(
        _of_versions(client, for_reading, for_writing)
        if client.since
        else _of_one(client, for_reading, for_writing)
        for client in CLIENTS
    )


def check_clients(
    facts: TableFacts, clients: Sequence[ClientSupport], remaining: Collection[str] | None
) -> Iterator[Recommendation]:
    """Names the features that keep known clients from reading or writing the table.

    Args:
        facts: The table.
        clients: What the known clients support.
        remaining: The features after the downgrade path; None if it drops none.
    """
    no_reader = [client.name for client in clients if client.reads == "no"]
    no_writer = [client.name for client in clients if client.writes == "no"]
    if not no_writer and not no_reader:
        return
    obstacles = sorted({name for client in clients for name in client.obstacles})
    lists = (("read", no_reader), ("write", no_writer))
    cannot = "; ".join(f"{', '.join(found)} cannot {verb} it" for verb, found in lists if found)
    later = () if remaining is None else client_support(*_split(facts, remaining))
    can_read = [new.name for old, new in zip(clients, later, strict=False) if old.reads == "no" != new.reads]
    can_write = [
        new.name for old, new in zip(clients, later, strict=False) if old.writes == "no" != new.writes
    ]
    gained = [
        f"{', '.join(names)} can {verb} it"
        for verb, names in (("read", can_read), ("write", can_write))
        if names
    ]
    effect = f"after the steps of the downgrade path, {'; '.join(gained)}" if gained else ""
    yield Recommendation(
        "CLIENTS_LOCKED_OUT",
        "info",
        _title(len(no_writer), len(no_reader), len(clients)),
        f"{cannot}. The features that they lack are {', '.join(obstacles)}.",
        effect,
        figures={
            "cannot_read": no_reader,
            "cannot_write": no_writer,
            "features": obstacles,
            "reader_features": sorted(facts.reader_features),
            "writer_features": sorted(facts.writer_features),
        },
    )


def _title(no_writer: int, no_reader: int, total: int) -> str:
    if not no_writer:
        return f"{no_reader} of {total} known clients cannot read the table"
    also = f", {no_reader} cannot read it" if no_reader else ""
    return f"{no_writer} of {total} known clients cannot write the table{also}"


def _split(facts: TableFacts, remaining: Collection[str]) -> tuple[set[str], set[str]]:
    return set(facts.reader_features).intersection(remaining), set(remaining)


def _of_versions(client: KnownClient, readers: frozenset[str], writers: frozenset[str]) -> ClientSupport:
    missing = sorted(name for name in writers if name not in client.since)
    unknown = tuple(name for name in missing if name in client.varying or not client.is_complete)
    return ClientSupport(
        client.name,
        _since(client, readers),
        _since(client, writers),
        obstacles=tuple(name for name in missing if name not in unknown),
        unknown=unknown,
        source=client.source,
    )


def _since(client: KnownClient, features: frozenset[str]) -> str:
    missing = features - client.since.keys()
    if missing:
        return "no" if client.is_complete and not missing <= client.varying else "unknown"
    first = max((client.since[name] for name in features), key=_key, default=client.oldest)
    return f"{first} or later"


def _key(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _of_one(client: KnownClient, readers: frozenset[str], writers: frozenset[str]) -> ClientSupport:
    reads = {name: _support(name, client, client.reads, client.refuses_reading) for name in readers}
    writes = {name: _support(name, client, client.writes, client.refuses_writing) for name in writers}
    both = [*reads.items(), *writes.items()]
    return ClientSupport(
        client.name,
        _worst(reads.values()),
        # The features of `writes` include those of readers: appending was measured by itself.
        _worst(writes.values()),
        obstacles=tuple(sorted({name for name, found in both if found == "no"})),
        unknown=tuple(sorted({name for name, found in both if found == "unknown"})),
        source=client.source,
    )


def _support(name: str, client: KnownClient, yes: frozenset[str], no: frozenset[str]) -> Support:
    if name in yes:
        return "yes"
    return "no" if client.is_complete or name in no else "unknown"


def _worst(found: Iterable[str]) -> Support:
    values = set(found)
    return "no" if "no" in values else "unknown" if "unknown" in values else "yes"
