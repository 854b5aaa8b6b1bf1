"""No Rust module imports a module that imports it, directly or through others.

Modules are compared with the modules beside them: a folder counts as one module with all its contents, and
what a module uses of its parent is not compared.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from tests.repository.rust_imports import Module, imports_of

ROOT = Path(__file__).parents[2]
# Cycles that are not resolved yet. None may be added, and none may gain a module.
KNOWN = {
    "log": [
        "crate: decode, reconcile",
        "crate: history, snapshot",
        "crate: location, store_error",
        "crate::check: diagnosis, finding",
        "crate::cleanup: plan, waves",
        "crate::decode: checkpoint, commits, file_batch, large_file",
        "crate::location: connect, sent",
        "crate::snapshot: assemble, load",
        "crate::snapshot: files, prune",
        "crate::transaction: attempts, commit",
        "crate::transaction: conflict, rebase, row_level",
        "crate::transaction: create, replace",
    ],
    "protocol": [
        "crate: actions, column_mapping, deletion_vector, expr, partition, schema",
        "crate: change, clustering, constraints, features, iceberg_compat, in_commit_timestamp, properties, "
        "row_tracking",
        "crate: error, version",
        "crate::checksum: commit, tally, whole",
        "crate::deletion_vector: descriptor, place",
        "crate::expr: arithmetic, decimals",
        "crate::expr: convert, texts",
        "crate::expr: moments, zones",
        "crate::properties: set, values",
        "crate::statistics: builder, columns, one_pass, text",
    ],
    "table": [
        "crate: read, scan",
        "crate: transaction, write",
        "crate::read: conform, find",
        "crate::read: guard, queue, stream",
        "crate::read: open, page_wise, pages, piece",
    ],
    "testkit": [
        "crate: action_parquet, checkpoint_writer",
        "crate: compaction_writer, table_builder, upkeep",
    ],
}
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


def _is_known(cycle: str, crate: str) -> bool:
    folder, modules = _parts(cycle.splitlines()[0])
    known = [_parts(one) for one in KNOWN.get(crate, [])]
    return any(folder == other and modules <= others for other, others in known)


def _parts(cycle: str) -> tuple[str, set[str]]:
    folder, _, modules = cycle.partition(": ")
    return folder, set(modules.split(", "))


@pytest.mark.parametrize("crate", CRATES)
def test_rust_modules_form_no_new_import_cycle(crate: str) -> None:
    found = cycles(imports_of(ROOT / "rust" / crate / "src"))
    new = [cycle for cycle in found if not _is_known(cycle, crate)]
    assert not new, "\n".join(new)


def test_a_known_cycle_may_not_gain_a_module() -> None:
    assert _is_known("crate: decode, reconcile\n    decode imports reconcile: decode/mod.rs:1", "log")
    assert not _is_known("crate: decode, reconcile, segment", "log")
    assert not _is_known("crate: decode, reconcile", "table")


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
