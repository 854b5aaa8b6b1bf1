"""The seed of random tests: one number or an environment variable, for every process."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from hypothesis import core, settings
from hypothesis.internal.conjecture import providers

from tests import hypothesis_profile, seed
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
    used = int(os.environ[seed.VARIABLE])
    assert core.global_force_seed == used
    assert settings().derandomize == (used == seed.DEFAULT)


def test_hypothesis_has_one_profile() -> None:
    assert settings.get_current_profile_name() == hypothesis_profile.NAME
    assert settings().database is None
    assert settings().deadline is None
    # Its cases do not depend on the modules that were imported before.
    assert len(providers._get_local_constants()) == 0


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


def test_cargo_alone_gives_proptest_the_same_seed() -> None:
    """Not `force`, so that an environment variable takes precedence."""
    configuration = (TOP / ".cargo/config.toml").read_text()
    assert f'\n[env]\n{seed.OF_PROPTEST} = "{seed.DEFAULT}"\n' in configuration


def test_no_test_has_a_seed_of_its_own() -> None:
    """Random generators of the tests come from `tests/seed.py`, and one profile sets Hypothesis up."""
    own = ["random.Random(", "random.seed(", "default_rng(", "np.random.", "uuid.uuid4(", "import secrets"]
    own += ["SystemRandom", "derandomize", "hypothesis.seed"]
    for path in (TOP / "tests").rglob("*.py"):
        if path.name not in {"seed.py", "test_seed.py", "hypothesis_profile.py", "explore.py"}:
            text = path.read_text(encoding="utf-8")
            assert not [one for one in own if one in text], path


def test_each_suite_has_its_own_labels() -> None:
    """Otherwise a change of one suite's draws would change the cases of another."""
    users: dict[str, set[str]] = {}
    for path in (TOP / "tests").rglob("*.py"):
        if path.name not in {"seed.py", "test_seed.py"}:
            for label in re.findall(r"\bgenerator\(\s*([^,)]+)", path.read_text(encoding="utf-8")):
                users.setdefault(label, set()).add(path.relative_to(TOP).as_posix())
    assert len(users) > 20
    assert not {label: paths for label, paths in users.items() if len(paths) > 1}
