"""deltalake (delta-rs): `get_add_actions`, always with statistics, and `file_uris` with a predicate.

A pyarrow dataset of the table would prune too, but creating one for 100,000 files takes more than a minute.
Rows come from `scan`, a stream of Arrow batches: a query of `QueryBuilder` is as fast, and the pyarrow
dataset takes twice the time and does not support deletion vectors.
"""

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
PROGRAM = (
    "import deltalake, sys\n"
    "table = deltalake.DeltaTable(sys.argv[1])\n"
    "print(table.get_add_actions(flatten=True).num_rows)"
)
NAMES = {"size_bytes": "size", "partition.day": "day"}


def listed(uri: str) -> Any:
    """Opens the table and lists its files, as Arrow."""
    import deltalake

    table = deltalake.DeltaTable(uri)
    return table.version(), table.get_add_actions(flatten=True)


def listed_answer(result: Any) -> Answer:
    """Returns the key columns of the listing."""
    import pyarrow as pa

    from answers import KEY_COLUMNS, Answer

    version, files = result
    table = pa.table(files)
    columns = {NAMES.get(name, name): table[name] for name in table.column_names}
    return Answer(version=version, columns={name: columns[name] for name in KEY_COLUMNS})


def statistics_answer(result: Any) -> Answer:
    """Returns every column of the listing."""
    import pyarrow as pa

    from answers import Answer

    version, files = result
    table = pa.table(files)
    columns = {NAMES.get(name, name): table[name] for name in table.column_names}
    return Answer(version=version, columns=columns)


def pruning(predicate: str) -> Call:
    """Opens the table and lists the paths that may match."""

    def run(uri: str) -> Any:
        import deltalake

        table = deltalake.DeltaTable(uri)
        return uri, table.version(), table.file_uris(file_pruning_predicate=predicate)

    return Call(run, paths_answer)


def paths_answer(result: Any) -> Answer:
    """Returns the paths, relative to the table."""
    import pyarrow as pa

    from answers import Answer

    root, version, uris = result
    return Answer(version=version, columns={"path": pa.array([uri.removeprefix(f"{root}/") for uri in uris])})


def opened(uri: str) -> Any:
    """Returns a table with its files loaded."""
    import deltalake

    return deltalake.DeltaTable(uri)


def refreshed(table: Any) -> Any:
    """Updates the table to its newest version."""
    table.update_incremental()
    return table


def refreshed_answer(table: Any) -> Answer:
    """Returns the version, and the number of its files."""
    from answers import Answer

    return Answer(version=table.version(), num_files=len(table.file_uris()))


def scanning(query: Query) -> Call:
    """Opens the table and reads rows."""

    def batches(uri: str) -> Iterable[pa.RecordBatch]:
        import deltalake
        import pyarrow as pa

        table = deltalake.DeltaTable(uri, version=query.version)
        return pa.RecordBatchReader.from_stream(table.scan(query.names(), query.sql()))

    return Call.of_rows(batches, IMPORTED)


def count(uri: str) -> int:
    """Opens the table and counts its rows: with a query if `count()` would ignore deletion vectors."""
    import deltalake
    import pyarrow as pa

    table = deltalake.DeltaTable(uri)
    if "deletionVectors" not in (table.protocol().reader_features or ()):
        return table.count()
    found = deltalake.QueryBuilder().register("t", table).execute("select count(*) from t")
    return pa.RecordBatchReader.from_stream(found).read_all().column(0)[0].as_py()


def checkpointed(uri: str) -> str:
    """Writes a checkpoint of the newest version."""
    import deltalake

    deltalake.DeltaTable(uri).create_checkpoint()
    return uri


def appendable(uri: str) -> Any:
    """Returns a copy of the table, opened, and the row to append."""
    import deltalake

    copy = copied(uri)
    table = deltalake.DeltaTable(copy)
    return copy, table, row_of(table.schema().to_arrow())


def appended(state: Any) -> str:
    """Appends a row."""
    import deltalake

    uri, table, row = state
    deltalake.write_deltalake(table, row, mode="append")
    return uri


CALLS = {
    "checkpoint": Call(checkpointed, checkpoint_answer, copied),
    "append_row": Call(appended, append_answer, appendable),
    "open_and_list": Call(listed, listed_answer),
    "open_and_list_statistics": Call(listed, statistics_answer),
    "open_and_prune_range": pruning(RANGE),
    "open_and_prune_partition": pruning(PARTITION),
    "refresh": Call(refreshed, refreshed_answer, opened),
    **{name: scanning(query) for name, query in SCANS.items()},
    COUNT: Call(count, rows_answer, IMPORTED),
}
