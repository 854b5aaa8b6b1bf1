"""`make quick`: which checks run for which changed files."""

from __future__ import annotations

import importlib
from pathlib import PurePosixPath
from types import ModuleType

import pytest

from tests.repository.markdown import TOP


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """`tests/quick.py`, imported with its folder on the path as for a script."""
    monkeypatch.syspath_prepend(TOP / "tests")
    return importlib.import_module("quick")


def commands(quick: ModuleType, *changed: str) -> list[str]:
    return [" ".join(command) for command in quick.commands_for([PurePosixPath(name) for name in changed])]


@pytest.mark.parametrize(
    ("changed", "test"),
    [
        ("rust/table/src/vacuum/mod.rs", "tests/api/test_vacuum.py"),
        ("python/deltaic/maintenance/vacuum.py", "tests/api/test_cli_vacuum.py"),
        ("python/deltaic/spark/stream.py", "tests/spark/test_stream.py"),
        ("tests/api/test_scan.py", "tests/api/test_scan.py"),
        ("tests/api/log_files.py", "tests/api/test_history.py"),
    ],
)
def test_a_file_has_the_tests_that_are_named_after_it(quick: ModuleType, changed: str, test: str) -> None:
    assert test in quick.tests_of(PurePosixPath(changed))
    assert (TOP / test).is_file()


def test_a_change_in_rust_tests_its_crate_and_the_extension(quick: ModuleType) -> None:
    found = "\n".join(commands(quick, "rust/log/src/segment.rs", "rust/python/src/table.rs"))
    assert "cargo clippy -p deltaic-log -p deltaic-python" in found
    assert "cargo test -p deltaic-log --lib" in found
    assert "envs/build_extension.sh" in found
    assert "pyright" not in found


def test_a_page_runs_its_examples_and_nothing_of_rust(quick: ModuleType) -> None:
    found = commands(quick, "docs/guides/append.md")
    assert any("test_documents.py -k append" in command for command in found)
    assert not any("cargo" in command or "ruff" in command for command in found)
