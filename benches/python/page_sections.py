"""Sections of a Markdown page: each starts with a second-level heading."""

from __future__ import annotations

import re


def section_of(page: str, heading: str) -> str:
    """Returns the section from its heading to the next one; empty if it does not exist."""
    begin, end = span(page, heading)
    return page[begin:end].strip("\n")


def with_section(page: str, heading: str, section: str) -> str:
    """Replaces a section of the page, or appends it."""
    begin, end = span(page, heading)
    before, behind = page[:begin].rstrip("\n"), page[end:].strip("\n")
    return "\n\n".join(part for part in (before, section.strip("\n"), behind) if part) + "\n"


def span(page: str, heading: str) -> tuple[int, int]:
    """Returns the start and the end of the section."""
    found = re.search(rf"^{re.escape(heading)}$", page, re.MULTILINE)
    if found is None:
        return len(page), len(page)
    behind = re.compile(r"^## ", re.MULTILINE).search(page, found.end())
    return found.start(), behind.start() if behind else len(page)
