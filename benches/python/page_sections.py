"""The sections of a page in Markdown: each begins with a heading of the second level."""

from __future__ import annotations

import re


def section_of(page: str, heading: str) -> str:
    """The section from its heading to the next one; empty where there is none."""
    begin, end = span(page, heading)
    return page[begin:end].strip("\n")


def with_section(page: str, heading: str, section: str) -> str:
    """The page with that section in place of the one it has; at the end where it has none."""
    begin, end = span(page, heading)
    before, behind = page[:begin].rstrip("\n"), page[end:].strip("\n")
    return "\n\n".join(part for part in (before, section.strip("\n"), behind) if part) + "\n"


def span(page: str, heading: str) -> tuple[int, int]:
    """Where the section begins and ends."""
    found = re.search(rf"^{re.escape(heading)}$", page, re.MULTILINE)
    if found is None:
        return len(page), len(page)
    behind = re.compile(r"^## ", re.MULTILINE).search(page, found.end())
    return found.start(), behind.start() if behind else len(page)
