"""Links of Markdown documents and the anchors of their headings."""

from __future__ import annotations

import re
from pathlib import Path

FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)
PUNCTUATION = re.compile(r"[^\w\- ]")


def links(document: Path) -> list[str]:
    """Return the targets of a document's links, without those of code blocks and web pages."""
    found = LINK.findall(FENCE.sub("", document.read_text(encoding="utf-8")))
    return [link for link in found if "://" not in link]


def anchors(document: Path) -> set[str]:
    """Return the anchors that GitHub gives to a document's headings."""
    found: set[str] = set()
    for heading in HEADING.findall(FENCE.sub("", document.read_text(encoding="utf-8"))):
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        anchor = PUNCTUATION.sub("", text.lower()).replace(" ", "-")
        number = 0
        while (numbered := f"{anchor}-{number}" if number else anchor) in found:
            number += 1
        found.add(numbered)
    return found


def broken_links(document: Path) -> list[str]:
    """Return the links of a document that lead to no file or no heading."""
    broken: list[str] = []
    for link in links(document):
        path, _, anchor = link.partition("#")
        target = document.parent / path if path else document
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    return broken
