"""The benchmark page, as Markdown and JSON: figures of each library, ratio, floor and budget."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict
from pathlib import Path

from budgets import rating
from figures import FIGURES, FLOOR, OURS, Line, best_of, ratio, ratios, shown, shown_with_spread
from page_sections import section_of
from workload import Workload

REQUESTS = ("<!-- requests: kept when the page is rewritten -->", "<!-- /requests -->")
NO_REQUESTS = "Not measured yet."
# The section that `make bench-spark` writes.
SPARK = "## Spark"
# All sections that other benchmarks write.
OTHERS = ("## Writes", "## Merges", "## Deletion vectors", SPARK, "## Concurrent commits")

HEAD = """\
# Benchmarks

`make bench` writes this page. It measures a release build and other libraries in one run, each
measurement in a new process, in alternation. A figure is the median of the repetitions, with the smallest
and the largest in parentheses. The files are in the page cache. Libraries are imported before the clock
starts, except where a whole process is measured. numpy, which pyarrow imports, gets no threads, because
they would spin for about 50 ms after the import. Times depend on the machine; compare the ratios: the best
other library's figure divided by deltaic's.

Every result is verified before anything is timed, against the data from which the table was generated:
the version, the exact set of files with every column, and for rows their number and all values. A file
matches a range if its minimum and maximum overlap it. deltaic must keep no other file; if another library
keeps more, a note says so. A library that returns a wrong result is not timed.

The **floor** is the time to read and parse the same bytes without Delta, with the fastest code found for
Python: pyarrow for Parquet (only the necessary columns, memory-mapped, all cores) and JSON; a text search
if two keys suffice; a regular expression for the keys of one huge commit; an empty interpreter for a
whole process. It replays nothing. It can be beaten, but a result near it is efficient.

deltalake reads a log by `get_add_actions(flatten=True)` (list, always with statistics),
`file_uris(file_pruning_predicate=…)` (prune) and `update_incremental()` (refresh). deltalake_uris lists by
`file_uris()`, which returns only the paths. `checkpoint` opens a copy of the table and writes a checkpoint
of its newest version; `append_row` appends one row to a copy that is open, without a checkpoint.

For data, each library opens the table and reads all rows of the result, batch by batch, without keeping
them:

- deltaic: `for batch in snapshot.scan(columns, predicate)`; `scan().count()`
- deltalake: `DeltaTable.scan(columns, predicate)`, its own engine; `count()`, or a query if that is not
  exact. Its pyarrow dataset takes twice the time and does not support deletion vectors.
- polars: `scan_delta(…).collect_batches(maintain_order=False, engine="streaming")`, as polars frames;
  polars_arrow converts them to Arrow, like the other libraries
- daft: `read_deltalake(…).to_arrow_iter()`; `count_rows()`
- pyarrow: a `pyarrow.dataset` of the live data files. It does not know Delta, so it is not measured with
  deletion vectors or column mapping.

The logs are generated from the protocol, in the form of delta-spark: Snappy; row groups (or parts, or
sidecars) of 100,000 adds and 20,000 removes, sorted by path; statistics of 20 columns (4 strings, 10
longs, 2 doubles, 2 dates, 2 timestamps) as JSON in its key order, or as `stats_parsed` with INT96
timestamps and no JSON. Removes have no statistics. There are 365 partitions, by day; the range keeps
about one file of 850, the partition one of 365.

The data is generated too: Snappy, one row group for each file, pages of 20,000 rows with an index. The
columns are a sorted id, a key of a million values, a quantity, a double, a decimal(12,2), one of 8
regions, a string of 8 to 24 characters, a date, a timestamp in microseconds and a boolean; price and
string contain NULLs. `scan_columns` reads key, double and region; `scan_range` selects 2 % of the ids, in
two files; `scan_filter` selects doubles above a bound, one row of 200 in each file, with all columns.

A budget is an absolute figure, a multiple of the best other library's figure, or a multiple of deltaic's
figure for another operation; the table shows the strictest resulting figure. Noise is the larger
interquartile range of the two figures, as a share of their medians; in comparisons with other libraries it
is at least 10 %. `make bench` ends with an error if a budget is missed by more than the noise.

To repeat: `make bench`; `make bench ONLY='data*,tiny' REPEAT=9` for some workloads, `make bench
SCALE=0.01` for a quick run; neither of the last two rewrites this page. `target/benchmarks.json` contains
the figures for programs. [benches/README.md](../../benches/README.md) describes how to profile.
"""


def page(lines: list[Line], workloads: list[Workload], scale: float, repeat: int, before: str) -> str:
    """The page `docs/background/benchmarks.md`; other benchmarks' sections are kept from `before`."""
    machine = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, {processor()}"
    releases = sorted({f"{'pyarrow' if line.peer == FLOOR else line.peer} {line.release}" for line in lines})
    text = [HEAD, f"{machine}, Python {platform.python_version()}, {', '.join(releases)}. "]
    text[-1] += f"Scale {scale:g}, {repeat} repetitions."
    if scale != 1:
        text[-1] += " Budgets apply at scale 1 only."
    text.append("")
    for workload in workloads:
        text += section(workload, [line for line in lines if line.workload == workload.name], scale)
    text += ["## Requests at a store", "", REQUESTS[0], requests_of(before), REQUESTS[1]]
    for heading in OTHERS:
        if other := section_of(before, heading):
            text += ["", other]
    return "\n".join(text) + "\n"


def section(workload: Workload, lines: list[Line], scale: float) -> list[str]:
    """A workload's table."""
    taking_part = dict.fromkeys(peer for operation in workload.operations for peer in operation.peers)
    rivals = [peer for peer in taking_part if peer not in {OURS, FLOOR}]
    floors = [peer for peer in taking_part if peer == FLOOR]
    header = ["operation", "figure", OURS, *rivals, "ratio", *floors, "budget", "met"]
    text = [f"## {workload.name}", "", f"{workload.what[:1].upper()}{workload.what[1:]}.", ""]
    text += [f"| {' | '.join(header)} |", f"|---|---|{'--:|' * (len(header) - 3)}---|"]
    ours = {line.operation: line for line in lines if line.peer == OURS}
    notes = []
    for operation in workload.operations:
        mine = {line.peer: line for line in lines if line.operation == operation.name}
        for key, title in FIGURES.items():
            judged = rating(operation, key, mine, ours)
            figures = {peer: shown_with_spread(line.runs.get(key, []), key) for peer, line in mine.items()}
            cells = [
                f"`{operation.name}`" if key == "wall" else "",
                title,
                *(figures.get(peer, "–") for peer in (OURS, *rivals)),
                ratio_to_best(mine, key, named=len(rivals) > 1),
                *(figures.get(peer, "–") for peer in floors),
                "" if judged is None else shown(judged.limit, key),
                str(judged) if judged is not None and scale == 1 else "",
            ]
            text.append(f"| {' | '.join(cells)} |")
        notes += [f"`{operation.name}`: {line.peer} {line.note}." for line in mine.values() if line.note]
    return [*text, "", *(line for note in notes for line in (note, ""))]


def ratio_to_best(mine: dict[str, Line], key: str, *, named: bool) -> str:
    """Returns the best peer's figure divided by ours, optionally with the peer's name."""
    best = best_of(mine, key)
    quotient = ratio(best, mine.get(OURS), key) if best else None
    if best is None or quotient is None:
        return "–"
    digits = f"{quotient:.3g}" if quotient < 100 else f"{quotient:.0f}"
    return f"{digits} {best.peer}" if named else digits


def requests_of(before: str) -> str:
    """Returns the part between the marks, which another benchmark writes."""
    _, found, rest = before.partition(REQUESTS[0])
    return rest.partition(REQUESTS[1])[0].strip("\n") if found else NO_REQUESTS


def processor() -> str:
    """Returns the processor's name."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown processor"


def write_json(lines: list[Line], scale: float, path: Path) -> None:
    """Writes the same figures for programs."""
    ours = {(line.workload, line.operation): line for line in lines if line.peer == OURS}
    found = {
        "scale": scale,
        "cores": os.cpu_count(),
        "lines": [
            {**asdict(line), "ratios": ratios(line, ours.get((line.workload, line.operation)))}
            for line in lines
        ],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=2) + "\n")
