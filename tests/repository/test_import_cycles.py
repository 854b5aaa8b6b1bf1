"""No Rust or Python module imports a module that imports it, directly or through others.

Rust modules are compared with the modules beside them: a folder counts as one module with all its
contents, and what a module uses of its parent is not compared. Python modules are compared one by one.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from tests.repository.python_imports import python_imports
from tests.repository.rust_imports import Module, imports_of

ROOT = Path(__file__).parents[2]
CRATES = sorted(folder.parent.name for folder in (ROOT / "rust").glob("*/src"))


def cycles(imports: dict[tuple[Module, Module], list[str]]) -> list[str]:
    """The groups of modules of one folder that import each other, with the places of the imports."""
    graphs: dict[Module, dict[str, dict[str, list[str]]]] = defaultdict(lambda: defaultdict(dict))
    for (importer, imported), places in imports.items():
        shared = 0
        while shared < min(len(importer), len(imported)) and importer[shared] == imported[shared]:
            shared += 1
        if shared < len(importer) and shared < len(imported):
            edges = graphs[importer[:shared]][importer[shared]]
            edges.setdefault(imported[shared], []).extend(places)
    found = []
    for folder, graph in sorted(graphs.items()):
        reached = {name: _reached(name, graph) for name in list(graph)}
        in_cycle = sorted(name for name, others in reached.items() if name in others)
        while in_cycle:
            group = [
                name for name in in_cycle if in_cycle[0] in reached[name] and name in reached[in_cycle[0]]
            ]
            in_cycle = [name for name in in_cycle if name not in group]
            found.append(f"{'::'.join(('crate', *folder))}: {', '.join(group)}")
            for importer in group:
                for imported, places in sorted(graph[importer].items()):
                    if imported in group:
                        found[-1] += f"\n    {importer} imports {imported}: {', '.join(places[:3])}"
    return found


def _reached(start: str, graph: dict[str, dict[str, list[str]]]) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        for name in graph.get(waiting.pop(), {}):
            if name not in seen:
                seen.add(name)
                waiting.append(name)
    return seen


@pytest.mark.parametrize("crate", CRATES)
def test_rust_modules_form_no_import_cycle(crate: str) -> None:
    found = cycles(imports_of(ROOT / "rust" / crate / "src"))
    assert not found, "\n".join(found)


def imports_from_parents(imports: dict[tuple[Module, Module], list[str]]) -> list[str]:
    """The imports of items that a module above defines: then each would need the other."""
    return [
        f"{'::'.join(importer)} imports items of {'::'.join(imported) or 'the root'}: {', '.join(places)}"
        for (importer, imported), places in sorted(imports.items())
        if imported and importer[: len(imported)] == imported
    ]


@pytest.mark.parametrize("crate", CRATES)
def test_no_module_imports_an_item_of_its_parent(crate: str) -> None:
    found = imports_from_parents(imports_of(ROOT / "rust" / crate / "src"))
    assert not found, "\n".join(found)


def test_an_import_of_a_parents_item_is_found(tmp_path: Path) -> None:
    files = {
        "lib.rs": "mod a;\n",
        "a/mod.rs": "mod b;\npub struct Held;\nstruct Alone;\nuse b::Free;\n",
        "a/b.rs": "use super::Held;\npub(in crate::a) struct Free;\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert imports_from_parents(imports_of(tmp_path)) == ["a::b imports items of a: a/b.rs:1"]


def test_a_cycle_is_found_through_exports_and_folders(tmp_path: Path) -> None:
    files = {
        "lib.rs": "mod a;\nmod b;\nmod c;\n",
        "a.rs": "use crate::b::{Deep as D, inner::{self}};\n#[cfg(test)]\nmod tests { use crate::c::X; }\n",
        "b/mod.rs": "mod inner;\npub use self::inner::Deep;\npub struct Held;\n",
        "b/inner.rs": "// use crate::c::X;\nuse super::Held;\nfn f() { super::super::c::X::new() }\n",
        "c.rs": 'const TEXT: &str = "use crate::b::Deep;";\nuse crate::a::f;\n',
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert cycles(imports_of(tmp_path)) == [
        "crate: a, b, c\n    a imports b: a.rs:1\n    b imports c: b/inner.rs:3\n    c imports a: c.rs:2"
    ]
    (tmp_path / "c.rs").write_text("pub struct X;\n", encoding="utf-8")
    assert cycles(imports_of(tmp_path)) == []


def python_cycles(package: Path) -> list[str]:
    """The imports of a package that lead back to their module, with their places."""
    imports = python_imports(package)
    graph: dict[str, dict[str, list[str]]] = {
        module: {imported: [] for imported in of_module} for module, of_module in imports.items()
    }
    reached = {module: _reached(module, graph) for module in graph}
    return [
        f"{module}:{line} imports {imported}"
        for module, of_module in imports.items()
        for imported, line in of_module.items()
        if module == imported or module in reached[imported]
    ]


def test_python_modules_form_no_import_cycle() -> None:
    assert len(python_imports(ROOT / "python" / "deltaic")) > 50
    assert not python_cycles(ROOT / "python" / "deltaic")


@pytest.mark.parametrize(
    "text",
    [
        "from box.b import x\n",
        "import box.b\n",
        "from box import b\n",
        "from . import b\n",
        "from .b import x\n",
        "def f():\n    from box.b import x\n",
        "if TYPE_CHECKING:\n    from box.b import x\n",
    ],
)
def test_a_python_cycle_is_found_in_every_form_of_import(tmp_path: Path, text: str) -> None:
    package = tmp_path / "box"
    package.mkdir()
    (package / "__init__.py").write_text("from box.a import x\n", encoding="utf-8")
    (package / "a.py").write_text("from box import _rust\n", encoding="utf-8")
    (package / "b.py").write_text("from box.a import x\n", encoding="utf-8")
    assert python_cycles(package) == []
    (package / "a.py").write_text(text, encoding="utf-8")
    places = [found.partition(" imports ") for found in python_cycles(package)]
    assert [(found[0].partition(":")[0], found[2]) for found in places] == [
        ("box.a", "box.b"),
        ("box.b", "box.a"),
    ]
