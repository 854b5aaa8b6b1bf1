"""The tables and sources of the merges, and the rows after them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from files import Numbers, chance
from merge_operations import SET, WIDE_COLUMNS
from rows import SCHEMA, rows_of
from write_operations import REPLACED, SHOPS
from write_tables import BLOCK, WriteTables, link, with_column

# The sources whose rows all match.
ONLY_MATCHES = ("keys_deleted", "wide")
Mask = npt.NDArray[np.bool_]
# One row of so many is in a source: half of these are updated, and as many are inserted.
SOURCE = 100
# Each table of so many rows has a wide one with one row.
WIDE = 40
WIDE_SCHEMA = pa.schema([("id", pa.int64())] + [(f"c{i:03}", pa.int64()) for i in range(1, WIDE_COLUMNS)])


class MergeTables(WriteTables):
    """What the merges start from, in a folder that is kept."""

    MODULES = (*WriteTables.MODULES, "merge_operations", "merge_tables")

    @property
    def wide_rows(self) -> int:
        """The number of rows of the wide table."""
        return max(self.spec.rows // WIDE, 1_000)

    def schema_of(self, source: str) -> pa.Schema:
        """Returns the schema of the rows of a source."""
        return pa.schema([WIDE_SCHEMA.field(name) for name in ("id", *SET)]) if source == "wide" else SCHEMA

    def rows_of_source(self, name: str) -> Iterator[pa.Table]:
        """Yields the rows of a source: new versions of rows of the table, and then new rows."""
        if name == "rows":
            yield from super().rows_of_source(name)
            return
        if name == "wide":
            for numbers in blocks(0, self.wide_rows):
                changed = numbers[self.is_changed("wide", numbers)]
                yield self.new_wide(changed).select(["id", *SET])
            return
        for numbers in blocks(0, self.spec.rows):
            changed = numbers[self.is_changed(name, numbers)]
            if len(changed):
                yield self.new_versions(name, changed)
        if name not in ONLY_MATCHES:
            yield from self.inserted(name)

    def is_changed(self, source: str, numbers: Numbers) -> Mask:
        """Returns which rows of the table a source has new versions of."""
        if source == "recent":
            return numbers >= self.spec.rows - self.spec.rows // (2 * SOURCE)
        if source == "partition":
            shops = chance(self.spec, numbers, 4, 100) + 1
            return (shops % SHOPS == REPLACED) & (chance(self.spec, numbers, 21, 2 * SOURCE // SHOPS) == 0)
        each = SOURCE if source in ONLY_MATCHES else 2 * SOURCE
        return chance(self.spec, numbers, 20, each) == 0

    def new_versions(self, source: str, numbers: Numbers) -> pa.Table:
        """Returns other values for rows: those of rows far beyond the table's last."""
        new = rows_of(self.spec, numbers + np.uint64(4 * self.spec.rows))
        new = with_column(new, "id", rows_of(self.spec, numbers)["id"].combine_chunks())
        return self.of_partition(new) if source == "partition" else new

    def inserted(self, source: str) -> Iterator[pa.Table]:
        """Yields the new rows of a source."""
        for numbers in blocks(self.spec.rows, self.spec.rows + self.spec.rows // (2 * SOURCE)):
            new = rows_of(self.spec, numbers)
            if source == "skewed":
                new = with_column(new, "id", pa.array([-1] * new.num_rows, pa.int64()))
            yield self.of_partition(new) if source == "partition" else new

    def of_partition(self, rows: pa.Table) -> pa.Table:
        """Returns rows of the partition that is merged into."""
        return with_column(rows, "quantity", pa.array([REPLACED] * rows.num_rows, pa.int32()))

    def matches(self, source: str) -> int:
        """Returns the number of rows of the table that match a row of a source."""
        rows = self.wide_rows if source == "wide" else self.spec.rows
        return sum(int(self.is_changed(source, numbers).sum()) for numbers in blocks(0, rows))

    def rows_after(self, name: str) -> Callable[[], Iterator[pa.Table]]:
        """Returns a generator of the rows after the merge of a source."""
        if name == "wide":
            return self.wide_after
        if name == "inserted":
            return lambda: self.merged(name, lambda rows, _: rows)
        if name == "keys_deleted":
            return lambda: self.merged(name, lambda rows, changed: rows.filter(pa.array(~changed)))
        return lambda: self.merged(name, None)

    def merged(self, source: str, change: Callable[[pa.Table, Mask], pa.Table] | None) -> Iterator[pa.Table]:
        """Yields the rows after a merge that changes rows, or replaces them by their new versions."""
        rows = self.rows() if source == "partition" else self.numbered()
        for numbers, block in zip(blocks(0, self.spec.rows), rows, strict=True):
            changed = self.is_changed(source, numbers)
            if change is not None:
                yield change(block, changed)
                continue
            yield block.filter(pa.array(~changed))
            if changed.any():
                yield self.new_versions(source, numbers[changed])
        if source != "keys_deleted":
            yield from self.inserted(source)

    def wide(self, numbers: Numbers) -> pa.Table:
        """Returns rows of the wide table."""
        columns = [chance(self.spec, numbers, 100 + column, 1 << 40) for column in range(1, WIDE_COLUMNS)]
        return pa.table([numbers.astype(np.int64), *columns], schema=WIDE_SCHEMA)

    def new_wide(self, numbers: Numbers) -> pa.Table:
        """Returns other values for rows of the wide table."""
        new = self.wide(numbers + np.uint64(4 * self.wide_rows))
        return with_column(new, "id", pa.array(numbers.astype(np.int64)))

    def wide_after(self) -> Iterator[pa.Table]:
        """Yields the rows of the wide table after its merge."""
        for numbers in blocks(0, self.wide_rows):
            changed = self.is_changed("wide", numbers)
            block, new = self.wide(numbers), self.new_wide(numbers)
            for name in SET:
                values = np.where(changed, new[name].to_numpy(), block[name].to_numpy())
                block = with_column(block, name, pa.array(values))
            yield block

    def make(self, name: str, path: Path) -> None:
        """Makes a table."""
        import deltaic
        from deltaic.alter import SetProperties

        if name.endswith("_vectors"):
            link(self.base(name.removesuffix("_vectors")), path)
            deltaic.Table(path).alter(SetProperties({"delta.enableDeletionVectors": "true"}))
        elif name == "wide":
            rows = (batch for block in blocks(0, self.wide_rows) for batch in self.wide(block).to_batches())
            stream = pa.RecordBatchReader.from_batches(WIDE_SCHEMA, rows)
            deltaic.Table.create(path, WIDE_SCHEMA).append(stream)
        else:
            super().make(name, path)


def blocks(begin: int, end: int) -> Iterator[Numbers]:
    """Yields consecutive numbers."""
    for start in range(begin, end, BLOCK):
        yield np.arange(start, min(start + BLOCK, end), dtype=np.uint64)
