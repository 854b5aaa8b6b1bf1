"""Reading rows: a scan of a snapshot, and the tasks into which it splits."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, cast

from deltaic import _rust
from deltaic.reading.schema import Schema
from deltaic.values.optional import require

if TYPE_CHECKING:
    from collections.abc import Generator

    import polars

__all__ = ["Scan", "ScanTask"]


# The fewest rows of a chunk on average that `to_polars` leaves as it is.
_CHUNK_ROWS = 8_192


class Scan:
    """A lazy read of a snapshot. Each way of consuming it reads again.

    Iterating yields `pyarrow.RecordBatch` objects, in bounded memory. Any consumer of Arrow data accepts a
    scan, through ``__arrow_c_stream__``: ``polars.DataFrame(scan)``, ``duckdb.from_arrow(scan)``. The order
    of rows is not defined.

    A missing or damaged data file raises `CorruptData` while reading. Through ``__arrow_c_stream__``, the
    consuming library raises its own error with the same text: the Arrow interface passes only the text.

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
        """The columns of the result, in order."""
        return Schema(self._rust.schema)

    def __iter__(self) -> Iterator[Any]:  # Any: pyarrow ships no types
        return iter(_reader(self._rust, "Iterating a scan"))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._rust.__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> Any:  # Any: pyarrow ships no types
        """Returns all rows as a `pyarrow.Table`."""
        return _reader(self._rust, "Scan.to_arrow()").read_all()

    def to_pandas(self) -> Any:  # Any: pandas ships no types
        """Returns all rows as a `pandas.DataFrame`."""
        require("pandas", "Scan.to_pandas()")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """Returns all rows as a `polars.DataFrame`."""
        # Columns of strings in polars are views.
        views = self._rust.with_strings("view") if isinstance(self._rust, _rust.Scan) else self._rust
        # Not from the stream itself, which carries the text of an error but not its class.
        rows = _reader(views, "Scan.to_polars()").read_all()
        frame = cast(
            "polars.DataFrame", require("polars", "Scan.to_polars()").from_arrow(rows, rechunk=False)
        )
        # Joining chunks copies all rows; many small ones would make each operation slow.
        return frame.rechunk() if frame.height < frame.n_chunks() * _CHUNK_ROWS else frame

    def count(self) -> int:
        """Returns the number of rows of the result; from the log alone if that is exact."""
        return self._rust.count()

    def tasks(self) -> list[ScanTask]:
        """Splits the scan into tasks that can be read independently, even in other processes or hosts."""
        return [ScanTask(task) for task in self._rust.tasks()]

    def explain(self) -> str:
        """Reports what will be read, as text.

        Files, row groups, pages, rows and bytes: in total, after partition pruning, after data skipping, and
        the effect of each part of the predicate. Opens the remaining files, to read their footers.
        """
        return self._rust.explain()

    def __repr__(self) -> str:
        return f"<deltaic.Scan of {', '.join(self.schema.names)}; explain() says what it reads>"


class ScanTask:
    """One task of a scan: a file and everything needed to read it.

    It can be pickled, including its storage options, so a pickle is as secret as they are; its repr is not.

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
        """The file's path, as in the log."""
        return self._rust.path

    @property
    def size_in_bytes(self) -> int:
        """The file's size in bytes, according to the log."""
        return self._rust.size_in_bytes

    @property
    def predicate(self) -> str | None:
        """The filter that remains for the file's rows, as SQL text; None if every row matches.

        This is the scan's predicate simplified by the file's partition values. `read` applies it; it is
        provided for callers that read the file themselves.
        """
        return self._rust.predicate

    @property
    def schema(self) -> Schema:
        """The columns of the result: those of the scan."""
        return Schema(self._rust.schema)

    def read(self) -> Any:  # Any: pyarrow ships no types
        """Returns the rows as a `pyarrow.RecordBatchReader`; without pyarrow, pass the task itself."""
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
    # A few batches at a time, because an Arrow stream carries the text of an error but not its class.
    pyarrow = require("pyarrow", purpose)
    streams = map(pyarrow.RecordBatchReader.from_stream, rust.batches())
    batches = _Batches(batch for stream in streams for batch in stream)
    return pyarrow.RecordBatchReader.from_batches(pyarrow.schema(rust), batches)


class _Batches:
    """Batches that raise again after an error: a generator that raised only reports StopIteration."""

    def __init__(self, batches: Generator[Any, None, None]) -> None:
        self._batches = batches
        self._failed = False

    def __iter__(self) -> _Batches:
        return self

    def __next__(self) -> Any:  # Any: pyarrow ships no types
        if self._failed:
            raise RuntimeError("an earlier read failed or was interrupted: start the scan again")
        try:
            return next(self._batches)
        except StopIteration:
            raise
        except BaseException:
            # A concurrent call from another thread fails alone; the running one is not affected.
            self._failed = inspect.getgeneratorstate(self._batches) != inspect.GEN_RUNNING
            raise
