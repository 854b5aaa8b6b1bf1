"""A task that writes data files of a table in another process."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

from deltaic import _rust
from deltaic.values.capsule import ArrowArrayExportable, ArrowStreamExportable, checked_data

__all__ = ["WriteTask"]


class WriteTask:
    """Everything needed to write data files of a table without its log, as `Snapshot.write_task` returns it.

    It can be pickled, including its storage options, so a pickle is as secret as they are; its repr is not.

    >>> import deltaic, pickle, pyarrow
    >>> table = deltaic.Table.create("oars", pyarrow.schema([("id", pyarrow.int64())]))
    >>> task = pickle.loads(pickle.dumps(table.snapshot().write_task()))
    >>> files = task.write(pyarrow.table({"id": [1, 2]}))
    >>> with table.transaction() as tx:
    ...     tx.add(files)
    >>> table.snapshot().num_rows
    2
    """

    __slots__ = ("_rust",)

    def __init__(self, rust: _rust.WriteTask) -> None:
        self._rust = rust

    def write(self, data: ArrowStreamExportable | ArrowArrayExportable) -> list[dict[str, Any]]:
        """Writes rows to new files, checked as by `Table.append`, and returns these for `Transaction.add`.

        The table is unchanged until a transaction adds the files. After a failure no file is left.

        Args:
            data: The rows, as for `Table.append`; the index of a pandas frame is not written.

        Raises:
            SchemaMismatch: The data does not fit the table's columns.
            ConstraintViolation: A row violates a constraint of the table.
            UnsupportedFeature: The table requires a writer feature that is not implemented.
            StorageError: The store cannot be written to.
        """
        return cast("list[dict[str, Any]]", json.loads(self._rust.write(checked_data(data))))

    def __reduce__(self) -> tuple[Callable[[bytes], WriteTask], tuple[bytes]]:
        return _unpickle, (self._rust.to_bytes(),)

    def __repr__(self) -> str:
        return f"<deltaic.WriteTask of {self._rust.uri}>"


def _unpickle(data: bytes) -> WriteTask:
    return WriteTask(_rust.WriteTask.from_bytes(data))
