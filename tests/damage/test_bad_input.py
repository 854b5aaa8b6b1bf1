"""Every invalid table or request, and its expected error.

Each case: the right exception class with the location (file, version, column) and a hint, and a table whose
files are unchanged. Damage of the log is also tested with an append.
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

# These errors are not about a file and do not name the table.
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
            # The message contains the context, too.
            assert f"{key}: {value if isinstance(value, int) else ''}" in str(error)


def test_every_case_states_where() -> None:
    """Errors of deltaic have a context; those about an argument contain the argument."""
    nowhere = {
        case.name for case in CASES if issubclass(case.error, deltaic.DeltaicError) and not case.context
    }
    assert nowhere == set()


@pytest.mark.parametrize("row", LOG_ROWS)
def test_findings_name_version_and_file_or_table(row: str) -> None:
    for case in LOG_ROWS[row]:
        if isinstance(case, Case) and case.error is not deltaic.TableNotFound:
            assert "version" in case.context, case.name
            assert {"path", "table"} & case.context.keys() or case.name in WITHOUT_A_TABLE, case.name
