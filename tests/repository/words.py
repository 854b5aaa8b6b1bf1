"""Finds retired words in the text that people read, without code."""

from __future__ import annotations

import io
import json
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

from tests.repository.markdown import TOP
from tests.repository.rust_imports import COMMENT_OR_STRING

LIST = TOP / "tests" / "repository" / "retired_words.json"
FENCE = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
SOURCES = (
    "rust/**/*.rs",
    "fuzz/**/*.rs",
    "python/**/*.py",
    "tests/**/*.py",
    "benches/**/*.py",
    "examples/*.py",
)
INLINE = re.compile(r"`[^`\n]*`|\]\([^)]*\)|\"[^\"\n]*\.md\"")


def blank(found: re.Match[str]) -> str:
    """Return the line breaks of a match, so that line numbers stay right."""
    return "\n" * found[0].count("\n")


def markdown_text(text: str) -> str:
    """Return a document without code, link targets and quotations."""
    return INLINE.sub(" ", FENCE.sub(blank, text))


def hash_comments(text: str) -> str:
    """Return the comments of a shell script, a Makefile or Python source, without inline code."""
    lines = [re.search(r"(?:^|\s)#+ ?(?!!)(.*)$", line) for line in text.splitlines()]
    return INLINE.sub(" ", "\n".join(line[1] if line else "" for line in lines))


def python_text(text: str) -> str:
    """Return the comments and docstrings of Python source, without code and argument names."""
    lines = [""] * (text.count("\n") + 2)
    before = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        docstring = token.type == tokenize.STRING and before in {tokenize.NEWLINE, tokenize.INDENT}
        if token.type == tokenize.COMMENT or docstring:
            for number, line in enumerate(token.string.splitlines(), start=token.start[0]):
                lines[number - 1] += line
        if token.type not in {tokenize.NL, tokenize.COMMENT}:
            before = token.type
    without_code = re.sub(r"``[^`\n]*``|^ *>>> .*$|^ +\w+:(?= )", " ", "\n".join(lines), flags=re.MULTILINE)
    return INLINE.sub(" ", without_code)


def rust_comments(text: str) -> str:
    """Return the line comments of Rust source, without inline code and without examples."""
    lines = [re.search(r"(?:^|\s)//[/!]? ?(.*)$", line) for line in text.splitlines()]
    return INLINE.sub(" ", FENCE.sub(blank, "\n".join(line[1] if line else "" for line in lines)))


def rust_messages(text: str) -> str:
    """Return the string literals of Rust source that contain spaces, without its tests."""
    product = re.split(r"^#\[cfg\(test\)\]\nmod \w+ \{", text, maxsplit=1, flags=re.MULTILINE)[0]
    code = re.sub(r"(?:^|\s)//.*$", "", product, flags=re.MULTILINE)

    # Between literals, only line breaks remain.
    parts = re.split(r"""('(?:\\.|[^'\\\n])'|r#*"(?:.|\n)*?"#*)|"((?:[^"\\]|\\(?:.|\n))*)\"""", code)
    kept: list[str] = []
    for index in range(0, len(parts), 3):
        kept.append("\n" * parts[index].count("\n"))
        if index + 2 < len(parts):
            raw, literal = parts[index + 1], parts[index + 2]
            is_text = literal is not None and re.search(r"\w \w", literal)
            kept.append(f" {literal} " if is_text else "\n" * (raw or literal or "").count("\n"))
    return "".join(kept)


TEXTS = {
    "markdown": markdown_text,
    "hash comments": hash_comments,
    "python": python_text,
    "rust": rust_comments,
    "rust messages": rust_messages,
}


def retired_words(text: str, words: dict[str, str]) -> Iterator[tuple[int, str, str]]:
    """Yield line, word and replacement of each retired word in a text."""
    for pattern, use in words.items():
        for found in re.finditer(rf"\b(?:{pattern})\b", text, re.IGNORECASE):
            yield text.count("\n", 0, found.start()) + 1, found[0], use


def findings() -> list[str]:
    """Return the retired words in all files of the scopes."""
    rules = json.loads(LIST.read_text(encoding="utf-8"))
    found: list[str] = []
    for scope in rules["scopes"]:
        for path in sorted({path for glob in scope["files"] for path in TOP.glob(glob)}):
            name = path.relative_to(TOP).as_posix()
            if any(name == place or name.startswith(f"{place}/") for place in scope.get("without", {})):
                continue
            text = TEXTS[scope["text"]](path.read_text(encoding="utf-8"))
            for line, word, use in sorted(retired_words(text, rules["words"])):
                found.append(f"{name}:{line}: {word!r}: use {use}")
    return found


def identifiers(path: Path) -> str:
    """Return the names in Rust or Python source, without comments and strings; lines stay the same."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".rs":
        return COMMENT_OR_STRING.sub(blank, text)
    lines = [""] * (text.count("\n") + 2)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME:
            lines[token.start[0] - 1] += f" {token.string}"
    return "\n".join(lines)


def retired_names(text: str, names: dict[str, str]) -> Iterator[tuple[int, str, str]]:
    """Yield line, name and replacement of each retired part of a name: of `a_wish`, and of `AWish`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", text)
    for pattern, use in names.items():
        for found in re.finditer(rf"(?<![A-Za-z0-9])(?:{pattern})(?![A-Za-z0-9])", words, re.IGNORECASE):
            yield words.count("\n", 0, found.start()) + 1, found[0], use


def findings_of_names() -> list[str]:
    """Return the retired parts of names of files, and of identifiers in them."""
    names = json.loads(LIST.read_text(encoding="utf-8"))["names"]
    found: list[str] = []
    for path in sorted(path for glob in SOURCES for path in TOP.glob(glob)):
        name = path.relative_to(TOP).as_posix()
        found.extend(f"{name}: {word!r}: use {use}" for _, word, use in retired_names(name, names))
        for line, word, use in sorted(retired_names(identifiers(path), names)):
            found.append(f"{name}:{line}: {word!r}: use {use}")
    return found


def files_of_scopes() -> set[Path]:
    """Return all files in which words are looked for."""
    rules = json.loads(LIST.read_text(encoding="utf-8"))
    return {path for scope in rules["scopes"] for glob in scope["files"] for path in TOP.glob(glob)}
