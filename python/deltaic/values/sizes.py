"""Sizes and counts as text."""

from __future__ import annotations

__all__ = ["counted", "readable_size"]


def readable_size(size_in_bytes: int) -> str:
    """Formats a number of bytes in the largest binary unit in which it is at least 1.

    >>> readable_size(999), readable_size(1536), readable_size(5 * 1024**3)
    ('999 B', '1.5 KiB', '5.0 GiB')
    """
    size = float(size_in_bytes)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if size < 1024:
            return f"{size_in_bytes} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:,.1f} PiB"


def counted(number: int, noun: str) -> str:
    """Formats a number of things.

    >>> counted(1, "file"), counted(2000, "file")
    ('1 file', '2,000 files')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
