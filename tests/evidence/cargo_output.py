"""Parses the output of `cargo test --message-format=json-render-diagnostics -- --show-output`."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath

from .reports import FAILED, PASSED, SKIPPED, Result

RUNNING = re.compile(r"^\s+Running .*\(([^()]+)\)$")
DOC_TESTS = re.compile(r"^\s+Doc-tests (\S+)$")
TEST = re.compile(r"^test (.+?)(?: - should panic)? \.\.\. ?(.*)$")
# `test rust/log/src/x.rs - x::f (line 8) ... ok`
DOC_TEST = re.compile(r"^(\S+\.rs) - (.+)$")
OUTCOME = re.compile(r"^(ok|FAILED|ignored)\b(?:, (.*))?$")
OUTPUT_OF = re.compile(r"^---- (.+) stdout ----$")
# The two lists of a binary: what the passing tests printed and what the failed tests printed.
PASSING, FAILING = "successes:", "failures:"
# A Rust test that cannot run on this machine prints this and passes.
SKIP = re.compile(r"^skipped: (.+)")


@dataclass
class CargoOutput:
    """Parses the output line by line; `results` are complete after the last line."""

    top: Path
    by_name: dict[tuple[str, str], Result] = field(default_factory=dict)
    _roots: dict[str, str] = field(default_factory=dict)
    _root: str = ""
    # A test whose result is on a later line, because it printed something in between.
    _unfinished: str | None = None
    _printing: str | None = None
    _section: str = ""
    _printed: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    @property
    def results(self) -> list[Result]:
        """Returns the result of every test, in the order in which they ended."""
        return [
            replace(result, reason="\n".join(self._printed.get(key, ())).strip())
            if result.outcome == FAILED
            else result
            for key, result in self.by_name.items()
        ]

    def read(self, line: str) -> bool:
        """Parses one line. Returns False for a message for programs and for what a passing test printed."""
        if line.startswith('{"reason":'):
            message = json.loads(line)
            if message["reason"] == "compiler-artifact" and message.get("executable"):
                self._add_binary(message["executable"], Path(message["target"]["src_path"]))
            return False
        if line in {PASSING, FAILING}:
            self._section, self._printing = line, None
        elif line.startswith("test result: "):
            self._section, self._printing = "", None
        self._parse(line)
        return self._section != PASSING

    def _parse(self, line: str) -> None:
        if match := RUNNING.match(line):
            name = PurePath(match[1]).name
            self._root, self._printing = self._roots.get(name, name), None
        elif match := DOC_TESTS.match(line):
            self._root, self._printing = match[1], None
        elif match := TEST.match(line):
            self._unfinished = match[1]
            self._finish(match[2])
        elif self._unfinished and OUTCOME.match(line):
            self._finish(line)
        elif match := OUTPUT_OF.match(line):
            self._printing = match[1]
        elif (match := SKIP.match(line)) and self._printing:
            self._record(self._printing, SKIPPED, match[1])
        elif self._printing and self._section == FAILING:
            self._printed.setdefault(self._key(self._printing), []).append(line)

    def _add_binary(self, executable: str, source: Path) -> None:
        root = source.relative_to(self.top) if source.is_relative_to(self.top) else source
        self._roots[PurePath(executable).name] = root.as_posix()

    def _finish(self, text: str) -> None:
        match = OUTCOME.match(text)
        if match is None or self._unfinished is None:
            return
        outcome = {"ok": PASSED, "FAILED": FAILED, "ignored": SKIPPED}[match[1]]
        self._record(self._unfinished, outcome, "#[ignore] in Rust" if outcome == SKIPPED else "")
        self._unfinished = None

    def _record(self, name: str, outcome: str, reason: str) -> None:
        key = self._key(name)
        known = self.by_name.get(key)
        # A failed test remains failed, whatever it printed.
        if known is None or known.outcome == PASSED:
            self.by_name[key] = Result(*key, outcome, reason)

    def _key(self, name: str) -> tuple[str, str]:
        match = DOC_TEST.match(name)
        return (match[1], match[2]) if match else (self._root, name)
