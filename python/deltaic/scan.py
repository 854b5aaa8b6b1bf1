"""Reading rows: a scan of a snapshot, and the tasks that it falls into."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from deltaic import _rust
from deltaic.optional import require
from deltaic.schema import Schema

if TYPE_CHECKING:
    from collections.abc import Generator

    import polars

__all__ = ["Scan", "ScanTask"]


class Scan:
    """What to read from a snapshot. Each way of reading it starts anew.

    Iterating gives `pyarrow.RecordBatch` as they come, in bounded memory. Anything that takes Arrow data
    takes a scan, by ``__arrow_c_stream__``: ``polars.DataFrame(scan)``, ``duckdb.from_arrow(scan)``. The
    order of rows is not defined.

    A data file that is missing or damaged is `CorruptData` while reading. Behind ``__arrow_c_stream__`` it is
    an error of the library that reads, with the same text: the Arrow interface passes on no more than that.

    >>> import deltaic, pyarrow
    >>> table = deltaic.Table.create("stops", pyarrow.schema([("id", pyarrow.int64())]))
    >>> commit = table.append(pyarrow.table({"id": [1, 2, 3]}))
    >>> scan = table.snapshot().scan(predicate="id >= 2")
    >>> scan.count()
    2
    >>> [batch.num_rows for batch in scan]
    [2]
    """

    __slots__ = ("_rust",)

    def __init__(self, rust: _rust.Scan | _rust.Changes) -> None:
        self._rust = rust

    @property
    def schema(self) -> Schema:
        """The columns that the scan gives, in order."""
        return Schema(self._rust.schema)

    def __iter__(self) -> Iterator[Any]:  # Any: pyarrow ships no types
        return iter(_reader(self._rust, "Iterating a scan"))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._rust.__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> Any:  # Any: pyarrow ships no types
        """All rows as a `pyarrow.Table`."""
        return _reader(self._rust, "Scan.to_arrow()").read_all()

    def to_pandas(self) -> Any:  # Any: pandas ships no types
        """All rows as a `pandas.DataFrame`."""
        require("pandas", "Scan.to_pandas()")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """All rows as a `polars.DataFrame`."""
        return require("polars", "Scan.to_polars()").DataFrame(self.to_arrow())

    def count(self) -> int:
        """How many rows the scan gives; from the log alone where that is exact."""
        return self._rust.count()

    def tasks(self) -> list[ScanTask]:
        """The scan in pieces that can be read apart, also in other processes and on other machines."""
        return [ScanTask(task) for task in self._rust.tasks()]

    def explain(self) -> str:
        """What will be read, as text.

        Files, row groups, pages, rows and bytes: in all, after partitions, after statistics, and what each
        part of the predicate did. Opens the files that are left, to read their footers.
        """
        return self._rust.explain()

    def __repr__(self) -> str:
        return f"<deltaic.Scan of {', '.join(self.schema.names)}; explain() says what it reads>"


class ScanTask:
    """A piece of a scan: one file and all that is needed to read it.

    It pickles, with the storage options that it needs, so a pickle is as secret as they are; its repr is not.

    >>> import deltaic, pickle, pyarrow
    >>> table = deltaic.Table.create("legs", pyarrow.schema([("id", pyarrow.int64())]))
    >>> commit = table.append(pyarrow.table({"id": [1, 2, 3]}))
    >>> [task] = table.snapshot().scan().tasks()
    >>> pickle.loads(pickle.dumps(task)).read().read_all().num_rows
    3
    """

    __slots__ = ("_rust",)

    def __init__(self, rust: _rust.ScanTask) -> None:
        self._rust = rust

    @property
    def path(self) -> str:
        """The file, as the log names it."""
        return self._rust.path

    @property
    def size_in_bytes(self) -> int:
        """The file's size in bytes, as the log states it."""
        return self._rust.size_in_bytes

    @property
    def predicate(self) -> str | None:
        """What is still asked of the file's rows, as SQL text; None where every row matches.

        It is what the partition values of the file leave of the scan's predicate. `read` asks it; it is told
        for those who read the file themselves.
        """
        return self._rust.predicate

    @property
    def schema(self) -> Schema:
        """The columns that the task gives: those of its scan."""
        return Schema(self._rust.schema)

    def read(self) -> Any:  # Any: pyarrow ships no types
        """The rows as a `pyarrow.RecordBatchReader`; without pyarrow, hand on the task itself."""
        return _reader(self._rust, "ScanTask.read()")

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._rust.__arrow_c_stream__(requested_schema)

    def __reduce__(self) -> tuple[Callable[[bytes], ScanTask], tuple[bytes]]:
        return _unpickle, (self._rust.to_bytes(),)

    def __repr__(self) -> str:
        return f"<deltaic.ScanTask {self.path}>"


def _unpickle(data: bytes) -> ScanTask:
    return ScanTask(_rust.ScanTask.from_bytes(data))


def _reader(
    rust: _rust.Scan | _rust.Changes | _rust.ScanTask, purpose: str
) -> Any:  # Any: pyarrow ships no types
    # A few batches at a time, because an Arrow stream carries the text of an error and not its class.
    pyarrow = require("pyarrow", purpose)
    streams = map(pyarrow.RecordBatchReader.from_stream, rust.batches())
    batches = _Batches(batch for stream in streams for batch in stream)
    return pyarrow.RecordBatchReader.from_batches(pyarrow.schema(rust.schema), batches)


class _Batches:
    """Batches, of which an error is no end: a generator that raised says that it is at its end."""

    def __init__(self, batches: Generator[Any, None, None]) -> None:
        self._batches = batches
        self._failed = False

    def __iter__(self) -> _Batches:
        return self

    def __next__(self) -> Any:  # Any: pyarrow ships no types
        if self._failed:
            raise RuntimeError("reading failed or was interrupted before: start the scan anew")
        try:
            return next(self._batches)
        except StopIteration:
            raise
        except BaseException:
            # Another thread that asks while this one reads gets an error of its own, and spoils nothing.
            self._failed = inspect.getgeneratorstate(self._batches) != inspect.GEN_RUNNING
            raise
