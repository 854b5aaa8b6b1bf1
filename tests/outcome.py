"""What the parts of a run counted, and the summary at its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from commands import show
from evidence.reports import FAILED, PASSED, Result

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


def with_exit_code(outcome: Outcome, code: int) -> Outcome:
    """Add a failure if a command failed without a failed test: it ended before all tests had run."""
    if code != 0 and outcome.failed == 0:
        show(f"(exit code {code} without a failed test: counted as one failure)")
        outcome.failed += 1
    return outcome


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
