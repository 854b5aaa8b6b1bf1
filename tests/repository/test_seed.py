"""The seed of random tests: one number or an environment variable, for every process."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import core

from tests import seed
from tests.repository.markdown import TOP


def test_without_a_variable_the_seed_is_fixed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(seed.VARIABLE, raising=False)
    assert seed.current_seed() == seed.DEFAULT


def test_a_seed_that_is_set_is_retained_and_exported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(seed.VARIABLE, "7")
    monkeypatch.delenv(seed.OF_PROPTEST, raising=False)
    assert seed.export_seed() == 7
    assert (os.environ[seed.VARIABLE], os.environ[seed.OF_PROPTEST]) == ("7", "7")


def test_generators_repeat_and_differ_by_label(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(seed.VARIABLE, "7")
    first, again, other = seed.generator("a", 1), seed.generator("a", 1), seed.generator("a", 2)
    numbers = [generator.random() for generator in (first, again, other)]
    assert numbers[0] == numbers[1] != numbers[2]
    monkeypatch.setenv(seed.VARIABLE, "8")
    assert seed.generator("a", 1).random() != numbers[0]


def test_hypothesis_takes_the_seed() -> None:
    assert core.global_force_seed == int(os.environ[seed.VARIABLE])


def test_pytest_prints_the_seed() -> None:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "tests/repository/test_seed.py",
        "-q",
        "-k",
        "hypothesis_takes",
    ]
    environment = {**os.environ, seed.VARIABLE: "12345"}
    ended = subprocess.run(
        [*command, "-p", "no:cacheprovider"],
        cwd=TOP,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout
    assert "TEST_SEED=12345" in ended.stdout


def test_rust_has_the_same_default() -> None:
    source = (TOP / "rust/testkit/src/test_seed.rs").read_text()
    assert f"const DEFAULT: u64 = {seed.DEFAULT:_};" in source


def test_no_test_has_a_seed_of_its_own() -> None:
    """Random generators of the tests come from `tests/seed.py`."""
    own = ("random.Random(", "random.seed(", "derandomize", "default_rng(", "PAIRS_" + "SEED")
    for path in (TOP / "tests").rglob("*.py"):
        if path.name not in {"seed.py", "test_seed.py"}:
            text = path.read_text(encoding="utf-8")
            assert not [one for one in own if one in text], path
