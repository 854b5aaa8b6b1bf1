"""Generates the page `docs/reference/damage.md` from the cases: `python -m tests.damage.page`."""

from __future__ import annotations

import re
import tempfile
import warnings
from pathlib import Path

import deltaic

from . import broken
from .case import Case, Survivor
from .cases import LOG_ROWS

PAGE = Path(__file__).resolve().parents[2] / "docs/reference/damage.md"
HEAD = """# Damaged tables

What deltaic does with each kind of damage. Required parts of a log are used completely, or an error names
the file, the version and the field. Optional parts (checkpoints, `_last_checkpoint`, checksums,
compaction files, statistics) are ignored if they are damaged, with a `DeltaicWarning`, and the table is
read from its commits. A deletion vector is required: rows are never read without it. Nothing is repaired,
moved or deleted, and an append to a damaged table changes nothing either. Memory and requests remain
proportional to the size of the table.

[Errors](errors.md) describes the errors; [Check a table](../guides/check.md) finds the damage in a table.
The tests generate this page from their cases.
"""
# Locations are omitted, and so is what differs between writers.
PLACE = re.compile(
    r" \((?:path|vector|field|line|version|table|feature|byte \d+)\b.*$| ?\(byte \d+\)|(?<=: )/\S+", re.DOTALL
)
LIBRARY = re.compile(
    r"(cannot be read): (?:EOF|Parquet|Arrow|invalid|expected).*|(not valid JSON): .*"
    r"|(disagrees with the log: \w+) .*|(its checksum is) 0.*|(feature x{9})x*",
    re.DOTALL,
)
OTHER_INTEGERS = ("add.modificationTime: ", "txn.version: ", "protocol.", "remove.")


def outcome(root: Path, case: Case | Survivor) -> str:
    """Returns the result of a case in a few words."""
    broken.healthy(root)
    case.damage(root)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if isinstance(case, Survivor):
            said = deltaic.Table(root).snapshot().warnings
            return f"it opens, with a warning: {told(said[0])}" if said else "it opens"
        try:
            case.meet(root)
        except deltaic.DeltaicError as error:
            return f"`{type(error).__name__}`: {told(error.message)}"
    raise AssertionError(case.name)


def told(message: str) -> str:
    """Returns the message without its location and without a library's own text."""
    text = PLACE.sub("", LIBRARY.sub(lambda found: next(filter(None, found.groups())), message)).strip()
    return text.replace("|", "\\|").replace("\n", " ")


def rows(folder: Path, cases: list[Case | Survivor]) -> dict[str, list[str]]:
    """Returns each result and the cases that lead to it."""
    found: dict[str, list[str]] = {}
    for number, case in enumerate(cases):
        if not case.name.startswith(OTHER_INTEGERS):
            # Similar file names are listed once.
            name = re.sub(r"^a file named .*", "a file with a name that is nearly right", case.name)
            names = found.setdefault(outcome(folder / str(number), case), [])
            names.extend({name.replace("|", "\\|")}.difference(names))
    return found


def page() -> str:
    """Returns the whole page."""
    parts = [HEAD]
    for title, cases in LOG_ROWS.items():
        parts.append(f"\n## {title}\n\n| what is wrong | what you get |\n|---|---|\n")
        with tempfile.TemporaryDirectory() as folder:
            for got, names in rows(Path(folder), cases).items():
                parts.append(f"| {'; '.join(names)} | {got} |\n")
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
