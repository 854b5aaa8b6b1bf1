"""The command ``deltaic``: metadata and rows of a table on a terminal, or as JSON for scripts.

Exit codes: 0; 1 the command failed (error and hint on stderr); 2 wrong usage. ``check`` exits with 3 for
warnings and with 4 for damage; ``probe`` with 1 if commits are not safe.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import warnings
from collections.abc import Callable, Generator, Sequence
from typing import Any

import deltaic
from deltaic.optional import require
from deltaic.sizes import readable_size
from deltaic.terminal import ProgressLine, cell, emit, emit_json, emit_report, emit_table, json_value, utc
from deltaic.times import from_millis, shown_millis

__all__ = ["main"]

_FAILED = 1
_INTERRUPTED = 130
_UNHEALTHY = {"warning": 3, "damage": 4}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command.

    Args:
        arguments: The arguments after ``deltaic``; those of the process when None.

    Returns:
        The exit code. Wrong usage raises `SystemExit` with 2, as in argparse.

    >>> import pyarrow
    >>> table = deltaic.Table.create("queue", pyarrow.schema([("id", pyarrow.int64())]))
    >>> commit = table.append(pyarrow.table({"id": [1, 2, 3]}))
    >>> main(["count", "queue", "--where", "id > 1"])
    2
    0
    """
    parser = _parser()
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        # The text after = may be a secret that was intended for an option.
        parser.error(f"unrecognized arguments: {' '.join(text.partition('=')[0] for text in unknown)}")
    given: list[tuple[str, str]] = options.storage_options
    options.storage_options = dict(given)
    if len(options.storage_options) < len(given):
        parser.error("a storage option is given twice")
    if sys.stdout is None:  # as after `>&-`
        _complain("error: stdout is closed, so there is nowhere to write to")
        return _FAILED
    command: Callable[[argparse.Namespace], int | None] = options.command
    code = 0
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        warnings.simplefilter("always", deltaic.DeltaicWarning)
        try:
            with _until_the_reader_leaves():
                code = command(options) or 0
        except KeyboardInterrupt:
            return _INTERRUPTED
        except (deltaic.DeltaicError, ValueError, TypeError, ImportError, OSError) as error:
            _complain(f"error: {_in_options(str(error))}")
            return _FAILED
    return code


def _in_options(text: str) -> str:
    """Replaces Python's arguments in an error's text with the options of the command line."""
    return text.replace("infer=True", "--infer")


@contextlib.contextmanager
def _until_the_reader_leaves() -> Generator[None, None, None]:
    """Flushes stdout at the end; a closed pipe (`| head`) is not an error."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        # Otherwise Python reports an error when it closes stdout at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(text: str) -> None:
    # After `2>&-` there is no stderr, and print would write to stdout instead.
    if sys.stderr is not None:
        print(text, file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="deltaic", description="Look into Delta tables.")
    parser.add_argument("--version", action="version", version=f"deltaic {deltaic.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def command(
        name: str, run: Callable[[argparse.Namespace], int | None], text: str
    ) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=text, description=text)
        sub.set_defaults(command=run)
        sub.add_argument("path", metavar="PATH", help="the table's folder or URI")
        sub.add_argument("--json", action="store_true", help="JSON for scripts: sizes in bytes, times in UTC")
        sub.add_argument(
            "-o",
            "--storage-option",
            dest="storage_options",
            type=_storage_option,
            action="append",
            default=[],
            metavar="KEY=VALUE",
            help="a setting of the store; may be repeated. Secrets belong in the environment: others on this "
            "machine can see a command line",
        )
        return sub

    show = command("show", _show, "schema, protocol, properties and size")
    history = command("history", _history, "the commits, newest first")
    history.add_argument("--limit", type=_count, metavar="N", help="at most this many")
    files = command("files", _files, "the live files")
    head = command("head", _head, "some rows")
    head.add_argument(
        "-n", "--limit", dest="n", type=_count, default=10, metavar="N", help="how many rows (default: 10)"
    )
    count = command("count", _count_rows, "the number of rows")
    changes = command("changes", _changes, "the rows that came and went from one version to another")
    changes.add_argument(
        "--from",
        dest="first",
        type=_version_or_time,
        required=True,
        metavar="V",
        help="the first version, or a time such as 2026-11-01T00:00:00Z: the first version at or after it",
    )
    changes.add_argument(
        "--to",
        dest="last",
        type=_version_or_time,
        metavar="V",
        help="the last version, or a time: the last version at or before it (default: the newest version)",
    )
    changes.add_argument(
        "--infer", action="store_true", help="tell the changes from the files, where none were recorded"
    )
    changes.add_argument(
        "-n", "--limit", dest="n", type=_count, metavar="N", help="at most this many rows (default: all)"
    )
    for sub in (head, changes):
        sub.add_argument("--columns", metavar="A,B", help="only these columns, separated by commas")
    check = command("check", _check, "what is wrong with the table, what it means and what to do")
    check.add_argument("--deep", action="store_true", help="look at the data files too")
    command("probe", _probe, "whether commits are safe at a place; tables there are left alone")
    for sub in (show, history, files, head, count, changes, check):
        sub.add_argument(
            "--allowed-root",
            dest="allowed_roots",
            action="append",
            default=[],
            metavar="ROOT",
            help="another place that the log may name files in; may be repeated",
        )
    for sub in (files, head, count):
        sub.add_argument("--where", metavar="SQL", help="a predicate, such as \"day >= DATE '2026-11-01'\"")
    for sub in (show, files, head, count):
        when = sub.add_mutually_exclusive_group()
        when.add_argument("--version", type=_count, metavar="N", dest="at_version", help="at this version")
        when.add_argument(
            "--timestamp", metavar="T", help="as it was at this time, such as 2026-11-01T00:00:00Z"
        )
    return parser


def _storage_option(text: str) -> tuple[str, str]:
    # The value may be a secret, so the error omits it.
    name, equals, value = text.partition("=")
    if not name.strip() or not equals:
        raise argparse.ArgumentTypeError("an option is KEY=VALUE")
    return name, value


def _count(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a number, not {text!r}") from None
    if number < 0:
        raise argparse.ArgumentTypeError(f"{number} is below 0")
    return number


def _version_or_time(text: str) -> int | str:
    try:
        int(text)
    except ValueError:
        return text  # Table.changes reports an invalid time
    return _count(text)


def _table(options: argparse.Namespace) -> deltaic.Table:
    return deltaic.Table(
        options.path, storage_options=options.storage_options or None, allowed_roots=options.allowed_roots
    )


def _snapshot(options: argparse.Namespace) -> deltaic.Snapshot:
    return _table(options).snapshot(version=options.at_version, timestamp=options.timestamp)


def _show(options: argparse.Namespace) -> None:
    snapshot = _snapshot(options)
    metadata, protocol = snapshot.metadata, snapshot.protocol
    if options.json:
        emit_json(
            {
                "uri": snapshot.uri,
                "version": snapshot.version,
                "timestamp": utc(snapshot.timestamp),
                "id": metadata.id,
                "name": metadata.name,
                "description": metadata.description,
                "created_time": None if metadata.created_time is None else utc(metadata.created_time),
                "num_files": snapshot.num_files,
                "size_in_bytes": snapshot.size_in_bytes,
                "num_rows": snapshot.num_rows,
                "partition_columns": snapshot.partition_columns,
                "properties": snapshot.properties,
                "protocol": json.loads(protocol.to_json()),
                "schema": json.loads(snapshot.schema.to_json()),
                "warnings": snapshot.warnings,
            }
        )
        return
    features = sorted(protocol.reader_features | protocol.writer_features)
    rows = snapshot.num_rows
    facts = [
        ("table", snapshot.uri),
        ("name", metadata.name),
        ("description", metadata.description),
        ("version", f"{snapshot.version}, committed {utc(snapshot.timestamp)}"),
        ("rows", "not in the log; deltaic count finds out" if rows is None else f"{rows:,}"),
        ("files", f"{snapshot.num_files:,}, {readable_size(snapshot.size_in_bytes)}"),
        ("partitioned by", ", ".join(snapshot.partition_columns)),
        ("protocol", f"reader {protocol.min_reader_version}, writer {protocol.min_writer_version}"),
        ("features", ", ".join(features)),
        *((f"property {name}", value) for name, value in sorted(snapshot.properties.items())),
    ]
    width = max(len(name) for name, _ in facts)
    for name, value in facts:
        if value:
            emit(f"{name:<{width}}  {value}")
    emit("")
    emit(str(snapshot.schema))


def _history(options: argparse.Namespace) -> None:
    commits = _table(options).history(options.limit)
    if options.json:
        emit_json(
            [
                {
                    "version": commit.version,
                    "timestamp": utc(commit.timestamp),
                    "operation": commit.operation,
                    "parameters": commit.parameters,
                    "metrics": commit.metrics,
                    "engine": commit.engine,
                    "commit_info": commit.info,
                }
                for commit in commits
            ]
        )
        return
    emit_table(
        ["version", "time", "operation", "metrics", "engine"],
        [
            [
                str(commit.version),
                utc(commit.timestamp),
                commit.operation or "",
                " ".join(f"{name}={value}" for name, value in commit.metrics.items()),
                commit.engine or "",
            ]
            for commit in commits
        ],
        numeric={"version"},
    )


def _files(options: argparse.Namespace) -> None:
    snapshot = _snapshot(options)
    rows: list[dict[str, Any]] = snapshot.files(options.where, stats=True).to_arrow().to_pylist()
    rows.sort(key=lambda row: row["path"])
    partitions = snapshot.partition_columns
    values: list[dict[str, Any]] = [row.get("partition_values") or {} for row in rows]
    if options.json:
        emit_json(
            [
                {
                    "path": row["path"],
                    "size_in_bytes": row["size"],
                    "modification_time": _utc_of_millis(row["modification_time"]),
                    "num_records": row["num_records"],
                    "partition_values": json_value(partition),
                }
                for row, partition in zip(rows, values, strict=True)
            ]
        )
        return
    emit_table(
        [*partitions, "rows", "size", "modified", "path"],
        [
            [
                *(cell(partition.get(name)) for name in partitions),
                "" if row["num_records"] is None else f"{row['num_records']:,}",
                readable_size(row["size"]),
                _utc_of_millis(row["modification_time"]),
                row["path"],
            ]
            for row, partition in zip(rows, values, strict=True)
        ],
        numeric={"rows", "size"},
    )


def _head(options: argparse.Namespace) -> None:
    scan = _snapshot(options).scan(_columns(options), options.where, limit=options.n, variant="json")
    _emit_rows(scan.to_arrow(), as_json=options.json)


def _changes(options: argparse.Namespace) -> None:
    pyarrow = require("pyarrow", "Showing rows")
    scan = _table(options).changes(options.first, options.last, _columns(options), infer=options.infer)
    batches: list[Any] = []
    wanted: int = sys.maxsize if options.n is None else options.n
    # Read no more batches than are shown.
    for batch in scan if wanted else ():
        batches.append(batch.slice(0, wanted))
        wanted -= batches[-1].num_rows
        if not wanted:
            break
    table = pyarrow.Table.from_batches(batches, pyarrow.schema(scan.schema))
    _emit_rows(table, as_json=options.json)


def _columns(options: argparse.Namespace) -> list[str] | None:
    return None if options.columns is None else [name.strip() for name in options.columns.split(",")]


def _emit_rows(table: Any, *, as_json: bool) -> None:  # Any: pyarrow ships no types
    rows: list[dict[str, Any]] = table.to_pylist()
    if as_json:
        emit_json([json_value(row) for row in rows])
        return
    cells = [[cell(value) for value in row.values()] for row in rows]
    emit_table(table.column_names, cells, numeric=_numeric(table.schema))


def _count_rows(options: argparse.Namespace) -> None:
    number = _snapshot(options).scan(predicate=options.where).count()
    if options.json:
        emit_json({"count": number})
    else:
        emit(str(number))


def _check(options: argparse.Namespace) -> int:
    with ProgressLine({"log": "reading the log", "files": "looking at the data files"}) as progress:
        report = _table(options).check(deep=options.deep, progress=progress.show)
    with _until_the_reader_leaves():
        if options.json:
            emit_json(report.to_dict())
        else:
            emit_report(report)
    return _UNHEALTHY.get(report.severity or "", 0)


_PROMISES = {
    "once": "a version is made once, and not over another",
    "one winner": "of many writers of one version exactly one wins",
    "bytes": "a version holds what its winner wrote",
    "listing": "a listing shows a version that was made",
}


def _probe(options: argparse.Namespace) -> int:
    error: deltaic.StorageError | None = None
    try:
        deltaic.probe_store(options.path, options.storage_options)
    except deltaic.StorageError as caught:
        error = caught
    broken = None if error is None else error.context.get("promise")

    def outcome(promise: str) -> str:
        if error is None:
            return "kept"
        return "broken" if promise == broken else "not learnt"

    outcomes = {promise: outcome(promise) for promise in _PROMISES}
    with _until_the_reader_leaves():
        if options.json:
            emit_json({"safe": error is None, "promises": outcomes, "error": error and error.message})
        else:
            rows = [[_PROMISES[promise], said] for promise, said in outcomes.items()]
            emit_table(["promise", "outcome"], rows)
            if error is None:
                emit("Commits are safe here.")
    if error is not None:
        _complain(f"error: {error}")
        return _FAILED
    return 0


def _numeric(schema: Any) -> set[str]:
    types = require("pyarrow", "Showing rows").types
    checks: list[Callable[[Any], bool]] = [types.is_integer, types.is_floating, types.is_decimal]
    return {field.name for field in schema if any(check(field.type) for check in checks)}


def _utc_of_millis(millis: int) -> str:
    try:
        return utc(from_millis(millis))
    except OverflowError:
        return shown_millis(millis)


def _show_warning(message: Warning | str, category: type[Warning], *_: object) -> None:
    if issubclass(category, deltaic.DeltaicWarning):
        _complain(f"warning: {message}")
