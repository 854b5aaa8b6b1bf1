"""Runs the parts of the tests and prints a summary at the end.

`python tests/run.py` runs what `make test` runs, `python tests/run.py rust spark41` only these two parts.
Every run of the same files has the same cases: variables that select others are removed.
Environments are made beside the build of the extension; then parts that build Rust code run beside the
others, in two lanes. Without Java or Maven a part is skipped with its reason, in CI it fails. A part that
ends before all its tests ran fails. Results are recorded in `target/test-reports`, where `make requirements`
reads them.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from boundary.planted import found_in
from commands import TOP, run_command, show, succeeds
from evidence.cargo_output import CargoOutput
from evidence.reports import read_report, write_report
from lanes import Environments, Part, run_part, run_parts
from outcome import Outcome, outcome_of, summary, with_exit_code
from seed import VARIABLE, export_seed
from spark.smoke import FILES as SMOKE

REPORTS = TOP / "target" / "test-reports"
VENV = TOP / ".venv" / "bin"
# Tests of features that only development builds have expect to skip.
RELEASE_WHEEL = "DELTAIC_RELEASE_WHEEL"
# Of so many tests of reference tables, one runs; the seed decides which. The parts that have all of them are
# `python` and `spark43`.
GOLDEN_SHARE = "GOLDEN_SHARE"
SHARE = "4"
# What selects other cases, or more of them: `make explore` sets these variables, a run removes them.
SELECTING = {VARIABLE, GOLDEN_SHARE, "PROGRAM", "PROGRAMS", "MERGE", "MERGES", "MODEL", "PAIRS", "STEPS"}
SELECTING |= {"TABLES", "FUZZ_EXECUTIONS", "RUST_TEST_THREADS"}
SELECTING_PREFIXES = (
    "TEST_",
    "RACE_",
    "MACHINE_",
    "PROPTEST_",
    "HYPOTHESIS_",
    "PYTEST_",
    "INTEROP_",
    "VACUUM_",
)
# What an installed wheel must be able to do: import, commands, rows of other writers, an append, a merge.
WHEEL_TESTS = [f"tests/api/test_{name}.py" for name in ("import", "cli", "append", "merge")]
WHEEL_TESTS += ["tests/golden/test_golden.py"]

environments = Environments()


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
    if code == 0:
        # For the next checkout on this machine; without it, that one compiles the crates again.
        run_command(["envs/crates.sh", "save"])
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
    code, _ = run_command([*command, "--durations=15"], environment, folder=folder)
    outcome = outcome_of(read_report(report)) if report.exists() else Outcome()
    return with_exit_code(outcome, code)


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
    code = environments.code(name)
    if code != 0:
        return with_exit_code(Outcome(), code)
    return pytest(name, TOP / ".envs" / name / "bin" / "python", *paths, environment=environment)


def spark(version: str) -> dict[str, Part]:
    """The Spark tests with the newest Spark of a line such as 4.0, by the part's name."""
    name = "spark" + version.replace(".", "")
    title = f"the Spark tests with Spark {version}"
    run = partial(in_environment, name, "tests/spark")
    return {name: Part(title, run, only_when_named=True, environment=name)}


def stores() -> Outcome:
    """The tests of network stores: `.envs/stores` has the servers, `.venv` the tests."""
    code = environments.code("stores")
    if code != 0 and os.environ.get("CI"):
        return with_exit_code(Outcome(), code)
    # Without a server, the tests that need it skip with a reason.
    return pytest("stores", VENV / "python", "tests/stores")


def release_wheel() -> Outcome:
    """What the release wheel must be able to do, installed where the source tree cannot be imported."""
    code, _ = run_command(["make", "wheel"])
    return installed("wheel", TOP / "dist", *WHEEL_TESTS) if code == 0 else with_exit_code(Outcome(), code)


def development_wheel() -> Outcome:
    """The wheel of the extension that the other parts test: its content can be imported elsewhere."""
    with tempfile.TemporaryDirectory(prefix="deltaic-dist-") as name:
        code, _ = run_command(["envs/build_extension.sh", name])
        if code != 0:
            return with_exit_code(Outcome(), code)
        return installed("package", Path(name), "tests/api/test_import.py")


def installed(part: str, dist: Path, *paths: str) -> Outcome:
    """Pytest with the wheel of a folder, installed outside of the source tree."""
    with tempfile.TemporaryDirectory(prefix="deltaic-wheel-") as name:
        code, _ = run_command(["envs/install_wheel.sh", name, str(dist)])
        if code != 0:
            return with_exit_code(Outcome(), code)
        folder = Path(name)
        python = folder / "venv" / "bin" / "python"
        environment = {RELEASE_WHEEL: "1"}
        return pytest(part, python, *paths, folder=folder / "project", environment=environment)


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


def build_extension() -> Outcome:
    """The extension of the development profile, which every part but the Rust tests imports."""
    code, _ = run_command(["envs/build_extension.sh"])
    return Outcome(passed=1) if code == 0 else Outcome(failed=1)


EXTENSION = Part("the extension, in the development profile", build_extension)
PARTS: dict[str, Part] = {
    "lints": Part("formatting, lints and types", lints, only_in_ci=True, builds=True, imports=False),
    "rust": Part("the Rust crates", cargo_test, builds=True, imports=False),
    "package": Part("the wheel of the development build", development_wheel, only_in_ci=True, builds=True),
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
        "delta-spark reads what deltaic wrote",
        lambda: in_environment("interop", "tests/interop"),
        environment="interop",
    ),
    "smoke40": Part(
        "a part of the Spark tests with Spark 4.0",
        lambda: in_environment("spark40", *SMOKE, environment={GOLDEN_SHARE: SHARE}),
        environment="spark40",
    ),
    "stores": Part("S3, Azure and Google, on emulated stores", stores, environment="stores"),
    **spark("4.0"),
    **spark("4.1"),
    **spark("4.2"),
    "wheel": Part("the release wheel", release_wheel, only_when_named=True, builds=True, imports=False),
}


def selected(names: list[str]) -> Iterator[str]:
    """The named parts; without names those of a whole run, which has more parts in CI."""
    for name, part in PARTS.items():
        unasked = part.only_when_named or (part.only_in_ci and not os.environ.get("CI"))
        if name in names or (not names and not unasked):
            yield name


def remove_selecting_variables() -> None:
    """Remove what would select other cases than every other run of these files has."""
    for name in sorted(os.environ):
        if name in SELECTING or name.startswith(SELECTING_PREFIXES):
            show(f"{name} is ignored: `make explore` searches other cases")
            del os.environ[name]


def main() -> int:
    """Run the selected parts; 0 if nothing failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(PARTS))
    parser.add_argument("--all-tables", action="store_true", help="read every reference table in every way")
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - PARTS.keys():
        parser.error(f"there is no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    REPORTS.mkdir(parents=True, exist_ok=True)
    if not arguments.parts:
        # The reports of a whole run are of this run only.
        for report in REPORTS.glob("*.xml"):
            report.unlink()
    remove_selecting_variables()
    if arguments.all_tables:
        os.environ[GOLDEN_SHARE] = "1"
    print(f"{VARIABLE}={export_seed()}", flush=True)
    parts = {name: PARTS[name] for name in selected(arguments.parts)}
    environments.begin(part.environment for part in parts.values() if part.environment)
    outcomes: dict[str, Outcome] = {}
    if any(part.imports for part in parts.values()):
        outcomes["extension"] = run_part("extension", EXTENSION)
    if not any(outcome.failed for outcome in outcomes.values()):
        outcomes |= run_parts(parts)
    return 1 if summary(outcomes).failed else 0


if __name__ == "__main__":
    sys.exit(main())
