"""The examples in a document, taken out and run."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

EXAMPLE = re.compile(r"^```python\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)


def blocks(document: str, language: str) -> list[str]:
    """The fenced blocks of a language in a document, which is named from the project's top."""
    text = (TOP / document).read_text(encoding="utf-8")
    found = [block for name, block in BLOCK.findall(text) if name == language]
    assert found, f"{document} has no {language}"
    return found


def run_python(document: str, **names: Any) -> None:
    """Run a document's Python from top to bottom; a traceback shows the document and its block.

    A block of text right behind one of Python is what it prints.
    """
    for number, (text, shown) in enumerate(EXAMPLE.findall((TOP / document).read_text("utf-8")), start=1):
        place = f"{document}, block {number}"
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(text, place, "exec"), names)  # noqa: S102 (our own documents)
        assert not shown or printed.getvalue() == shown, f"{place} prints\n{printed.getvalue()}"
