"""The examples in docstrings run, and every public name has a docstring."""

from __future__ import annotations

import doctest
import importlib
import inspect
from pathlib import Path

import pytest

import deltaic

PACKAGE = Path(deltaic.__file__).parent
# `deltaic.spark` needs a Spark session; its own tests run its examples.
MODULES = sorted(
    ".".join(("deltaic", *path.relative_to(PACKAGE).with_suffix("").parts))
    for path in PACKAGE.rglob("*.py")
    if path.stem not in ("__init__", "__main__") and "spark" not in path.relative_to(PACKAGE).parts
)
WITH_EXAMPLES = {"deltaic.table", "deltaic.reading.snapshot", "deltaic.reading.scan"}
WITH_EXAMPLES |= {"deltaic.reading.schema", "deltaic.values.predicates"}


@pytest.mark.parametrize("name", ["deltaic", *MODULES])
def test_examples_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # DONT_ACCEPT_TRUE_FOR_1: an example must show exactly what is printed.
    results = doctest.testmod(importlib.import_module(name), optionflags=doctest.DONT_ACCEPT_TRUE_FOR_1)
    assert results.failed == 0
    if name in WITH_EXAMPLES:
        assert results.attempted > 0


def test_the_modules_with_examples_are_tested() -> None:
    assert set(MODULES) >= WITH_EXAMPLES


@pytest.mark.parametrize("name", deltaic.__all__)
def test_a_public_name_has_a_docstring(name: str) -> None:
    value = getattr(deltaic, name)
    if not (inspect.isclass(value) or inspect.isfunction(value)):
        return
    assert value.__doc__
    for member_name, member in vars(value).items():
        described = member.fget if isinstance(member, property) else member
        if not member_name.startswith("_") and (callable(described) or isinstance(member, staticmethod)):
            assert inspect.getdoc(described), f"{name}.{member_name}"
