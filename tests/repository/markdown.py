"""Runs the examples of a document in the order of its page."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLE = re.compile(r"^```(python|sh)\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)


def read_document(document: str) -> str:
    """Return the text of a document, which is named from the top of the repository."""
    return (TOP / document).read_text(encoding="utf-8")


def blocks(document: str, language: str) -> list[str]:
    """Return the fenced blocks of one language in a document."""
    found = [block for name, block in BLOCK.findall(read_document(document)) if name == language]
    assert found, f"{document} has no {language}"
    return found


def run_page(document: str, folder: Path, **names: Any) -> int:
    """Run the Python and shell examples of a page in an empty folder, and return their number.

    A `text` block directly after an example is its output. A traceback shows the document and the block.
    """
    assert not any(folder.iterdir())
    examples = EXAMPLE.findall(read_document(document))
    for number, (language, text, shown) in enumerate(examples, start=1):
        place = f"{document}, example {number}"
        if language == "python":
            printed = run_python(text, place, names)
        else:
            printed = "".join(run_command(line, folder, place) for line in text.splitlines())
        assert not shown or printed == shown, f"{place} prints\n{printed}"
    return len(examples)


def run_python(text: str, place: str, names: dict[str, Any]) -> str:
    """Run Python in the current folder and return its output."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(text, place, "exec"), names)  # noqa: S102 (our own documents)
    return printed.getvalue()


def run_command(line: str, folder: Path, place: str) -> str:
    """Run one line of the command line interface, which must succeed and print something."""
    assert line.startswith("deltaic "), place
    command = f'"{sys.executable}" -m {line}'
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=os.environ, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, ""), f"{place}: {line}"
    assert done.stdout, f"{place}: {line}"
    return done.stdout
