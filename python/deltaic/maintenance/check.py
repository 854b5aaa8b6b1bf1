"""`Table.check`: a check of a whole table, and its report."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, cast

from deltaic import _rust
from deltaic.values.progress import Progress, to_progress
from deltaic.values.sizes import counted

__all__ = ["Finding", "Report", "Severity", "check_table"]

Severity = Literal["info", "warning", "damage"]
"""Information; an incorrect optional file or statistics; damage to the log or the data."""

_SEVERITIES: tuple[Severity, ...] = ("damage", "warning", "info")
_HEADINGS = {"damage": "Damage", "warning": "Warnings", "info": "Good to know"}
_WIDTH = 100


@dataclass(frozen=True)
class Finding:
    """One finding: what was found, where, what it means and how to fix it."""

    code: str
    """A stable code in upper snake case, for comparison in programs; `docs/reference/check.md` lists all."""

    severity: Severity
    """``"info"``: nothing is wrong; ``"warning"``: an optional file or statistics are wrong; ``"damage"``:
    the log or the data is wrong, so that versions or rows cannot be read correctly."""

    message: str
    """What is wrong."""

    path: str | None
    """The file: a log file relative to the table's root, or a data file as in the log."""

    version: int | None
    """The version concerned."""

    line: int | None
    """The line of the commit, from 1."""

    field: str | None
    """The field or column."""

    meaning: str
    """What it means for the user, in one sentence."""

    remedy: str
    """How to fix it."""

    @property
    def place(self) -> str:
        """The location as text: ``"_delta_log/….json, version 3, line 2, add.size"``; empty without one.

        >>> Finding("X", "info", "odd", "a.parquet", 3, None, None, "Nothing.", "Nothing.").place
        'a.parquet, version 3'
        """
        parts = [
            self.path,
            None if self.version is None else f"version {self.version}",
            None if self.line is None else f"line {self.line}",
            self.field,
        ]
        return ", ".join(part for part in parts if part)

    def __str__(self) -> str:
        return f"{self.message} ({self.place})" if self.place else self.message


@dataclass(frozen=True)
class Report:
    """The result of `Table.check`.

    As text: what was examined, the overall result, then the findings.

    >>> import deltaic, pyarrow
    >>> table = deltaic.Table.create("barges", pyarrow.schema([("id", pyarrow.int64())]))
    >>> report = table.check(deep=True)
    >>> report.is_healthy, report.severity, list(report.findings)
    (True, None, [])
    """

    uri: str
    """The table's root."""

    findings: tuple[Finding, ...] = ()
    """The most severe first; at most the first twenty of each code."""

    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    """The number of findings of each code, including those that `findings` omits."""

    versions: tuple[int, int] | None = None
    """The oldest and the newest version that the log's files mention."""

    commits: int = 0
    """The number of commits read."""

    checkpoints: int = 0
    """The number of checkpoints read, each in full."""

    checksums: int = 0
    """The number of version checksums read."""

    compactions: int = 0
    """The number of log compaction files read."""

    live_files: int | None = None
    """The number of live files of the newest version; None if the log is too damaged to know."""

    data_files: int = 0
    """The number of data files examined; 0 unless the check was deep."""

    @property
    def severity(self) -> Severity | None:
        """The highest severity of the findings; None without findings."""
        found = {finding.severity for finding in self.findings}
        return next((severity for severity in _SEVERITIES if severity in found), None)

    @property
    def is_healthy(self) -> bool:
        """Whether there is no warning and no damage."""
        return self.severity in (None, "info")

    def of_severity(self, severity: Severity) -> list[Finding]:
        """Returns the findings of one severity."""
        return [finding for finding in self.findings if finding.severity == severity]

    def to_json(self) -> str:
        """Returns the whole report as a JSON object.

        >>> json.loads(Report("file:///t/", commits=3).to_json())["examined"]["commits"]
        3
        """
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2)

    def to_dict(self) -> dict[str, object]:
        """Returns the whole report as plain values, as written by `to_json`."""
        return {
            "uri": self.uri,
            "is_healthy": self.is_healthy,
            "severity": self.severity,
            "examined": {
                "versions": None if self.versions is None else list(self.versions),
                "commits": self.commits,
                "checkpoints": self.checkpoints,
                "checksums": self.checksums,
                "compactions": self.compactions,
                "live_files": self.live_files,
                "data_files": self.data_files,
            },
            "counts": dict(self.counts),
            "findings": [vars(finding) for finding in self.findings],
        }

    @property
    def examined(self) -> str:
        """What was examined, in one sentence.

        >>> Report("file:///t/", versions=(0, 2), commits=3, live_files=1).examined
        'Versions 0 to 2: 3 commits; the newest version has 1 file.'
        """
        parts = [
            counted(self.commits, "commit"),
            *(
                counted(count, name)
                for count, name in (
                    (self.checkpoints, "checkpoint"),
                    (self.checksums, "version checksum"),
                    (self.compactions, "compaction file"),
                )
                if count
            ),
        ]
        versions = "No version"
        if self.versions is not None:
            oldest, newest = self.versions
            versions = f"Version {newest}" if oldest == newest else f"Versions {oldest} to {newest}"
        text = f"{versions}: {', '.join(parts)}"
        if self.live_files is not None:
            text += f"; the newest version has {counted(self.live_files, 'file')}"
        if self.data_files:
            text += f", and {counted(self.data_files, 'data file')} of it were looked at"
        return text + "."

    @property
    def diagnosis(self) -> str:
        """The overall result, in one sentence.

        >>> Report("file:///t/").diagnosis
        'The table is healthy.'
        """
        if self.severity == "damage":
            return "The table is damaged: parts of it cannot be read, or readers disagree on them."
        if self.severity == "warning":
            return "The table can be read, but something in its log is not as it should be."
        return "The table is healthy."

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"Check of {self.uri}"
        yield from _wrapped(self.examined)
        yield ""
        yield from _wrapped(self.diagnosis)
        for severity, groups in self.groups():
            yield ""
            yield _HEADINGS[severity]
            for group in groups:
                first = group[0]
                count = self.counts.get(first.code, len(group))
                yield ""
                yield f"  {first.code}" + (f" ({count} times)" if count > 1 else "")
                for finding in group:
                    yield from _wrapped(printable(str(finding)), "    - ", "      ")
                if count > len(group):
                    yield f"    - and {count - len(group)} more"
                yield from _wrapped(f"What it means: {first.meaning}", "    ")
                yield from _wrapped(f"What to do: {first.remedy}", "    ")

    def groups(self) -> list[tuple[Severity, list[list[Finding]]]]:
        """Returns the findings by severity, the highest first, and within each by code."""
        result: list[tuple[Severity, list[list[Finding]]]] = []
        for severity in _SEVERITIES:
            by_code: dict[str, list[Finding]] = {}
            for finding in self.of_severity(severity):
                by_code.setdefault(finding.code, []).append(finding)
            if by_code:
                result.append((severity, list(by_code.values())))
        return result

    def __repr__(self) -> str:
        numbers = {severity: len(self.of_severity(severity)) for severity in _SEVERITIES}
        found = ", ".join(f"{count} of {severity}" for severity, count in numbers.items() if count)
        return f"<deltaic.Report {self.uri}: {found or 'healthy'}>"


def check_table(table: _rust.Table, *, deep: bool, progress: Progress | bool | None) -> Report:
    """Returns the report of `Table.check`."""
    return _from_rust(table.check(deep=deep, progress=to_progress(progress)))


def _from_rust(rust: _rust.Report) -> Report:
    return Report(
        uri=rust.uri,
        findings=tuple(
            Finding(
                found.code,
                cast("Severity", found.severity),
                found.message,
                found.path,
                found.version,
                found.line,
                found.field,
                found.meaning,
                found.remedy,
            )
            for found in rust.findings
        ),
        counts=rust.counts,
        versions=rust.versions,
        commits=rust.commits,
        checkpoints=rust.checkpoints,
        checksums=rust.checksums,
        compactions=rust.compactions,
        live_files=rust.live_files,
        data_files=rust.data_files,
    )


def printable(text: str) -> str:
    r"""Escapes control characters and line breaks in a text of the log, for output on a terminal.

    >>> printable("a\x1b[31mb")
    'a\\x1b[31mb'
    """
    if text.isprintable():  # one call for the whole text; almost every text is
        return text
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def _wrapped(text: str, first: str = "", following: str | None = None) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=first,
        subsequent_indent=first if following is None else following,
        break_long_words=False,
        break_on_hyphens=False,
    )
