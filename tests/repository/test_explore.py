"""`make explore` runs every suite that draws, and continues an interrupted search."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests import explore
from tests.random_suites import SUITES, Suite, files_with, of_modules
from tests.repository.markdown import TOP

# Files that only define how the others draw, or that choose which tests run.
DEFINITIONS = {
    "tests/seed.py",
    "tests/share.py",
    "tests/repository/test_seed.py",
    "rust/testkit/src/lib.rs",
    "rust/testkit/src/test_seed.rs",
}
SEED = 7


def test_every_file_that_draws_belongs_to_a_suite() -> None:
    drawing = {
        *files_with(r"\bgenerator\(|^\s*@given\b", "tests", ".py"),
        *files_with(r"\btest_seed\b|\bproptest!|\bTestRunner::", "rust", ".rs"),
    }
    listed = {file for suite in SUITES for file in suite.draws}
    assert len(drawing) > 50
    assert not drawing - listed - DEFINITIONS


def test_the_listed_files_and_tests_exist() -> None:
    for suite in SUITES:
        paths = [
            *suite.draws,
            *(
                one.partition("::")[0]
                for command in suite.commands
                for one in command
                if one.startswith("tests/")
            ),
        ]
        assert not [path for path in paths if not (TOP / path).exists()], suite.name
    assert len({suite.name for suite in SUITES}) == len(SUITES)


def test_rust_modules_are_named_by_their_files() -> None:
    files = [
        "rust/log/src/a/tests.rs",
        "rust/log/src/b/mod.rs",
        "rust/log/tests/it/c/mod.rs",
        "rust/log/tests/d.rs",
    ]
    commands = [" ".join(command).partition("-p ")[2] for command in of_modules(files)]
    assert commands == [
        "deltaic-log --lib -- a::tests:: b::",
        "deltaic-log --test it -- c::",
        "deltaic-log --test d -- ",
    ]


def of_python(name: str, text: str) -> Suite:
    return Suite(name, [(sys.executable, "-c", text)], [], {"CASES": 3})


def search_of(folder: Path, suites: list[Suite], seeds: int = 2) -> explore.Search:
    return explore.Search(folder / "search.json", [suite.name for suite in suites], seeds, 10, SEED)


def test_a_failure_is_printed_with_what_repeats_it(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    fails = of_python("fails", "import os; print(os.environ['CASES'], 'failures:'); raise SystemExit(1)")
    suites = [of_python("passes", "pass"), fails]
    search = search_of(tmp_path, suites)
    assert explore.search_all(search, suites) == 2
    printed = capfd.readouterr().out
    first, second = search.numbers()
    assert f"TEST_SEED={first} PROPTEST_RNG_SEED={first} CASES=30 {sys.executable} -c" in printed
    assert "30 failures:" in printed
    rows = [line.split()[:3] for line in printed.splitlines()]
    assert ["passes", "2", "0"] in rows
    assert ["fails", "2", "2"] in rows
    assert first != second


def test_an_interrupted_search_goes_on(tmp_path: Path) -> None:
    suites = [
        of_python("one", "pass"),
        of_python("other", "pass"),
        replace(of_python("once", "pass"), once=True),
    ]
    search = search_of(tmp_path, suites)
    search.save()
    search.ended.append(explore.run(suites[0], search.numbers()[0], 10, tmp_path))
    search.save()
    asked = replace(search_of(tmp_path, suites), first=SEED + 1)
    found = explore.resumed(asked, suites, is_repeated=False)
    assert found == search
    left = [(seed, suite.name) for seed, suite in found.left(suites)]
    first, second = search.numbers()
    assert left == [(first, "other"), (first, "once"), (second, "one"), (second, "other")]
    # Another search, and one after the end of this one, are new.
    assert explore.resumed(asked, suites, is_repeated=True) is asked
    other = replace(asked, size=1)
    assert explore.resumed(other, suites, is_repeated=False) is other
    assert explore.search_all(found, suites) == 0
    assert explore.resumed(asked, suites, is_repeated=False) is asked
