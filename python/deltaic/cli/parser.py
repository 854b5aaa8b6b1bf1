"""The arguments of the command line and their validation."""

from __future__ import annotations

import argparse
from collections.abc import Callable

import deltaic
from deltaic.cli.checks import run_check, run_probe
from deltaic.cli.metadata import run_files, run_history, run_show
from deltaic.cli.rows import run_changes, run_count, run_head

__all__ = ["build_parser"]


def build_parser() -> argparse.ArgumentParser:
    """Returns the parser; each command sets its function as ``command``."""
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
    command("probe", run_probe, "whether commits are safe at a location; changes no table")
    for sub in (show, history, files, head, count, changes, check):
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
        raise argparse.ArgumentTypeError(f"must be at least 0, not {number}")
    return number


def _version_or_time(text: str) -> int | str:
    try:
        int(text)
    except ValueError:
        return text  # Table.changes reports an invalid time
    return _count(text)
