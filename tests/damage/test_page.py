"""The page on damage matches the cases."""

from __future__ import annotations

from .page import PAGE, page


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "write it again: python -m tests.damage.page"
