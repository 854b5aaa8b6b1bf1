"""Writes a table with data: Parquet files, deletion vectors, and the log that references them.

As delta-spark writes: one row group per file, Snappy, pages of 20,000 rows with an index, dictionaries if
smaller than the values. Version 0 has all files. If rows are deleted, version 1 adds deletion vectors.
"""

from __future__ import annotations

import os
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import data_log
import deletions
from predicates import ALL_QUERIES
from row_digest import Digest, hashes_of
from rows import deleted, numbers_in, region_in, rows_of
from workload import RowsSpec

ROWS_PER_PAGE = 20_000
WITH_DICTIONARY = ("quantity", "region", "day")


def write(spec: RowsSpec, folder: Path) -> tuple[int, int, dict[str, dict]]:
    """Writes all files; returns the version, their total size, and the answers to all queries."""
    (folder / "_delta_log").mkdir(parents=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        written = list(pool.map(lambda file: write_file(spec, folder, file), range(spec.files)))
    facts = [fact for fact, _ in written]
    data_log.write_commit(folder, 0, data_log.first(spec, facts))
    if spec.deletions:
        write_vectors(spec, folder, facts)
    answers: dict[str, Digest] = {name: Digest() for name in ALL_QUERIES}
    for _, digests in written:
        for name, digest in digests.items():
            answers[name].join(digest)
    size = sum(fact["size"] for fact in facts)
    return int(spec.deletions), size, {name: vars(digest) for name, digest in answers.items()}


def write_file(spec: RowsSpec, folder: Path, file: int) -> tuple[dict, dict[str, Digest]]:
    """Writes a data file; returns the facts of its add, and its part of each answer."""
    numbers = numbers_in(spec, file)
    table = rows_of(spec, numbers)
    name = uuid.uuid5(uuid.NAMESPACE_OID, f"{spec}{file}")
    path = f"part-{file:05}-{name}-c000.snappy.parquet"
    values = {}
    if spec.partitioned:
        values = {"region": region_in(spec, file)}
        path = f"region={values['region']}/{path}"
    stored = data_log.stored(spec, table)
    (folder / path).parent.mkdir(exist_ok=True)
    options = {"store_schema": False, "store_decimal_as_integer": True, "write_page_index": True}
    options |= {"use_dictionary": data_log.physical_names(spec, WITH_DICTIONARY), "compression": "snappy"}
    with pq.ParquetWriter(folder / path, stored.schema, max_rows_per_page=ROWS_PER_PAGE, **options) as writer:
        writer.write_table(stored, row_group_size=table.num_rows)
    fact = {"path": path, "size": (folder / path).stat().st_size, "values": values}
    return {**fact, "statistics": data_log.statistics(stored)}, answers_of(spec, numbers, table)


def answers_of(spec: RowsSpec, numbers: np.ndarray, table: pa.Table) -> dict[str, Digest]:
    """Returns the digest of a file's rows for each query."""
    hashes = hashes_of(table)
    live = ~deleted(spec, numbers) if spec.deletions else np.ones(len(numbers), dtype=bool)
    found = {}
    for name, query in ALL_QUERIES.items():
        mask = query.condition(lambda column: np.asarray(table[column]), np.ones_like(live))
        mask = mask & live if query.version is None else mask
        found[name] = Digest()
        chosen = {column: hashes[column][mask] for column in query.columns or hashes}
        found[name].add(chosen, int(mask.sum()))
    return found


def write_vectors(spec: RowsSpec, folder: Path, facts: list[dict]) -> None:
    """Writes version 1: all deletion vectors in one file, and each data file's add with its own."""
    name = uuid.uuid5(uuid.NAMESPACE_OID, f"{spec}")
    content = bytearray(deletions.VERSION)
    vectors = []
    for file in range(spec.files):
        positions = np.flatnonzero(deleted(spec, numbers_in(spec, file)))
        body = deletions.vector(positions)
        vectors.append(
            {
                "storageType": "u",
                "pathOrInlineDv": deletions.z85(name.bytes),
                "offset": len(content),
                "sizeInBytes": len(body),
                "cardinality": len(positions),
            }
        )
        content += deletions.framed(body)
    (folder / f"deletion_vector_{name}.bin").write_bytes(content)
    data_log.write_commit(folder, 1, data_log.second(facts, vectors))
