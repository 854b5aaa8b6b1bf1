"""Everything that can be wrong with a table or a question, and what it gets.

Each case: an exception of the right class that says where (file, version, column) and what to do, and a table
whose bytes are as they were. Damage of the log is met by an append as well.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import deltaic

from . import broken
from .case import Case, as_parameters
from .cases import CASES
from .error_text import judge_text
from .tree import tree


@pytest.mark.parametrize("case", as_parameters(CASES))
def test_bad_input(tmp_path: Path, case: Case) -> None:
    root = tmp_path / "t"
    broken.healthy(root)
    case.damage(root)
    before = tree(root)
    meet_and_judge(root, case, case.meet)
    assert tree(root) == before
    if case.append_too:
        meet_and_judge(root, case, broken.appended)
        assert tree(root) == before


def meet_and_judge(root: Path, case: Case, meet: broken.Meeting) -> None:
    with pytest.raises(case.error) as caught:
        meet(root)
    error = caught.value
    for word in case.says:
        assert word in str(error), str(error)
    judge_text(str(error))
    if isinstance(error, deltaic.DeltaicError):
        if case.error is not deltaic.DeltaicError:
            assert type(error) is case.error
        assert error.code == re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(error).__name__).upper()
        assert error.hint, f"no hint: {error}"
        judge_text(error.hint)
        # A predicate that cannot be read has no place but itself, and that is in the message.
        if not isinstance(error, deltaic.InvalidPredicate):
            assert error.context, f"no context: {error}"
        for key, value in case.context.items():
            assert error.context[key] == value
