"""The random suites that `make explore` runs: commands, sizes, and the files that draw their cases."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
SHARE = "TEST_SHARE"
INTEROP = ".envs/interop/bin/python"

Command = tuple[str, ...]


@dataclass(frozen=True)
class Suite:
    """Tests whose cases the seed decides."""

    name: str
    commands: Sequence[Command]
    draws: Sequence[str]
    """The files that draw the cases, relative to the project."""
    sizes: Mapping[str, int] = field(default_factory=dict[str, int])
    """Variables with the number of cases of a seed; `SIZE=10` runs ten times as many."""
    share: int = 1
    """Of so many tests of a parametrized function, a seed runs one; `SIZE=10` divides the number."""
    fixed: Mapping[str, str] = field(default_factory=dict[str, str])
    """Other variables."""
    once: bool = False
    """Whether the cases of all seeds are the same, so that only the first seed runs them."""

    def environment(self, size: int) -> dict[str, str]:
        """Returns the variables of a size."""
        share = {SHARE: str(self.share // size)} if self.share > size else {}
        return {name: str(count * size) for name, count in self.sizes.items()} | share | dict(self.fixed)


def pytest(*arguments: str, python: str = ".venv/bin/python") -> list[Command]:
    """Returns the command of Python tests."""
    return [(python, "-m", "pytest", "-q", "--disable-warnings", "-p", "no:cacheprovider", *arguments)]


def cargo(crate: str, *arguments: str) -> Command:
    """Returns the command of a crate's tests."""
    return ("cargo", "test", "--locked", "-p", f"deltaic-{crate}", *arguments)


def files_with(pattern: str, folder: str, suffix: str) -> list[str]:
    """Returns the files of a folder that have a line with a pattern, relative to the project."""
    paths = sorted((TOP / folder).rglob(f"*{suffix}"))
    found = [path for path in paths if re.search(pattern, path.read_text(encoding="utf-8"), re.MULTILINE)]
    return [path.relative_to(TOP).as_posix() for path in found]


def of_modules(files: Iterable[str]) -> list[Command]:
    """Returns the commands of the tests in some Rust modules: one for each crate and kind of tests."""
    modules: dict[tuple[str, ...], list[str]] = {}
    for file in files:
        _, crate, kind, *path = Path(file).with_suffix("").parts
        target = ["--lib"] if kind == "src" else ["--test", path.pop(0)]
        if path and path[-1] in {"mod", "main", "lib"}:
            path.pop()
        modules.setdefault((crate, *target), []).append("::".join([*path, ""]))
    return [cargo(*target, "--", *names) for target, names in modules.items()]


HYPOTHESIS = files_with(r"^\s*@given\b", "tests", ".py")
PROPTEST = files_with(r"^\s*(proptest::)?proptest!", "rust", ".rs")
TWO = ("-n", "2")

KILLED = [
    "tests/conflicts/test_killed_verbs.py",
    "tests/conflicts/test_killed_maintenance.py",
    "tests/conflicts/test_kill.py",
]

SUITES = [
    Suite(
        "programs",
        pytest(*TWO, "tests/programs/test_programs.py::test_programs"),
        ["tests/programs/plan.py", "tests/programs/program.py"],
        {"PROGRAMS": 60},
    ),
    Suite(
        "frames",
        pytest("tests/spark/test_frame_programs.py::test_programs"),
        ["tests/programs/plan.py"],
        {"PROGRAMS": 60},
    ),
    Suite(
        "merges",
        pytest(*TWO, "tests/programs/merges/test_merges.py::test_merges"),
        ["tests/programs/merges/plan.py"],
        {"MERGES": 30},
    ),
    Suite(
        "interop-programs",
        pytest("tests/interop/test_programs.py", python=INTEROP),
        ["tests/interop/test_programs.py"],
        {"INTEROP_PROGRAMS": 4},
    ),
    Suite(
        "interop-frames",
        pytest("tests/interop/test_frame_writes.py", python=INTEROP),
        ["tests/interop/frame_programs.py", "tests/interop/test_frame_writes.py"],
        {"INTEROP_FRAMES": 4},
    ),
    Suite(
        "interop-merges",
        pytest("tests/interop/test_merges.py", python=INTEROP),
        ["tests/interop/test_merges.py"],
        {"INTEROP_MERGES": 6},
    ),
    Suite(
        "conflict-pairs",
        pytest("tests/interop/test_conflict_pairs.py", python=INTEROP),
        ["tests/interop/pairs.py"],
    ),
    Suite(
        "interop-vacuums",
        pytest("tests/interop/test_vacuum.py", python=INTEROP),
        ["tests/interop/test_vacuum.py"],
        {"INTEROP_VACUUMS": 3},
    ),
    Suite(
        "expressions",
        pytest("tests/spark/expressions/test_expressions.py"),
        ["tests/spark/expressions/values.py"],
        share=8,
    ),
    Suite(
        "predicate-texts",
        pytest("tests/spark/test_predicates.py"),
        ["tests/spark/predicate_texts.py"],
        share=4,
    ),
    Suite(
        "predicates",
        pytest(*TWO, "tests/golden/test_predicates.py", "tests/spark/test_native_filters.py"),
        ["tests/golden/generated_predicates.py"],
        share=8,
    ),
    Suite("streams", pytest("tests/spark/test_stream_offsets.py"), ["tests/spark/test_stream_offsets.py"]),
    Suite(
        "feeds",
        pytest(*TWO, "tests/api/test_feeds_of_transactions.py"),
        ["tests/api/test_feeds_of_transactions.py"],
        share=2,
    ),
    Suite(
        "histories",
        pytest(*TWO, "tests/api/test_vacuum_histories.py", "tests/api/test_restored_histories.py"),
        ["tests/api/test_vacuum_histories.py", "tests/api/test_restored_histories.py"],
        {"VACUUM_HISTORIES": 15},
    ),
    Suite(
        "layouts",
        pytest(
            *TWO,
            "tests/api/test_optimize_clustering.py",
            "tests/api/test_optimize_zorder.py",
            "tests/api/test_advise_columns.py",
            "tests/api/test_memory.py",
            "tests/api/test_merge_memory.py",
        ),
        [
            "tests/api/test_optimize_clustering.py",
            "tests/api/test_optimize_zorder.py",
            "tests/api/test_advise_columns.py",
            "tests/api/test_memory.py",
            "tests/api/test_merge_memory.py",
        ],
    ),
    Suite(
        "killed-verbs",
        pytest(*KILLED),
        KILLED,
        share=3,
    ),
    Suite(
        "row-changes",
        pytest("tests/conflicts/test_many_row_changes.py"),
        ["tests/conflicts/row_changer.py"],
        {"RACE_ROW_CHANGES": 12},
    ),
    Suite(
        "restores",
        pytest("tests/conflicts/test_restore_beside_writers.py"),
        ["tests/conflicts/test_restore_beside_writers.py"],
        {"RACE_RESTORES": 15},
    ),
    Suite("hypothesis", pytest(*TWO, *HYPOTHESIS), HYPOTHESIS),
    Suite("proptest", of_modules(PROPTEST), PROPTEST),
    Suite(
        "skipping",
        [cargo("protocol", "--lib", "skipping::tests::never_lost")],
        ["rust/protocol/src/skipping/tests/never_lost.rs"],
        {"PROPTEST_CASES": 2000},
    ),
    Suite(
        "state-machine",
        [cargo("log", "--test", "it", "state_machine::a_table_in_memory")],
        ["rust/log/tests/it/state_machine/mod.rs"],
        {"MACHINE_STEPS": 10_000},
    ),
    Suite(
        "state-machine-on-disk",
        [cargo("log", "--test", "it", "state_machine::a_table_on_disk")],
        ["rust/log/tests/it/state_machine/mod.rs"],
        {"MACHINE_STEPS": 300},
    ),
    Suite(
        "lost-acknowledgements",
        [cargo("log", "--test", "it", "commit_faults::lost_acknowledgements")],
        ["rust/log/tests/it/commit_faults/lost_acknowledgements.rs"],
    ),
    Suite(
        "untrusted",
        [
            cargo("testkit", "--test", "it", "untrusted"),
            cargo("table", "--test", "it", "arrow_input"),
            cargo("table", "--test", "untrusted_files"),
        ],
        [
            "rust/testkit/tests/it/untrusted.rs",
            "rust/table/tests/it/arrow_input/mod.rs",
            "rust/table/tests/untrusted_files.rs",
        ],
        {"FUZZ_EXECUTIONS": 3000},
    ),
    Suite(
        "model",
        [cargo("log", "--lib", "transaction::model")],
        [],
        fixed={"MODEL": "all"},
        once=True,
    ),
]
"""All suites. A seed takes at most ten minutes on two cores, without those that run once."""
