"""The rows and tables of the writes: generated once, and linked for each measurement."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from rows import SCHEMA, rows_of
from run import HERE, table_of
from workload import RowsSpec, Workload, read_all
from write_operations import REPLACED, SHOPS, Write

BLOCK = 50_000
CHANGED_CUSTOMERS = 10_000


class WriteTables:
    """What the writes start from, in a folder that is kept."""

    MODULES: tuple[str, ...] = ("files", "rows", "row_digest", "write_operations", "write_tables")
    """The modules that decide about the rows."""

    def __init__(self, folder: Path, scale: float) -> None:
        (workload,) = (one for one in read_all() if one.name == "data")
        self.workload: Workload = workload.scaled(scale)
        assert isinstance(self.workload.table, RowsSpec)
        self.spec: RowsSpec = self.workload.table
        self.tables = folder
        digest = hashlib.blake2b(str(self.spec.rows).encode(), digest_size=6)
        for module in self.MODULES:
            digest.update((HERE / f"{module}.py").read_bytes())
        self.folder = folder / f"writes-{digest.hexdigest()}"
        self.folder.mkdir(parents=True, exist_ok=True)

    def source(self, name: str) -> Path:
        """Returns the file of an Arrow stream with rows to write."""
        path = self.folder / f"{name}.arrow"
        if not path.exists():
            print(f"generating the rows of {name}", flush=True)
            partial, schema = path.with_suffix(".partial"), self.schema_of(name)
            with pa.OSFile(str(partial), "wb") as file, pa.ipc.new_stream(file, schema) as stream:
                for block in self.rows_of_source(name):
                    stream.write_table(block)
            partial.rename(path)
        return path

    def schema_of(self, source: str) -> pa.Schema:  # noqa: ARG002
        """Returns the schema of the rows of a source."""
        return SCHEMA

    def rows_of_source(self, name: str) -> Iterator[pa.Table]:
        """Yields the rows of a source: the rows to append, or those of one partition."""
        return self.rows() if name == "rows" else self.replacement()

    def numbered(self) -> Iterator[pa.Table]:
        """Yields all rows of the table `data`."""
        import numpy as np

        for begin in range(0, self.spec.rows, BLOCK):
            end = min(begin + BLOCK, self.spec.rows)
            yield rows_of(self.spec, np.arange(begin, end, dtype=np.uint64))

    def rows(self) -> Iterator[pa.Table]:
        """Yields the rows to append: `quantity` has as many values as there are partitions."""
        for block in self.numbered():
            quantity = pa.array(block["quantity"].to_numpy() % SHOPS, pa.int32())
            yield with_column(block, "quantity", quantity)

    def replacement(self) -> Iterator[pa.Table]:
        """Yields as many rows as the replaced partition has, about."""
        left = self.spec.rows // SHOPS
        for block in self.numbered():
            rows = block.slice(0, left)
            left -= rows.num_rows
            yield with_column(rows, "quantity", pa.array([REPLACED] * rows.num_rows, pa.int32()))
            if not left:
                return

    def matches(self, source: str) -> int:
        """Returns the number of rows of the table that match a row of a source."""
        raise NotImplementedError(source)

    def answer(self, name: str) -> dict:
        """Returns the digest of the expected rows."""
        from row_digest import digest_of

        path = self.folder / f"{name}.json"
        if not path.exists():
            path.write_text(json.dumps(vars(digest_of(self.rows_after(name)()))))
        return json.loads(path.read_text())

    def rows_after(self, name: str) -> Callable[[], Iterator[pa.Table]]:
        """Returns a generator of the rows after a write."""
        found: dict[str, Callable[[], Iterator[pa.Table]]] = {
            "rows": self.rows,
            "deleted": lambda: (
                block.filter(pc.greater_equal(block["customer"], CHANGED_CUSTOMERS))
                for block in self.numbered()
            ),
            "updated": lambda: map(updated, self.numbered()),
            "overwritten": self.overwritten,
        }
        return found[name]

    def overwritten(self) -> Iterator[pa.Table]:
        """Yields the rows after the overwrite of one partition."""
        for block in self.rows():
            yield block.filter(pc.not_equal(block["quantity"], REPLACED))
        yield from self.replacement()

    def base(self, name: str) -> Path:
        """Returns a table that must not be changed."""
        if name == "data":
            return table_of(self.workload, self.tables)[0]
        path = self.folder / name
        if not (path / "complete").exists():
            shutil.rmtree(path, ignore_errors=True)
            self.make(name, path)
            (path / "complete").touch()
        return path

    def make(self, name: str, path: Path) -> None:
        """Makes a table."""
        import deltaic
        from deltaic.alter import SetProperties

        if name == "vectors":
            link(self.base("data"), path)
            deltaic.Table(path).alter(SetProperties({"delta.enableDeletionVectors": "true"}))
            return
        partition_by = ["quantity"] if "partitioned" in name else []
        table = deltaic.Table.create(path, SCHEMA, partition_by=partition_by)
        if name == "partitioned":
            with pa.OSFile(str(self.source("rows"))) as file:
                table.append(pa.ipc.open_stream(file))

    def fresh(self, write: Write, peer: str) -> Path:
        """Returns a table that the peer may change."""
        path = self.folder / "changed"
        shutil.rmtree(path, ignore_errors=True)
        link(self.base(write.table_of(peer)), path)
        return path


def with_column(table: pa.Table, name: str, values: pa.Array) -> pa.Table:
    """Replaces a column."""
    index = table.schema.get_field_index(name)
    return table.set_column(index, table.schema.field(index), values)


def updated(block: pa.Table) -> pa.Table:
    """Returns the rows after the update."""
    is_changed = pc.less(block["customer"], CHANGED_CUSTOMERS)
    amount = pc.if_else(is_changed, pc.add(block["amount"], 1.0), block["amount"])
    return with_column(block, "amount", amount.combine_chunks())


def link(table: Path, to: Path) -> None:
    """Copies a table's log and links its data files, which no writer changes."""
    shutil.copytree(table, to, copy_function=lambda source, target: copied(Path(source), Path(target)))


def copied(source: Path, target: Path) -> None:
    """Copies or links one file."""
    if "_delta_log" in source.parts:
        shutil.copyfile(source, target)
    elif source.suffix == ".parquet":
        os.link(source, target)
