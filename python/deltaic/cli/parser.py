"""The arguments of the command line and their validation."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import deltaic
from deltaic.cli.advice import run_doctor, run_report
from deltaic.cli.checks import run_check, run_probe
from deltaic.cli.clones import add_clone_arguments, run_clone
from deltaic.cli.convert import add_convert_arguments, run_convert
from deltaic.cli.metadata import run_files, run_history, run_show
from deltaic.cli.optimize import run_optimize, run_purge
from deltaic.cli.repairs import run_manifest, run_repair, run_restore
from deltaic.cli.rows import run_changes, run_count, run_head
from deltaic.cli.statistics import run_recompute_statistics
from deltaic.cli.vacuum import run_vacuum, to_retention

__all__ = ["build_parser"]


def build_parser() -> argparse.ArgumentParser:
    """Returns the parser; each command sets its function as ``command``."""
    parser = argparse.ArgumentParser(prog="deltaic", description="Look into Delta tables, and maintain them.")
    parser.add_argument("--version", action="version", version=f"deltaic {deltaic.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def command(
        name: str,
        run: Callable[[argparse.Namespace], int | None],
        text: str,
        short_options: tuple[str, ...] = ("-o",),
    ) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=text, description=text)
        sub.set_defaults(command=run)
        sub.add_argument("path", metavar="PATH", help="the table's folder or URI")
        sub.add_argument("--json", action="store_true", help="JSON for scripts: sizes in bytes, times in UTC")
        sub.add_argument(
            *short_options,
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

    show = command("show", run_show, "schema, protocol, properties and size")
    history = command("history", run_history, "the commits, newest first")
    history.add_argument("--limit", type=_count, metavar="N", help="at most this many")
    files = command("files", run_files, "the live files")
    head = command("head", run_head, "some rows")
    head.add_argument(
        "-n", "--limit", dest="n", type=_count, default=10, metavar="N", help="how many rows (default: 10)"
    )
    count = command("count", run_count, "the number of rows")
    changes = command(
        "changes", run_changes, "show the rows that were inserted, updated and deleted between two versions"
    )
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
        "--infer", action="store_true", help="derive the changes from the files if the table recorded none"
    )
    changes.add_argument(
        "-n", "--limit", dest="n", type=_count, metavar="N", help="at most this many rows (default: all)"
    )
    for sub in (head, changes):
        sub.add_argument("--columns", metavar="A,B", help="only these columns, separated by commas")
    check = command("check", run_check, "what is wrong with the table, what it means and what to do")
    check.add_argument("--deep", action="store_true", help="look at the data files too")
    doctor, report = _examinations(command)
    rewriting = _rewriting_commands(command)
    command("probe", run_probe, "whether commits are safe at a location; changes no table")
    restore = command("restore", run_restore, "make the table as it was at an earlier version")
    restore.add_argument(
        "--ignore-missing-files", action="store_true", help="leave out files of that version that are gone"
    )
    repair = command("repair", run_repair, "remove the entries of files that are gone; their rows are lost")
    manifest = command("manifest", run_manifest, "write symlink manifests for engines without Delta support")
    clone = add_clone_arguments(
        command("clone", run_clone, "make a table that refers to the files of this one")
    )
    convert = add_convert_arguments(
        command("convert", run_convert, "make a table of the Parquet files in a folder")
    )
    for sub in (restore, clone, convert, repair, manifest):
        sub.add_argument("--dry-run", action="store_true", help="only show what would be done")
    vacuum = command("vacuum", run_vacuum, "delete files that the newest version does not need")
    vacuum.add_argument(
        "--retention",
        type=to_retention,
        metavar="T",
        help="how long files are retained, such as 7d, 36h or 30m; a number without a unit is hours "
        "(default: the table's, usually 7d)",
    )
    vacuum.add_argument(
        "--lite", action="store_true", help="delete what the log removed since the last vacuum; list nothing"
    )
    vacuum.add_argument(
        "--inventory",
        type=Path,
        metavar="FILE",
        help="a Parquet or CSV file with path, length, isDir and modificationTime, instead of a listing",
    )
    vacuum.add_argument(
        "--clone",
        dest="clones",
        action="append",
        default=[],
        metavar="PATH",
        help="a shallow clone of the table, whose files remain; may be repeated",
    )
    vacuum.add_argument(
        "--keep-version",
        dest="keep_versions",
        action="append",
        default=[],
        type=int,
        metavar="N",
        help="a version whose files remain; may be repeated",
    )
    vacuum.add_argument(
        "--dry-run", action="store_true", help="show what would be deleted, and delete nothing"
    )
    vacuum.add_argument(
        "--force",
        action="store_true",
        help="allow a retention shorter than the table's: if nothing else writes it or reads old versions",
    )
    for sub in (
        show,
        history,
        files,
        head,
        count,
        changes,
        check,
        doctor,
        report,
        *rewriting,
        restore,
        clone,
        repair,
        manifest,
        vacuum,
    ):
        sub.add_argument(
            "--allowed-root",
            dest="allowed_roots",
            action="append",
            default=[],
            metavar="ROOT",
            help="a folder outside of the table that the log may name files in; may be repeated",
        )
        sub.add_argument(
            "--max-line-bytes",
            type=_count,
            metavar="N",
            help="the size of the longest line of the log that is read (default: 256 MiB)",
        )
    for sub in (files, head, count):
        sub.add_argument("--where", metavar="SQL", help="a predicate, such as \"day >= DATE '2026-11-01'\"")
    for sub in (show, files, head, count, restore, clone):
        when = sub.add_mutually_exclusive_group(required=sub is restore)
        when.add_argument("--version", type=_count, metavar="N", dest="at_version", help="at this version")
        when.add_argument(
            "--timestamp", metavar="T", help="as it was at this time, such as 2026-11-01T00:00:00Z"
        )
    return parser


def _examinations(
    command: Callable[..., argparse.ArgumentParser],
) -> tuple[argparse.ArgumentParser, argparse.ArgumentParser]:
    doctor = command("doctor", run_doctor, "what could be improved, how, and with which effect")
    doctor.add_argument(
        "--format", choices=("table", "json"), default="table", help="text, or the same as --json"
    )
    report = command("report", run_report, "write an HTML page about the table", ())
    report.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="FILE",
        help="the page; replaces a file; - for standard output",
    )
    for sub in (doctor, report):
        sub.add_argument(
            "--filter",
            dest="filters",
            action="append",
            default=[],
            metavar="COL",
            help="a column that predicates use, besides the clustering columns; may be repeated",
        )
    return doctor, report


def _rewriting_commands(
    command: Callable[[str, Callable[[argparse.Namespace], int | None], str], argparse.ArgumentParser],
) -> tuple[argparse.ArgumentParser, ...]:
    """Adds the commands that change files, or their statistics, and no row."""
    optimize = command("optimize", run_optimize, "combine small files into larger ones; no row changes")
    optimize.add_argument(
        "--target-file-size",
        metavar="SIZE",
        help="the size of the new files, such as 256mb (default: that of the table, or 1 GiB)",
    )
    optimize.add_argument(
        "--zorder-by",
        metavar="A,B",
        help="sort the rows of all files by these columns, along a Z-order curve",
    )
    optimize.add_argument(
        "--full",
        action="store_true",
        help="in a clustered table, rewrite files, too, that were clustered by other columns",
    )
    purge = command(
        "purge", run_purge, "rewrite the files that contain deleted rows or dropped columns; no row changes"
    )
    recompute = command(
        "recompute-statistics",
        run_recompute_statistics,
        "read the data files and write their statistics to the log again; no row changes",
    )
    recompute.add_argument(
        "--columns",
        metavar="A,B",
        help="columns that get statistics, beside those that have them (default: those of the table's "
        "properties, and no others)",
    )
    for sub in (optimize, purge, recompute):
        sub.add_argument("--dry-run", action="store_true", help="show only what would be done")
        sub.add_argument(
            "--where", metavar="SQL", help="the partitions, such as \"day >= DATE '2026-11-01'\""
        )
    return optimize, purge, recompute


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
        raise argparse.ArgumentTypeError(f"must be at least 0, not {number}")
    return number


def _version_or_time(text: str) -> int | str:
    try:
        int(text)
    except ValueError:
        return text  # Table.changes reports an invalid time
    return _count(text)
