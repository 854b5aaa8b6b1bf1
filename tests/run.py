"""Runs the parts of the tests one after the other and sums them up in one line at the end.

`python tests/run.py` runs what `make test` is, `python tests/run.py rust spark41` only those two. A part that
cannot run here (no Java, no Maven) is skipped with its reason; a part that breaks off counts as failed.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from border.planted import found_in

TOP = Path(__file__).resolve().parent.parent
REPORTS = TOP / "target" / "test-reports"
VENV = TOP / ".venv" / "bin"
# A Rust test that cannot run here prints this and passes.
RUST_SKIP = re.compile(r"^skipped: (.+)")
CARGO_RESULT = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;")


@dataclass
class Outcome:
    """What a part, or a step of it, came to."""

    passed: int = 0
    failed: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

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
        return self


@dataclass(frozen=True)
class Part:
    """What can be run by its name."""

    title: str
    run: Callable[[], Outcome]
    only_when_named: bool = False


def echo(command: list[str], environment: dict[str, str] | None = None) -> tuple[int, list[str]]:
    """Run a command in the project's folder, show what it says as it says it, return its code and lines."""
    lines: list[str] = []
    with subprocess.Popen(
        command,
        cwd=TOP,
        env={**os.environ, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()
            lines.append(line.rstrip("\n"))
    return process.returncode, lines


def cargo_test() -> Outcome:
    """The Rust tests, in the build folder that the extension's dependencies were built in."""
    # The laws of hostile bytes start from tables that others wrote, where these are at hand.
    echo([sys.executable, "fuzz/collect_seeds.py", "../shared", "fuzz/golden"])
    command = ["cargo", "test", "--workspace", "--exclude", "deltaic-python", "--locked", "--no-fail-fast"]
    # What passing tests print is shown too, and so it is looked into.
    command += ["--", "--show-output"]
    code, lines = echo(command)
    outcome = Outcome()
    for line in lines:
        if match := CARGO_RESULT.match(line):
            passed, failed, ignored = map(int, match.groups())
            outcome += Outcome(passed, failed, Counter({"#[ignore] in Rust": ignored} if ignored else {}))
        elif match := RUST_SKIP.match(line):
            outcome += Outcome(passed=-1, reasons=Counter({match[1]: 1}))
    outcome = broken_off(outcome, code)
    outcome += told_secrets(lines)
    return outcome


def told_secrets(lines: list[str]) -> Outcome:
    """The Rust tests plant secrets as the Python tests do: to print one is a failure, whatever passed."""
    found = dict.fromkeys(what for line in lines for what in found_in(line))
    for what in found:
        print(f"(a secret was told: {what} stands in what the Rust tests printed)")
    return Outcome(failed=len(found))


def pytest(name: str, python: Path, *paths: str) -> Outcome:
    """Pytest with the given interpreter; the counts and the reasons come from its own report."""
    report = REPORTS / f"{name}.xml"
    report.unlink(missing_ok=True)
    code, _ = echo([str(python), "-m", "pytest", *paths, "-q", f"--junitxml={report}"])
    outcome = Outcome()
    if report.exists():
        for case in ET.parse(report).iter("testcase"):  # noqa: S314 (our own file, written a moment ago)
            if case.find("failure") is not None or case.find("error") is not None:
                outcome.failed += 1
            elif (skip := case.find("skipped")) is not None:
                expected = "expected to fail: " if skip.get("type") == "pytest.xfail" else ""
                outcome.reasons[expected + (skip.get("message") or "no reason given")] += 1
            else:
                outcome.passed += 1
    return broken_off(outcome, code)


def broken_off(outcome: Outcome, code: int) -> Outcome:
    """A command that failed without a failing test did not get to the tests: that is a failure too."""
    if code != 0 and outcome.failed == 0:
        print(f"(it ended with code {code} before all tests had run: counted as one failure)")
        outcome.failed += 1
    return outcome


def in_environment(name: str, *paths: str) -> Outcome:
    """Pytest in `.envs/NAME`, which `envs/make_env.sh` makes; skipped as a whole without Java."""
    if not passes("envs/find_java.sh"):
        return Outcome(reasons=Counter({f"{name}: Java 17 or newer is not here": 1}))
    code, _ = echo(["envs/make_env.sh", name])
    if code != 0:
        return broken_off(Outcome(), code)
    return pytest(name, TOP / ".envs" / name / "bin" / "python", *paths)


def spark(version: str, *, only_in_matrix: bool = False) -> dict[str, Part]:
    """The Spark tests with the newest Spark of a line such as 4.0, by the part's name."""
    name = "spark" + version.replace(".", "")
    title = f"the Spark tests with Spark {version}"
    return {name: Part(title, lambda: in_environment(name, "tests/spark"), only_when_named=only_in_matrix)}


def stores() -> Outcome:
    """The tests on stores that answer over a network: `.envs/stores` has the servers, `.venv` the tests."""
    code, _ = echo(["envs/make_env.sh", "stores"])
    if code != 0 and os.environ.get("CI"):
        return broken_off(Outcome(), code)
    # Without the servers what needs them skips, with a reason.
    return pytest("stores", VENV / "python", "tests/stores")


def lints() -> Outcome:
    """Formatting, lints and types, a step each."""
    # With the feature that development builds have, so that its code is read too.
    everything = [
        "--workspace",
        "--all-targets",
        "--features",
        "deltaic-python/witness,deltaic-python/provoke",
    ]
    # A workspace of its own, which must build at any time and not only where somebody fuzzes.
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
        print("$", Path(step[0]).name, *step[1:], flush=True)
        code, _ = echo(step, as_maturin_builds() if step[0] == "cargo" else None)
        outcome += Outcome(passed=1) if code == 0 else Outcome(failed=1)
    return outcome


def as_maturin_builds() -> dict[str, str]:
    """What maturin tells PyO3's build script. Told otherwise, the two would rebuild PyO3 by turns."""
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


def passes(command: str) -> bool:
    """Does a quiet command of the project succeed?"""
    return subprocess.run([str(TOP / command)], cwd=TOP, capture_output=True, check=False).returncode == 0


PARTS: dict[str, Part] = {
    "lints": Part("formatting, lints and types", lints),
    "rust": Part("the Rust crates", cargo_test),
    "python": Part(
        "the Python package, with Spark 4.3",
        lambda: pytest("python", VENV / "python", "tests", "--ignore=tests/stores"),
    ),
    "stores": Part("S3, Azure and Google, on stores of the tests' own", stores),
    **spark("4.0"),
    **spark("4.1", only_in_matrix=True),
    **spark("4.2", only_in_matrix=True),
    # `python` has these tests too; by themselves they stand beside the other Sparks.
    "spark43": Part(
        "the Spark tests with Spark 4.3",
        lambda: pytest("spark43", VENV / "python", "tests/spark"),
        only_when_named=True,
    ),
    "interop": Part(
        "delta-spark reads what deltaic wrote", lambda: in_environment("interop", "tests/interop")
    ),
}


def chosen(names: list[str]) -> Iterator[str]:
    """The parts named; without names all, but the lints only where CI=true asks for everything."""
    for name, part in PARTS.items():
        unasked = part.only_when_named or (name == "lints" and not os.environ.get("CI"))
        if name in names or (not names and not unasked):
            yield name


def summary(outcomes: dict[str, Outcome]) -> Outcome:
    """Print a line for each part and the reasons of what was skipped; return the sum."""
    total = Outcome()
    print(headline("Summary"))
    print(f"{'part':<10}{'passed':>8}{'failed':>8}{'skipped':>9}{'time':>9}")
    for name, outcome in outcomes.items():
        counts = f"{outcome.passed:>8}{outcome.failed:>8}{outcome.skipped:>9}"
        print(f"{name:<10}{counts}{outcome.seconds:>7.0f} s")
        total += outcome
    if total.reasons:
        print("\nskipped, and why:")
        for reason, count in total.reasons.most_common():
            print(f"{count:>5}  {reason}")
    print(f"\n{total.passed} passed, {total.failed} failed, {total.skipped} skipped")
    return total


def headline(text: str) -> str:
    """A line that is found again in a long log."""
    return f"\n━━━ {text} " + "━" * max(3, 90 - len(text))


def main() -> int:
    """Run what was asked for; 0 when nothing failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(PARTS))
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - PARTS.keys():
        parser.error(f"there is no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    REPORTS.mkdir(parents=True, exist_ok=True)
    outcomes: dict[str, Outcome] = {}
    for name in chosen(arguments.parts):
        part = PARTS[name]
        print(headline(f"{name}: {part.title}"), flush=True)
        began = time.monotonic()
        outcomes[name] = part.run()
        outcomes[name].seconds = time.monotonic() - began
    return 1 if summary(outcomes).failed else 0


if __name__ == "__main__":
    sys.exit(main())
