"""What an error message must not contain."""

from __future__ import annotations

import re

IMPLEMENTATION = re.compile(
    r"panicked|unwrap|stack backtrace|RUST_BACKTRACE|\.rs:\d+|\bErr\(|\bSome\(|\bOk\(|ErrorKind"
    r"|Error \{|::\w|object_store|\bos error \d+|\bstruct [A-Z]"
)
LONGEST = 2000


def judge_text(text: str) -> None:
    """Asserts that a text has no implementation details, is not too long and not empty."""
    assert not IMPLEMENTATION.search(text), text
    assert 0 < len(text) < LONGEST, text
    assert "\n\n" not in text
