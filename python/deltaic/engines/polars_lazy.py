"""A snapshot as a `polars.LazyFrame` with pushdown of filters, columns and row limits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from deltaic.engines.conditions import Translation
from deltaic.engines.from_polars import translate_polars
from deltaic.values.optional import require

if TYPE_CHECKING:
    from typing import Literal

    import polars

    from deltaic.engines.snapshot_rows import SnapshotRows

__all__ = ["lazy_frame"]

_LEAST = (1, 31)
_PURPOSE = "Snapshot.to_polars_lazy()"


def lazy_frame(snapshot: SnapshotRows, variant: Literal["arrow", "json"]) -> polars.LazyFrame:
    """Returns the rows of a snapshot; nothing is read until the frame is collected."""
    pl: Any = require("polars", _PURPOSE)
    if tuple(int(number) for number in pl.__version__.split(".")[:2]) < _LEAST:
        # Older versions silently drop filters that they cannot pass to a source.
        least = ".".join(str(number) for number in _LEAST)
        raise ImportError(
            f"{_PURPOSE} needs polars {least} or newer, and this is {pl.__version__}: pip install -U polars",
            name="polars",
        )
    register: Callable[..., Any] = import_module("polars.io.plugins").register_io_source

    def rows(
        with_columns: list[str] | None, predicate: Any, n_rows: int | None, batch_size: int | None
    ) -> Iterator[Any]:
        translation = Translation()
        if predicate is not None:
            translation = translate_polars(predicate, snapshot.schema).understood(snapshot.scan)
        # Rows without columns would be lost in the conversion from Arrow.
        wanted = snapshot.schema.names[:1] if with_columns == [] else with_columns
        scan = snapshot.scan(
            wanted,
            translation.sql,
            limit=n_rows if translation.exact else None,
            batch_size=batch_size,
            variant=variant,
        )
        remaining = n_rows
        for batch in scan:
            frame: Any = pl.from_arrow(batch)
            if not translation.exact:
                frame = frame.filter(predicate)
            if with_columns == []:
                frame = frame.drop(frame.columns)
            if remaining is not None:
                frame = frame.head(remaining)
                remaining -= frame.height
            yield frame
            if remaining == 0:
                return

    # Derived from an empty table, so that the schema equals that of the batches.
    empty: Any = snapshot.scan(variant=variant).schema.to_arrow().empty_table()
    return register(rows, schema=pl.from_arrow(empty).schema)
