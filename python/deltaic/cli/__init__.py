"""The command ``deltaic``: metadata and rows of a table on a terminal, or as JSON for scripts.

Exit codes: 0; 1 the command failed (error and hint on stderr); 2 wrong usage. ``check`` exits with 3 for
warnings and with 4 for damage; ``probe`` with 1 if commits are not safe.
"""

from __future__ import annotations

import argparse
import re
import shlex
import sys
import warnings
from collections.abc import Callable, Sequence

import deltaic
from deltaic.cli.output import emit_error, flushed_stdout
from deltaic.cli.parser import build_parser

__all__ = ["main"]

_FAILED = 1
_INTERRUPTED = 130

# Arguments of the Python API that hints name, and what the command line calls them.
_OPTIONS = {
    "infer=True": "--infer",
    'if_exists="replace"': "--replace",
    "ignore_missing_files=True": "--ignore-missing-files",
    "allowed_roots": "--allowed-root",
    "max_line_bytes": "--max-line-bytes",
    "limit=": "--limit",
    "target_file_size": "--target-file-size",
    "partition_schema": "--partition-schema",
    "zorder_by": "--zorder-by",
    "omit where": "omit --where",
    "omit full": "omit --full",
    "full may": "--full may",
    "force=True": "--force",
    'mode "lite"': "--lite",
    'in the mode "full"': "without --lite",
    "omit the inventory": "omit --inventory",
    "table.check()": "deltaic check PATH",
    "Table.convert(uri)": "deltaic convert PATH",
}
_ROOTS = re.compile(r'allowed_roots=\["([^"]*)"\]')
_ARGUMENTS = re.compile(rf"(?<!\S)({'|'.join(map(re.escape, _OPTIONS))})(?=[\s,;:.]|$)")


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
    parser = build_parser()
    options, unknown = parser.parse_known_args(arguments)
    if unknown:
        # The text after = may be a secret that was intended for an option.
        parser.error(f"unrecognized arguments: {' '.join(text.partition('=')[0] for text in unknown)}")
    given: list[tuple[str, str]] = options.storage_options
    options.storage_options = dict(given)
    if len(options.storage_options) < len(given):
        parser.error("a storage option is given twice")
    if sys.stdout is None:  # as after `>&-`
        emit_error("error: stdout is closed, so there is nowhere to write to")
        return _FAILED
    command: Callable[[argparse.Namespace], int | None] = options.command
    code = 0
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        warnings.simplefilter("always", deltaic.DeltaicWarning)
        try:
            with flushed_stdout():
                code = command(options) or 0
        except KeyboardInterrupt:
            return _INTERRUPTED
        except (deltaic.DeltaicError, ValueError, TypeError, ImportError, OSError) as error:
            emit_error(f"error: {_with_cli_options(str(error))}")
            return _FAILED
    return code


def _with_cli_options(text: str) -> str:
    """Replaces Python's arguments in an error's text with the options of the command line.

    >>> _with_cli_options("run table.check(); infer=True computes them, limit=3/part is a path")
    'run deltaic check PATH; --infer computes them, limit=3/part is a path'
    >>> _with_cli_options('open it with allowed_roots=["/data/my rides"]')
    "open it with --allowed-root '/data/my rides'"
    """
    text = _ROOTS.sub(lambda found: f"--allowed-root {shlex.quote(found[1])}", text)
    return _ARGUMENTS.sub(lambda found: _OPTIONS[found.group()], text)


def _show_warning(message: Warning | str, category: type[Warning], *_: object) -> None:
    if issubclass(category, deltaic.DeltaicWarning):
        emit_error(f"warning: {message}")
