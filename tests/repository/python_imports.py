"""Which module of a Python package imports which, also inside functions and for type checking only."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path


def python_imports(package: Path) -> dict[str, dict[str, int]]:
    """The modules that each module of a package imports, with the line of the first import.

    Compiled modules are left out, and so are the packages that an import of their module runs first.
    """
    files = {_name(file, package): file for file in sorted(package.rglob("*.py"))}
    found: dict[str, dict[str, int]] = {}
    for module, file in files.items():
        imports = found.setdefault(module, {})
        tree = ast.parse(file.read_text(encoding="utf-8"))
        parent = module if file.name == "__init__.py" else module.rpartition(".")[0]
        for imported, line in _imports(tree, parent, files):
            imports.setdefault(imported, line)
    return found


def _name(file: Path, package: Path) -> str:
    parts = (package.name, *file.relative_to(package).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(tree: ast.Module, parent: str, modules: dict[str, Path]) -> Iterator[tuple[str, int]]:
    compiled = {f"{name}._rust" for name in modules}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name in modules:
                    yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            above = parent.split(".")[: len(parent.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                name = f"{base}.{alias.name}"
                if name in modules:
                    yield name, node.lineno
                elif base in modules and name not in compiled:
                    yield base, node.lineno
