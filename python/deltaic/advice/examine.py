"""Examines a table: runs all checks of the advice."""

from __future__ import annotations

import json
from collections.abc import Sequence

from deltaic.advice.advice import Advice
from deltaic.advice.clients import check_clients, client_support
from deltaic.advice.columns import check_clustering, check_statistics, clustering_of
from deltaic.advice.downgrade import downgrade_path, features_after
from deltaic.advice.facts import TableFacts, clustering_columns, column_path, read_facts
from deltaic.advice.log import check_log
from deltaic.advice.partitions import check_partitions, check_small_files, partition_figures
from deltaic.advice.recommendation import Recommendation
from deltaic.advice.retention import check_retention
from deltaic.advice.rows import check_deletion_vectors, check_removed_files
from deltaic.commit import Commit
from deltaic.reading.snapshot import Snapshot
from deltaic.writing.dry_run import DryRun

__all__ = ["advise_on", "facts_of"]

_ORDER = {"warning": 0, "advice": 1, "info": 2}


def facts_of(
    snapshot: Snapshot,
    log_files: Sequence[tuple[str, int]],
    commits: Sequence[Commit],
    filters: Sequence[str] | None,
    now_ms: int,
) -> TableFacts:
    """Reads what the checks need.

    Raises:
        ValueError: A column of the filters does not exist.
    """
    examined = clustering_columns(snapshot) if filters is None else _known(snapshot, filters)
    return read_facts(snapshot, log_files, commits, examined, now_ms)


def advise_on(facts: TableFacts, preview: DryRun | None) -> Advice:
    """Runs all checks.

    Args:
        facts: The table.
        preview: What an optimization would do; None if this is estimated.
    """
    snapshot = facts.snapshot
    partitions = partition_figures(facts)
    columns = tuple(clustering_of(column) for column in facts.columns)
    clients = client_support(facts.reader_features, facts.writer_features)
    downgrade = downgrade_path(facts, {name for client in clients for name in client.obstacles})
    findings: list[Recommendation] = [
        *check_small_files(facts, partitions, preview),
        *check_partitions(facts, partitions),
        *check_statistics(facts),
        *check_clustering(facts, columns, clustering_columns(snapshot), len(partitions)),
        *check_deletion_vectors(facts),
        *check_log(facts),
        *check_retention(facts),
        *check_removed_files(facts),
        *check_clients(facts, clients, features_after(facts, downgrade)),
    ]
    return Advice(
        snapshot.uri,
        snapshot.version,
        snapshot.num_files,
        snapshot.size_in_bytes,
        facts.num_rows,
        tuple(sorted(findings, key=lambda finding: (_ORDER[finding.severity], finding.code))),
        columns,
        clients,
        downgrade,
    )


def _known(snapshot: Snapshot, filters: Sequence[str]) -> list[str]:
    schema = json.loads(snapshot.schema.to_json())
    known = list(dict.fromkeys([*clustering_columns(snapshot), *filters]))
    for name in known:
        if column_path(name, schema) is None:
            names = ", ".join(snapshot.schema.names[:20])
            raise ValueError(f"filters: the table has no column {name!r}; its columns are: {names}")
    return known
