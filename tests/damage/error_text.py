"""What no message of an error may hold, whatever went wrong."""

from __future__ import annotations

import re

IMPLEMENTATION = re.compile(
    r"panicked|unwrap|stack backtrace|RUST_BACKTRACE|\.rs:\d+|\bErr\(|\bSome\(|\bOk\(|ErrorKind"
    r"|Error \{|::\w|object_store|\bos error \d+|\bstruct [A-Z]"
)
LONGEST = 2000


def judge_text(text: str) -> None:
    """No noise of the implementation, no page-long message, no empty one."""
    assert not IMPLEMENTATION.search(text), text
    assert 0 < len(text) < LONGEST, text
    assert "\n\n" not in text
