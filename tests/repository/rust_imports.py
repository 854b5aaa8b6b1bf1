"""Which module of a Rust crate imports which, from the `use` items and paths in its sources."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

Module = tuple[str, ...]

COMMENT_OR_STRING = re.compile(
    r"""//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?'(?:\\.[^']*|[^'\\])'""", re.DOTALL
)
TEST_MODULE = re.compile(r"#\[cfg\(test\)\]\s*(?:pub(?:\([a-z: ]+\))? )?mod (\w+)\s*([;{])")
USE = re.compile(r"\b(pub(?:\([a-z: ]+\))?\s+)?use\s+([^;]+);")
WITHIN = re.compile(r"pub\(in [\w:]+\)")
PATH = re.compile(r"(?<![\w:])((?:crate|self|super)(?:::\w+)+)")


@dataclass
class Source:
    """One module: its file, what it names, and what it exports under a name of its own."""

    file: Path
    names: list[tuple[Module, int]] = field(default_factory=list)  # absolute paths, and the line of each
    exports: dict[str, Module] = field(default_factory=dict)


def imports_of(folder: Path) -> dict[tuple[Module, Module], list[str]]:
    """The imports between the modules of a crate, with the places of each. Test modules are left out."""
    sources = _sources(folder)
    found: dict[tuple[Module, Module], list[str]] = {}
    for importer, source in sources.items():
        for path, line in source.names:
            imported = _module_of(path, sources)
            if imported != importer:
                place = f"{source.file.relative_to(folder)}:{line}"
                places = found.setdefault((importer, imported), [])
                if place not in places:
                    places.append(place)
    return found


def _sources(folder: Path) -> dict[Module, Source]:
    texts: dict[Module, tuple[Path, str]] = {}
    tests: set[Module] = set()
    for file in sorted(folder.rglob("*.rs")):
        parts = file.relative_to(folder).with_suffix("").parts
        module = parts[:-1] if parts[-1] in {"lib", "mod"} else parts
        text = COMMENT_OR_STRING.sub(lambda cut: "\n" * cut[0].count("\n"), file.read_text(encoding="utf-8"))
        for name, form in TEST_MODULE.findall(text):
            if form == ";":
                tests.add((*module, name))
        texts[module] = (file, _without_test_modules(text))
    kept = {module: text for module, text in texts.items() if not any(module[: len(t)] == t for t in tests)}
    return {module: _source(module, file, text, kept) for module, (file, text) in kept.items()}


def _without_test_modules(text: str) -> str:
    while found := next((m for m in TEST_MODULE.finditer(text) if m[2] == "{"), None):
        depth, at = 1, found.end()
        while depth and at < len(text):
            depth += {"{": 1, "}": -1}.get(text[at], 0)
            at += 1
        text = text[: found.start()] + "\n" * text.count("\n", found.start(), at) + text[at:]
    return text


def _source(module: Module, file: Path, text: str, modules: dict[Module, tuple[Path, str]]) -> Source:
    source = Source(file)
    uses = [(m.start(), bool(m[1]), _leaves(re.sub(r"\s+", " ", m[2]).strip())) for m in USE.finditer(text)]
    for start, exported, leaves in uses:
        for leaf in leaves:
            path, _, alias = leaf.partition(" as ")
            absolute = _absolute(path.strip(), module, modules)
            if absolute is None:
                continue
            source.names.append((absolute, text.count("\n", 0, start) + 1))
            if exported:
                source.exports[alias.strip() or absolute[-1]] = absolute
    rest = USE.sub(lambda cut: "\n" * cut[0].count("\n"), WITHIN.sub("pub", text))
    for match in PATH.finditer(rest):
        absolute = _absolute(match[1], module, modules)
        if absolute is not None:
            source.names.append((absolute, rest.count("\n", 0, match.start()) + 1))
    return source


def _leaves(tree: str) -> list[str]:
    """The paths that a `use` tree names."""
    if not tree.endswith("}"):
        return [tree.removesuffix("::self")]
    prefix, _, body = tree[:-1].partition("{")
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(body):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append(body[start:at])
            start = at + 1
    parts.append(body[start:])
    return [leaf for part in parts if part.strip() for leaf in _leaves(prefix.strip() + part.strip())]


def _absolute(path: str, module: Module, modules: dict[Module, tuple[Path, str]]) -> Module | None:
    """A path from the crate's root; none where it leads out of the crate."""
    first, *rest = path.split("::")
    if first == "crate":
        return tuple(rest)
    if first == "self":
        return (*module, *rest)
    if first == "super":
        above = module[:-1]
        while rest and rest[0] == "super":
            above, rest = above[:-1], rest[1:]
        return (*above, *rest)
    return (*module, first, *rest) if (*module, first) in modules else None


def _module_of(path: Module, sources: dict[Module, Source]) -> Module:
    """The module that defines what a path names, through what other modules export."""
    while True:
        module = next(path[:n] for n in range(len(path), -1, -1) if path[:n] in sources)
        exported = sources[module].exports.get(path[len(module)]) if len(path) > len(module) else None
        if exported is None or exported[: len(module) + 1] == path[: len(module) + 1]:
            return module
        path = (*exported, *path[len(module) + 1 :])
