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
from .case import TABLE, Case, as_parameters
from .cases import CASES, LOG_ROWS
from .error_text import judge_text
from .tree import tree

# What these errors say is of no file, and they do not name the table either.
WITHOUT_A_TABLE = {"a table at the largest possible version"}


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
        for key, value in case.context.items():
            assert error.context[key] == (f"file://{root}/" if value is TABLE else value), key
            # What is told as data is told in words too.
            assert f"{key}: {value if isinstance(value, int) else ''}" in str(error)


def test_every_case_says_where() -> None:
    """An error of ours is a place; one of a wrong argument is the argument itself."""
    nowhere = {
        case.name for case in CASES if issubclass(case.error, deltaic.DeltaicError) and not case.context
    }
    assert nowhere == set()


@pytest.mark.parametrize("row", LOG_ROWS)
def test_what_is_wrong_with_a_log_is_at_a_version_and_in_a_file_or_table(row: str) -> None:
    for case in LOG_ROWS[row]:
        if isinstance(case, Case) and case.error is not deltaic.TableNotFound:
            assert "version" in case.context, case.name
            assert {"path", "table"} & case.context.keys() or case.name in WITHOUT_A_TABLE, case.name
