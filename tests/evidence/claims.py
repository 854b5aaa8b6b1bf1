"""Which tests name a requirement of the protocol, in their docstring or in a comment.

The word `protocol`, a colon and ids separated by commas claim that the test proves these requirements. With
`(refused)` before the colon they claim that deltaic refuses, with a typed error, what a requirement is about.
In Rust the comment may also be right before the test.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

ID = r"(?:[a-z]+:)?[a-z][a-z0-9-]*\.\d+"
# The list may continue on further lines, each of which may begin with a comment marker.
NAMED = re.compile(rf"protocol( \(refused\))?:\s+({ID}(?:,\s*(?:(?:///?!?|#|\*)\s*)?{ID})*)")
SEARCHED = ("rust", "python", "tests")

RUST_FUNCTION = re.compile(r"^\s*(?:pub(?:\([a-z]+\))? )?(?:async )?fn (\w+)")
RUST_MODULE = re.compile(r"^(\s*)(?:pub(?:\([a-z]+\))? )?mod (\w+) \{")
RUST_TEST = re.compile(r"^\s*#\[(?:test|tokio::test)\b")


@dataclass(frozen=True)
class Claim:
    """One id that a file names, and its test."""

    id: str
    path: str
    line: int
    refused: bool
    # The test's name: in Python with its class, in Rust with the modules in the file. None outside of a test.
    test: tuple[str, ...] | None

    @property
    def place(self) -> str:
        """Location of the claim."""
        return f"{self.path}:{self.line}" + (f" {self.test[-1]}" if self.test else "")

    def recorded_as(self, rust_roots: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Returns the groups and names, without parameters, by which reports may record the test."""
        if self.test is None:
            return
        source = PurePosixPath(self.path)
        if source.suffix == ".py":
            yield ".".join([*source.with_suffix("").parts, *self.test[:-1]]), self.test[-1]
            return
        for root in rust_roots:
            folder = PurePosixPath(root).parent
            if root == self.path:
                yield root, "::".join(self.test)
            elif source.is_relative_to(folder):
                *folders, file = source.with_suffix("").relative_to(folder).parts
                modules = folders if file == "mod" else [*folders, file]
                yield root, "::".join([*modules, *self.test])


def claims_in(top: Path, folders: Iterable[str] = SEARCHED) -> Iterator[Claim]:
    """Yields every id that a source or a test names."""
    for folder in folders:
        for path in sorted((top / folder).rglob("*")):
            if path.suffix in {".py", ".rs"}:
                yield from claims_of(path.relative_to(top).as_posix(), path.read_text(encoding="utf-8"))


def claims_of(path: str, text: str) -> Iterator[Claim]:
    """Every id that the text of a file names, each once per test.

    >>> [claim.id for claim in claims_of("x.py", "# protocol:" + " data-files.2, beyond:void.1")]
    ['data-files.2', 'beyond:void.1']
    """
    found = list(NAMED.finditer(text))
    if not found:
        return
    lines = text.split("\n")
    tests = _PythonTests(text) if path.endswith(".py") else _RustTests(lines)
    seen: set[tuple[str, tuple[str, ...] | None]] = set()
    for match in found:
        line = text.count("\n", 0, match.start()) + 1
        test = tests.at(line)
        for name in re.findall(ID, match[2]):
            if (name, test) not in seen:
                seen.add((name, test))
                yield Claim(name, path, line, match[1] is not None, test)


class _PythonTests:
    """The test functions of a Python module, by their lines."""

    def __init__(self, text: str) -> None:
        self._spans = list(self._functions(ast.parse(text), ()))

    def _functions(
        self, node: ast.AST, around: tuple[str, ...]
    ) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                yield from self._functions(child, (*around, child.name))
            elif isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                first = min([child.lineno, *(decorator.lineno for decorator in child.decorator_list)])
                if child.name.startswith("test_"):
                    yield first, child.end_lineno or first, (*around, child.name)

    def at(self, line: int) -> tuple[str, ...] | None:
        return next((name for first, last, name in self._spans if first <= line <= last), None)


class _RustTests:
    """The test functions of a Rust file, which rustfmt indents by their modules."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines

    def at(self, line: int) -> tuple[str, ...] | None:
        """Returns the test whose comments or body contain a line."""
        following = self._followed_by(line - 1)
        if following is not None:
            return self._test_at(following)
        return self._test_at(self._enclosing(line - 1))

    def _followed_by(self, index: int) -> int | None:
        """Returns the function after comments and attributes."""
        while index < len(self._lines):
            text = self._lines[index].strip()
            if text.startswith("#["):
                while not self._lines[index].rstrip().endswith("]"):
                    index += 1
            elif not text.startswith("//"):
                return index if RUST_FUNCTION.match(self._lines[index]) else None
            index += 1
        return None

    def _enclosing(self, index: int) -> int | None:
        depth = _indentation(self._lines[index])
        for before in range(index - 1, -1, -1):
            text = self._lines[before]
            if text.strip() and _indentation(text) < depth:
                if RUST_FUNCTION.match(text):
                    return before
                depth = _indentation(text)
        return None

    def _test_at(self, index: int | None) -> tuple[str, ...] | None:
        if index is None or not self._is_test(index):
            return None
        match = RUST_FUNCTION.match(self._lines[index])
        names = [match[1]] if match else []
        depth = _indentation(self._lines[index])
        for before in range(index - 1, -1, -1):
            module = RUST_MODULE.match(self._lines[before])
            if module and len(module[1]) < depth:
                names.append(module[2])
                depth = len(module[1])
        return tuple(reversed(names))

    def _is_test(self, index: int) -> bool:
        for before in range(index - 1, -1, -1):
            text = self._lines[before].strip()
            if RUST_TEST.match(text):
                return True
            if not text or (text.endswith(("}", ";", "{")) and not text.startswith("//")):
                return False
        return False


def _indentation(text: str) -> int:
    return len(text) - len(text.lstrip())
