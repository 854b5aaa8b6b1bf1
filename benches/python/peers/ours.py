"""deltaic: a `Snapshot` with `files()`, by predicate or with statistics, and `refresh()` and `scan()`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from changing import append_answer, checkpoint_answer, copied, row_of
from peers import Call, importing, rows_answer
from predicates import COUNT, PARTITION, RANGE, SCANS, Query

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    from answers import Answer

IMPORTED = importing("pyarrow")
PROGRAM = "import deltaic, sys\ntable = deltaic.Table(sys.argv[1])\nprint(table.snapshot().files().num_rows)"


def listing(predicate: str | None = None, *, stats: bool = False) -> Call:
    """Opens the table and lists the files that may match, as Arrow."""

    def run(uri: str) -> Any:
        import deltaic

        snapshot = deltaic.Table(uri).snapshot()
        return snapshot.version, snapshot.files(predicate, stats=stats)

    return Call(run, answer)


def answer(result: Any) -> Answer:
    """Returns every column of the listing."""
    import pyarrow.compute as pc

    from answers import Answer

    version, files = result
    table = files.to_arrow().combine_chunks()
    columns: dict[str, pa.Array] = {}
    for name in ("path", "size", "modification_time", "num_records"):
        if name in table.column_names:
            columns[name] = table[name]
    columns["day"] = pc.struct_field(table["partition_values"], "day")
    for kind in ("min", "max", "null_count"):
        if kind in table.column_names:
            for field in table[kind].type:
                columns[f"{kind}.{field.name}"] = pc.struct_field(table[kind], field.name)
    return Answer(version=version, columns=columns)


def opened(uri: str) -> Any:
    """Returns a snapshot with its files loaded."""
    import deltaic

    snapshot = deltaic.Table(uri).snapshot()
    assert snapshot.num_files > 0
    return snapshot


def refreshed_answer(snapshot: Any) -> Answer:
    """Returns the version, and the number of its files."""
    from answers import Answer

    return Answer(version=snapshot.version, num_files=snapshot.num_files)


def scanning(query: Query) -> Call:
    """Opens the table and reads rows."""

    def batches(uri: str) -> Iterable[pa.RecordBatch]:
        import deltaic

        return deltaic.Table(uri).snapshot(query.version).scan(query.names(), query.sql())

    return Call.of_rows(batches, IMPORTED)


def count(uri: str) -> int:
    """Opens the table and counts its rows."""
    import deltaic

    return deltaic.Table(uri).snapshot().scan().count()


def checkpointed(uri: str) -> str:
    """Writes a checkpoint of the newest version."""
    import deltaic

    assert deltaic.Table(uri).checkpoint().is_new
    return uri


def appendable(uri: str) -> Any:
    """Returns a copy of the table, opened, and the row to append."""
    import deltaic

    copy = copied(uri)
    table = deltaic.Table(copy)
    return copy, table, row_of(table.snapshot().schema)


def appended(state: Any) -> str:
    """Appends a row."""
    uri, table, row = state
    table.append(row)
    return uri


CALLS = {
    "checkpoint": Call(checkpointed, checkpoint_answer, copied),
    "append_row": Call(appended, append_answer, appendable),
    "open_and_list": listing(),
    "open_and_list_statistics": listing(stats=True),
    "open_and_prune_range": listing(RANGE),
    "open_and_prune_partition": listing(PARTITION),
    "refresh": Call(lambda snapshot: snapshot.refresh(), refreshed_answer, opened),
    **{name: scanning(query) for name, query in SCANS.items()},
    COUNT: Call(count, rows_answer, IMPORTED),
}
