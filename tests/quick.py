"""Checks what changed since `main`: formatting, lints, and the tests of the changed files.

`make quick` runs it between two changes; `make test` decides. The tests of a source are those that are named
after it: a change in `rust/table/src/vacuum` or `python/deltaic/maintenance/vacuum.py` runs
`tests/api/test_vacuum*.py`.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from commands import TOP, run_command, show
from outcome import headline

VENV = TOP / ".venv" / "bin"
INTEROP = TOP / ".envs" / "interop" / "bin" / "python"
# The crate of the extension has no Rust tests.
EXTENSION = "python"
# Words in paths that do not name the subject of a file.
GENERAL = {
    "api",
    "bench",
    "conftest",
    "deltaic",
    "init",
    "lib",
    "log",
    "main",
    "mod",
    "protocol",
    "py",
    "python",
}
GENERAL |= {"read", "rust", "src", "storage", "table", "test", "tests", "testkit", "transaction", "write"}


def changed_files() -> list[PurePosixPath]:
    """The files that differ from the last commit on `main` that this branch has, with files not in Git."""
    base = git("merge-base", "main", "HEAD")
    names = [*git("diff", "--name-only", base[0]), *git("ls-files", "--others", "--exclude-standard")]
    return [PurePosixPath(name) for name in sorted(set(names)) if (TOP / name).is_file()]


def git(*arguments: str) -> list[str]:
    """The lines that a Git command prints."""
    command = ["git", *arguments]
    return subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=True).stdout.splitlines()


def words(path: PurePosixPath) -> set[str]:
    """The words in the names of a file and its folders that say what it is about, in the singular."""
    parts = re.split(r"[/_.]", path.with_suffix("").as_posix().lower())
    return {part.removesuffix("s") for part in parts if part and part not in GENERAL}


def tests_of(path: PurePosixPath) -> Iterator[str]:
    """Yields the test files of a changed file."""
    top = path.parts[0]
    if path.match("tests/**/test_*.py"):
        yield path.as_posix()
    elif top == "tests" and path.suffix == ".py":
        named = re.compile(rf"\b{re.escape(path.stem)}\b")
        for test in sorted((TOP / path.parent).glob("test_*.py")):
            if path.stem == "conftest" or named.search(test.read_text(encoding="utf-8")):
                yield test.relative_to(TOP).as_posix()
    elif top in {"rust", "python"} and path.suffix in {".rs", ".py", ".pyi"}:
        folder = "tests/spark" if "spark" in path.parts else "tests/api"
        about = words(path)
        for test in sorted((TOP / folder).glob("test_*.py")):
            if words(PurePosixPath(test.relative_to(TOP))) & about:
                yield test.relative_to(TOP).as_posix()


def commands_for(changed: list[PurePosixPath]) -> Iterator[list[str]]:
    """Yields the commands that check the changed files, quickest first."""
    python = [path.as_posix() for path in changed if path.suffix in {".py", ".pyi"}]
    crates = sorted({path.parts[1] for path in changed if path.parts[0] == "rust"})
    if python:
        yield [str(VENV / "ruff"), "check", *python]
        yield [str(VENV / "ruff"), "format", "--check", *python]
    if any(name.startswith("python/") for name in python):
        yield [str(VENV / "pyright")]
    if crates:
        yield ["cargo", "fmt", "--all", "--check"]
        packages = [argument for crate in crates for argument in ("-p", f"deltaic-{crate}")]
        yield ["cargo", "clippy", *packages, "--all-targets", "--locked", "--", "-D", "warnings"]
        tested = [
            argument for crate in crates if crate != EXTENSION for argument in ("-p", f"deltaic-{crate}")
        ]
        if tested:
            yield ["cargo", "test", *tested, "--lib", "--tests", "--locked", "--quiet"]
    yield ["envs/build_extension.sh"]
    yield from pytest_commands(changed)


def pytest_commands(changed: list[PurePosixPath]) -> Iterator[list[str]]:
    """Yields the commands that run the Python tests, in the environment that each of them needs."""
    tests = sorted({test for path in changed for test in tests_of(path)} | {"tests/repository/test_words.py"})
    interop = [test for test in tests if test.startswith("tests/interop/")]
    tests = [test for test in tests if test not in interop]
    yield [str(VENV / "python"), "-m", "pytest", "-q", *tests]
    pages = [path.stem for path in changed if path.suffix == ".md"]
    if pages:
        documents = "tests/repository/test_documents.py"
        yield [str(VENV / "python"), "-m", "pytest", "-q", documents, "-k", " or ".join(map(keyword, pages))]
    if interop and INTEROP.exists():
        yield [str(INTEROP), "-m", "pytest", "-q", *interop]


def keyword(name: str) -> str:
    """A name for pytest's `-k`, which does not accept a leading digit."""
    return name.lstrip("0123456789-") or name


def main() -> int:
    """Run every command; 0 if all succeed."""
    changed = changed_files()
    if not changed:
        print("quick: nothing differs from main")
        return 0
    failed: list[str] = []
    began = time.monotonic()
    for command in commands_for(changed):
        line = " ".join([Path(command[0]).name, *command[1:]])
        show(headline(line if len(line) < 80 else line[:77] + "..."))
        started = time.monotonic()
        code, _ = run_command(command)
        show(f"({time.monotonic() - started:.0f} s)")
        # 5: no page has such a test, for example an example that runs elsewhere.
        if code not in {0, 5}:
            failed.append(line)
    for line in failed:
        show(f"quick: failed: {line}")
    if not failed:
        show(f"quick: {len(changed)} changed files passed in {time.monotonic() - began:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
