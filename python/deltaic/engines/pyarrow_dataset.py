"""A snapshot as a `pyarrow.dataset.Dataset` with pushdown of filters and columns, for DuckDB and others."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from deltaic.engines.conditions import Translation
from deltaic.engines.from_pyarrow import columns_of, translate_pyarrow

if TYPE_CHECKING:
    from typing import Literal

    from deltaic.engines.snapshot_rows import SnapshotRows

__all__ = ["SnapshotDataset"]

# pyarrow ships no types, and this module is imported only on use.
_arrow: Any = import_module("pyarrow")
_dataset: Any = import_module("pyarrow.dataset")
_BATCH_SIZE = 131_072
# Below a path that is not a folder, so that no file can exist there.
_NOT_HERE = f"{os.devnull}/a dataset of deltaic: read it with scanner() or to_table()"


class SnapshotDataset(_dataset.UnionDataset):
    """The rows of a snapshot, for all consumers of a `pyarrow.dataset.Dataset`.

    The part of a filter that can be translated exactly decides which files, row groups and pages are read;
    pyarrow applies the rest, so that the rows are the same as with pyarrow alone. Only the requested columns,
    and those that the filter uses, are read. The order of rows is not defined.

    >>> import deltaic, pyarrow, pyarrow.dataset
    >>> table = deltaic.Table.create("kites", pyarrow.schema([("id", pyarrow.int64())]))
    >>> commit = table.append(pyarrow.table({"id": [1, 2, 3]}))
    >>> kites = table.snapshot().to_pyarrow_dataset()
    >>> kites.to_table(filter=pyarrow.dataset.field("id") > 1)["id"].to_pylist()
    [2, 3]
    """

    def __init__(
        self,
        snapshot: SnapshotRows,
        variant: Literal["arrow", "json"],
        filter: Any = None,  # noqa: A002 (pyarrow's name for it)
    ) -> None:
        self._snapshot = snapshot
        self._variant: Literal["arrow", "json"] = variant
        self._filter = filter
        self._schema: Any = snapshot.scan(variant=variant).schema.to_arrow()
        # Arrow's C++ code bypasses the methods of this class and reads its children instead. A child must
        # exist and must fail: without one Python crashes, and an empty one would return no rows.
        ipc: Any = _dataset.IpcFileFormat()
        local: Any = import_module("pyarrow.fs").LocalFileSystem()
        nothing: Any = _dataset.FileSystemDataset(
            [ipc.make_fragment(_NOT_HERE, filesystem=local)], self._schema, ipc, local
        )
        _dataset.UnionDataset.__init__(self, self._schema, [nothing])

    @property
    def schema(self) -> Any:
        """The columns, as a `pyarrow.Schema`."""
        return self._schema

    def scanner(
        self,
        columns: Sequence[str] | Mapping[str, Any] | None = None,
        filter: Any = None,  # noqa: A002
        batch_size: int = _BATCH_SIZE,
        **options: Any,
    ) -> Any:
        """Returns a `pyarrow.dataset.Scanner` of the rows, which can be read once; reads are lazy.

        Args:
            columns: Names, in order, or a `dict` of names and expressions; all columns when None.
            filter: The condition on rows, a `pyarrow.dataset.Expression`.
            batch_size: Maximum number of rows per batch.
            **options: Further options of pyarrow's scanner, such as ``use_threads``.
        """
        return self._scanner(columns, self._translated(filter), batch_size=batch_size, **options)

    def head(
        self,
        num_rows: int,
        columns: Sequence[str] | Mapping[str, Any] | None = None,
        filter: Any = None,  # noqa: A002
        batch_size: int = _BATCH_SIZE,
        **options: Any,
    ) -> Any:
        """Returns at most `num_rows` rows as a `pyarrow.Table`; which rows is not defined."""
        translated = self._translated(filter)
        limit = num_rows if translated[1].exact else None
        return self._scanner(columns, translated, limit, batch_size=batch_size, **options).head(num_rows)

    def count_rows(self, filter: Any = None, **options: Any) -> int:  # noqa: A002
        """Returns the number of rows; from the log alone if that is exact."""
        translated = self._translated(filter)
        if translated[1].exact:
            return self._snapshot.scan([], translated[1].sql).count()
        return self._scanner([], translated, batch_size=_BATCH_SIZE, **options).count_rows()

    def filter(self, expression: Any) -> SnapshotDataset:
        """Returns the dataset with an additional filter."""
        return SnapshotDataset(self._snapshot, self._variant, self._joined(expression))

    def explain(self, columns: Sequence[str] | None = None, filter: Any = None) -> str:  # noqa: A002
        """Reports what will be read, as text, and which parts of the filter pyarrow applies."""
        _, translation = self._translated(filter)
        text = self._snapshot.scan(columns, translation.sql, variant=self._variant).explain()
        if translation.exact:
            return text
        rest = "\n".join(f"  {part}" for part in translation.rest)
        return f"{text.rstrip()}\nfiltered by pyarrow afterwards, because this is not translated:\n{rest}\n"

    def join(self, right_dataset: Any, *arguments: Any, **options: Any) -> Any:
        """Joins with another dataset; both are read into memory."""
        return _joined_by(self.to_table().join, right_dataset, arguments, options)

    def join_asof(self, right_dataset: Any, *arguments: Any, **options: Any) -> Any:
        """Joins as-of with another dataset; both are read into memory."""
        return _joined_by(self.to_table().join_asof, right_dataset, arguments, options)

    def sort_by(self, sorting: Any, **options: Any) -> Any:
        """Returns the sorted rows, as a dataset in memory."""
        return _dataset.dataset(self.to_table().sort_by(sorting, **options))

    def take(self, *_: Any, **__: Any) -> NoReturn:
        """Not supported: rows have no positions, because their order is not defined."""
        raise NotImplementedError(
            "take() needs an order of rows, which a Delta table does not have: use a filter"
        )

    def get_fragments(self, *_: Any, **__: Any) -> NoReturn:
        """Not supported: a file alone lacks information of the log, such as deletion vectors."""
        raise NotImplementedError(
            "get_fragments(): use Snapshot.scan().tasks(), of which each reads one file"
        )

    def replace_schema(self, *_: Any, **__: Any) -> NoReturn:
        """Not supported: the schema is the table's."""
        raise NotImplementedError(
            "replace_schema(): the schema is the table's; pass columns= to change the rows"
        )

    @property
    def children(self) -> NoReturn:
        """Not supported: there are no readable children."""
        raise AttributeError("a dataset of deltaic has no children: read it with scanner() or to_table()")

    def __reduce__(self) -> NoReturn:
        raise TypeError("a dataset of deltaic does not pickle: send Snapshot.scan().tasks(), which do")

    def __repr__(self) -> str:
        name = f"{type(self).__module__}.{type(self).__name__}"
        return f"<{name} version {self._snapshot.version} of {self._snapshot.uri}>"

    def _joined(self, condition: Any) -> Any:
        if self._filter is None or condition is None:
            return self._filter if condition is None else condition
        return self._filter & condition

    def _translated(self, condition: Any) -> tuple[Any, Translation]:
        condition = self._joined(condition)
        if condition is None:
            return None, Translation()
        translation = translate_pyarrow(condition, self._snapshot.schema)
        return condition, translation.understood(self._snapshot.scan)

    def _scanner(
        self,
        columns: Sequence[str] | Mapping[str, Any] | None,
        translated: tuple[Any, Translation],
        limit: int | None = None,
        *,
        batch_size: int,
        **options: Any,
    ) -> Any:
        condition, translation = translated
        rest = None if translation.exact else condition
        scan = self._snapshot.scan(
            self._read(columns, rest),
            translation.sql,
            limit=limit,
            batch_size=batch_size,
            variant=self._variant,
        )
        reader: Any = _arrow.RecordBatchReader.from_batches(scan.schema.to_arrow(), _batches(scan))
        return _dataset.Scanner.from_batches(
            reader, columns=columns, filter=rest, batch_size=batch_size, **options
        )

    def _read(self, columns: Sequence[str] | Mapping[str, Any] | None, rest: Any) -> list[str] | None:
        """Returns the columns required for a projection and a filter; None for all."""
        if columns is None:
            return None
        wanted: set[str] = set()
        expressions: list[Any] = [] if rest is None else [rest]
        if isinstance(columns, Mapping):
            expressions.extend(columns.values())
        else:
            wanted.update(columns)
        for expression in expressions:
            looked_at = columns_of(expression)
            if looked_at is None:
                return None
            wanted |= looked_at
        # Unknown names are left to pyarrow, which has special columns and its own error messages.
        return [name for name in self._schema.names if name in wanted]


def _batches(batches: Any) -> Iterator[Any]:
    # A generator, so that nothing is read before the first batch is requested.
    yield from batches


def _joined_by(join: Callable[..., Any], other: Any, arguments: Any, options: Any) -> Any:
    table = other.to_table() if isinstance(other, _dataset.Dataset) else other
    return _dataset.dataset(join(table, *arguments, **options))
