"""Runs the parts of the tests and prints a summary at the end.

`python tests/run.py` runs what `make test` runs, `python tests/run.py rust spark41` only these two parts.
Parts that build Rust code run beside the others, in two lanes.
Without Java or Maven a part is skipped with its reason, in CI it fails. A part that ends before all its tests
ran fails. Results are recorded in `target/test-reports`, where `make requirements` reads them.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from boundary.planted import found_in
from commands import TOP, output_held, run_command, show, succeeds
from evidence.cargo_output import CargoOutput
from evidence.reports import FAILED, PASSED, Result, read_report, write_report
from seed import VARIABLE, export_seed

REPORTS = TOP / "target" / "test-reports"
VENV = TOP / ".venv" / "bin"
# Tests of features that only development builds have expect to skip.
RELEASE_WHEEL = "DELTAIC_RELEASE_WHEEL"
# Of so many tests of reference tables, one runs; the seed decides which. The parts that have all of them are
# `python` and `spark43`.
GOLDEN_SHARE = "GOLDEN_SHARE"
SHARE = "4"
# Of what a failed test printed, the summary repeats so many lines.
MOST_LINES = 30


@dataclass
class Outcome:
    """The result of a part, or of a step of it."""

    passed: int = 0
    failed: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    # The failed tests: their names and what they printed.
    failures: list[tuple[str, str]] = field(default_factory=list)

    @property
    def skipped(self) -> int:
        """How many tests did not run, for whatever reason."""
        return self.reasons.total()

    def __iadd__(self, other: Outcome) -> Outcome:
        """Add another outcome's counts and time to these."""
        self.passed += other.passed
        self.failed += other.failed
        self.reasons += other.reasons
        self.seconds += other.seconds
        self.failures += other.failures
        return self


@dataclass(frozen=True)
class Part:
    """A part of the tests, which can be run by its name."""

    title: str
    run: Callable[[], Outcome]
    only_when_named: bool = False
    only_in_ci: bool = False
    # Parts that build Rust code share build folders, and a build uses all cores: one runs after the other.
    builds: bool = False


def cargo_test() -> Outcome:
    """The Rust tests, in the build folder that the extension's dependencies were built in."""
    # The tests of untrusted input start from tables that others wrote, if these are available.
    run_command([sys.executable, "fuzz/collect_seeds.py", "../shared", "fuzz/golden"])
    report = REPORTS / "rust.xml"
    report.unlink(missing_ok=True)
    command = ["cargo", "test", "--workspace", "--exclude", "deltaic-python", "--locked", "--no-fail-fast"]
    # The messages name the source of each test binary; `--show-output` shows what passing tests print.
    command += ["--message-format=json-render-diagnostics", "--", "--show-output"]
    output = CargoOutput(TOP)
    # Tests of damaged files provoke hundreds of panics in libraries and catch them.
    code, lines = run_command(command, {"RUST_BACKTRACE": "0"}, shows=output.read)
    write_report(report, output.results)
    outcome = with_exit_code(outcome_of(output.results), code)
    outcome += printed_secrets(lines)
    return outcome


def outcome_of(results: Iterable[Result]) -> Outcome:
    """Count results."""
    outcome = Outcome()
    for result in results:
        if result.outcome == FAILED:
            outcome.failed += 1
            outcome.failures.append((f"{result.group}::{result.name}", result.reason))
        elif result.outcome == PASSED:
            outcome.passed += 1
        else:
            outcome.reasons[result.reason] += 1
    return outcome


def printed_secrets(lines: list[str]) -> Outcome:
    """A failure for each planted secret that the Rust tests printed, even if all of them passed."""
    found = dict.fromkeys(what for line in lines for what in found_in(line))
    for what in found:
        show(f"(secret leaked: the Rust tests printed {what})")
    return Outcome(failed=len(found))


def pytest(
    name: str,
    python: Path,
    *arguments: str,
    folder: Path = TOP,
    environment: dict[str, str] | None = None,
) -> Outcome:
    """Pytest with the given interpreter; counts and reasons come from its report."""
    report = REPORTS / f"{name}.xml"
    report.unlink(missing_ok=True)
    command = [str(python), "-m", "pytest", *arguments, "-q", "--disable-warnings", f"--junitxml={report}"]
    code, _ = run_command(command, environment, folder=folder)
    outcome = outcome_of(read_report(report)) if report.exists() else Outcome()
    return with_exit_code(outcome, code)


def with_exit_code(outcome: Outcome, code: int) -> Outcome:
    """Add a failure if a command failed without a failed test: it ended before all tests had run."""
    if code != 0 and outcome.failed == 0:
        show(f"(exit code {code} without a failed test: counted as one failure)")
        outcome.failed += 1
    return outcome


def without(reason: str) -> Outcome:
    """The outcome of a part that cannot run on this machine: skipped, in CI failed."""
    if os.environ.get("CI"):
        show(f"(CI requires it: {reason})")
        return Outcome(failed=1)
    return Outcome(reasons=Counter({reason: 1}))


def in_environment(name: str, *paths: str, environment: dict[str, str] | None = None) -> Outcome:
    """Pytest in `.envs/NAME`, which `envs/make_env.sh` makes; skipped as a whole without Java."""
    if not succeeds("envs/find_java.sh"):
        return without(f"{name}: missing: Java 17 or newer")
    code, _ = run_command(["envs/make_env.sh", name])
    if code != 0:
        return with_exit_code(Outcome(), code)
    return pytest(name, TOP / ".envs" / name / "bin" / "python", *paths, environment=environment)


def spark(version: str, *, only_in_matrix: bool = False) -> dict[str, Part]:
    """The Spark tests with the newest Spark of a line such as 4.0, by the part's name.

    A whole run reads a quarter of the reference tables with it.
    """
    name = "spark" + version.replace(".", "")
    title = f"the Spark tests with Spark {version}"
    environment = {GOLDEN_SHARE: os.environ.get(GOLDEN_SHARE, SHARE)}
    return {
        name: Part(
            title,
            lambda: in_environment(name, "tests/spark", environment=environment),
            only_when_named=only_in_matrix,
        )
    }


def stores() -> Outcome:
    """The tests of network stores: `.envs/stores` has the servers, `.venv` the tests."""
    code, _ = run_command(["envs/make_env.sh", "stores"])
    if code != 0 and os.environ.get("CI"):
        return with_exit_code(Outcome(), code)
    # Without a server, the tests that need it skip with a reason.
    return pytest("stores", VENV / "python", "tests/stores")


def wheel() -> Outcome:
    """The API and golden tests with the release wheel, installed where the source tree cannot be imported.

    It reads a quarter of the reference tables.
    """
    with tempfile.TemporaryDirectory(prefix="deltaic-wheel-") as name:
        for command in (["make", "wheel"], ["envs/install_wheel.sh", name]):
            code, _ = run_command(command)
            if code != 0:
                return with_exit_code(Outcome(), code)
        folder = Path(name)
        return pytest(
            "wheel",
            folder / "venv" / "bin" / "python",
            "tests/api",
            "tests/golden",
            folder=folder / "project",
            environment={RELEASE_WHEEL: "1", GOLDEN_SHARE: os.environ.get(GOLDEN_SHARE, SHARE)},
        )


def lints() -> Outcome:
    """Formatting, lints and types, a step each."""
    # With the features of development builds, so that their code is checked too.
    everything = [
        "--workspace",
        "--all-targets",
        "--features",
        "deltaic-python/witness,deltaic-python/provoke",
    ]
    # A workspace of its own, which must always build.
    fuzz_targets = ["--manifest-path", "fuzz/Cargo.toml", "--no-default-features"]
    steps = [
        ["cargo", "fmt", "--all", "--check"],
        ["cargo", "clippy", *everything, "--locked", "--", "-D", "warnings"],
        ["cargo", "check", *fuzz_targets, "--locked"],
        [str(VENV / "ruff"), "check", "."],
        [str(VENV / "ruff"), "format", "--check", "."],
        [str(VENV / "pyright")],
    ]
    outcome = Outcome()
    for step in steps:
        show(" ".join(["$", Path(step[0]).name, *step[1:]]))
        code, _ = run_command(step, as_maturin_builds() if step[0] == "cargo" else None)
        outcome += Outcome(passed=1) if code == 0 else Outcome(failed=1)
    return outcome


def as_maturin_builds() -> dict[str, str]:
    """The environment that maturin sets for PyO3's build script: with another, each would rebuild PyO3."""
    major, minor, *_ = sys.version_info
    environment = {
        # The fuzz targets' workspace uses this one's dependencies.
        "CARGO_TARGET_DIR": os.environ.get("CARGO_TARGET_DIR", str(TOP / "target")),
        "PYO3_BUILD_EXTENSION_MODULE": "1",
        "PYO3_ENVIRONMENT_SIGNATURE": f"cpython-{major}.{minor}-64bit",
        "PYO3_PYTHON": str(VENV / "python"),
        "PYTHON_SYS_EXECUTABLE": str(VENV / "python"),
    }
    for config in (TOP / "target" / "maturin").glob(f"pyo3-config-*-{major}.{minor}-abi3.txt"):
        environment["PYO3_CONFIG_FILE"] = str(config)
    return environment


PARTS: dict[str, Part] = {
    "lints": Part("formatting, lints and types", lints, only_in_ci=True, builds=True),
    "rust": Part("the Rust crates", cargo_test, builds=True),
    # The longest of these parts are first, so that no lane ends long before the other.
    "python": Part(
        "the Python package without Spark",
        lambda: pytest("python", VENV / "python", "tests", "--ignore=tests/stores", "--ignore=tests/spark"),
    ),
    "spark43": Part(
        "the Spark tests with Spark 4.3",
        lambda: pytest("spark43", VENV / "python", "tests/spark"),
    ),
    "interop": Part(
        "delta-spark reads what deltaic wrote", lambda: in_environment("interop", "tests/interop")
    ),
    **spark("4.0"),
    **spark("4.1", only_in_matrix=True),
    **spark("4.2", only_in_matrix=True),
    "stores": Part("S3, Azure and Google, on emulated stores", stores),
    "wheel": Part(
        "the API and golden tests with the release wheel", wheel, only_when_named=True, builds=True
    ),
}


def selected(names: list[str]) -> Iterator[str]:
    """The named parts; without names those of a whole run, which has more parts in CI."""
    for name, part in PARTS.items():
        unasked = part.only_when_named or (part.only_in_ci and not os.environ.get("CI"))
        if name in names or (not names and not unasked):
            yield name


def summary(outcomes: dict[str, Outcome]) -> Outcome:
    """Print a line for each part, the reasons of skipped tests and the failed tests; return the sum."""
    total = Outcome()
    print(headline("Summary"))
    print(f"{'part':<10}{'passed':>8}{'failed':>8}{'skipped':>9}{'time':>9}")
    for name, outcome in outcomes.items():
        counts = f"{outcome.passed:>8}{outcome.failed:>8}{outcome.skipped:>9}"
        print(f"{name:<10}{counts}{outcome.seconds:>7.0f} s")
        total += outcome
    if total.reasons:
        print("\nskipped:")
        for reason, count in total.reasons.most_common():
            print(f"{count:>5}  {reason}")
    for name, printed in total.failures:
        lines = printed.splitlines()
        print("\n".join([f"\nfailed: {name}", *(f"    {line}" for line in lines[-MOST_LINES:])]))
    print(f"\n{total.passed} passed, {total.failed} failed, {total.skipped} skipped")
    return total


def headline(text: str) -> str:
    """A line that is easy to find in a long log."""
    return f"\n━━━ {text} " + "━" * max(3, 90 - len(text))


def run_parts(names: list[str]) -> dict[str, Outcome]:
    """Run parts in two lanes; the outcomes are in the order of the names.

    The parts that build Rust code run one after the other, and the first of the others beside them. Each lane
    then takes the next part that is left.
    """
    building = deque(name for name in names if PARTS[name].builds)
    others = deque(name for name in names if not PARTS[name].builds)
    outcomes: dict[str, Outcome] = {}

    def run_all(lane: deque[str], *, is_shown_live: bool) -> None:
        while name := next_of(lane) or next_of(others):
            with nullcontext() if is_shown_live else output_held():
                show(headline(f"{name}: {PARTS[name].title}"))
                began = time.monotonic()
                outcome = PARTS[name].run()
                outcome.seconds = time.monotonic() - began
                outcomes[name] = outcome

    first = deque([others.popleft()]) if building and others else deque[str]()
    with ThreadPoolExecutor(1) as beside:
        running = beside.submit(run_all, building, is_shown_live=not first) if building else None
        run_all(first, is_shown_live=True)
        if running:
            running.result()
    return {name: outcomes[name] for name in names}


def next_of(names: deque[str]) -> str | None:
    """Take the first name, if there is one."""
    try:
        return names.popleft()
    except IndexError:
        return None


def main() -> int:
    """Run the selected parts; 0 if nothing failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(PARTS))
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - PARTS.keys():
        parser.error(f"there is no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    REPORTS.mkdir(parents=True, exist_ok=True)
    if not arguments.parts:
        # The reports of a whole run are of this run only.
        for report in REPORTS.glob("*.xml"):
            report.unlink()
    seed = export_seed()
    print(f"{VARIABLE}={seed}", flush=True)
    outcomes = run_parts(list(selected(arguments.parts)))
    failed = summary(outcomes).failed
    print(f"to repeat: {VARIABLE}={seed}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
