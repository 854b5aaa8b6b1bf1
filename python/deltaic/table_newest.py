"""The newest version of a table, as its snapshot has it."""

from __future__ import annotations

from deltaic.all_rows import AllRows
from deltaic.engines.predicate_sql import Predicate
from deltaic.handle import Handle
from deltaic.reading.arrow_table import ArrowTable
from deltaic.reading.scan import Scan
from deltaic.reading.schema import Schema
from deltaic.reading.snapshot import Snapshot

__all__ = ["TableNewest"]


class TableNewest(AllRows, Handle):
    """What a table has of its newest version. Each use reads what is new in the log.

    Several uses may see several versions: `Table.snapshot` returns one version.
    """

    __slots__ = ()

    @property
    def version(self) -> int:
        """The newest version.

        >>> import deltaic, pyarrow
        >>> table = deltaic.write("gondolas", pyarrow.table({"id": [1]}))
        >>> commit = table.append(pyarrow.table({"id": [2]}))
        >>> table.version, table.schema.names, table.files().num_rows
        (1, ['id'], 2)
        """
        return self._refreshed().version

    @property
    def schema(self) -> Schema:
        """The columns of the newest version, by their logical names."""
        return Schema(self._refreshed().schema)

    def files(self, predicate: Predicate | None = None, *, stats: bool = False) -> ArrowTable:
        """Returns the live files of the newest version, as `Snapshot.files`."""
        return Snapshot(self._refreshed()).files(predicate, stats=stats)

    def _all_rows(self) -> Scan:
        return Snapshot(self._refreshed()).scan()
