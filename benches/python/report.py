"""The page of figures, as Markdown and as JSON: ours, the peers', the ratio, the floor, the budget."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict
from pathlib import Path

from budgets import verdict
from figures import FIGURES, FLOOR, OURS, Line, best_of, ratio, ratios, shown, shown_with_spread
from page_sections import section_of
from workload import Workload

REQUESTS = ("<!-- requests: kept when the page is written anew -->", "<!-- /requests -->")
NO_REQUESTS = "Not measured yet."
# The section that `make bench-spark` writes.
SPARK = "## Spark"

HEAD = """\
# Benchmarks

Written by `make bench`: a release build beside its peers in one run. Each measurement is a fresh process, and
the peers take turns. A figure is the median of the repetitions, with the smallest and the largest in
parentheses. The files are in the page cache. A peer is imported before the clock starts, except where a whole
process is measured. numpy, which comes with pyarrow, gets no threads, since these spin on the clock for some
50 ms after the import. Times depend on the machine: compare the ratios, the best peer's figure divided by
deltaic's.

Every answer was checked before anything was timed, against the facts that the table was generated from: the
version, exactly the right files, every column of them; of data the number of rows, every value, and that the
values of a row stand together. A file matches a range when its minimum and maximum overlap it. deltaic must
keep no other file; where the peer keeps more, a note says so. Who answers wrong is not timed.

The **floor** is the same bytes read and parsed without Delta, by the fastest code found that Python reaches:
pyarrow for Parquet (only the columns that the question needs, memory-mapped, all cores) and for JSON; a plain
search for the key where two keys of a text are enough; a regular expression for the keys of one huge commit;
a bare interpreter for a whole process. It replays nothing. It can be beaten, but who is near it wastes
little.

What deltalake does with a log: `get_add_actions(flatten=True)` to list, which always has the statistics;
deltalake_uris calls `file_uris()` instead, which returns the paths alone. To prune it calls
`file_uris(file_pruning_predicate=…)`, to refresh `update_incremental()`.

With data, everybody opens the table and takes all rows of the answer, a batch at a time, and keeps none:

- deltaic: `for batch in snapshot.scan(columns, predicate)`; `scan().count()`
- deltalake: `DeltaTable.scan(columns, predicate)`, its own engine; `count()`, or a query where that is not
  exact. Its pyarrow dataset needs twice the time and cannot do deletion vectors.
- polars: `scan_delta(…).collect_batches(maintain_order=False, engine="streaming")`, frames of its own that
  nobody asks to become Arrow; polars_arrow asks, for what all the others give
- daft: `read_deltalake(…).to_arrow_iter()`; `count_rows()`
- pyarrow: a `pyarrow.dataset` of the data files that the log names, whose names it is given. It knows nothing
  of Delta, so it takes no part where rows are deleted by vectors or columns are mapped.

The logs are generated from the protocol's text, as delta-spark writes: Snappy; row groups (or parts, or
sidecars) of 100,000 adds and 20,000 removes, sorted by path; statistics of 20 columns (4 strings, 10 longs,
2 doubles, 2 dates, 2 timestamps) as JSON in its key order, or as `stats_parsed` with INT96 timestamps and no
JSON. Removes have no statistics. There are 365 partitions, by day; the range keeps about one file of 850, the
partition one of 365.

So is the data: Snappy, a row group a file, pages of 20,000 rows with an index. The columns are a sorted id, a
key of a million values, a quantity, a double, a decimal(12,2), one of 8 regions, a text of 8 to 24
characters, a date, a timestamp in microseconds and a boolean; price and text have NULLs. `scan_columns` takes
key, double and region; `scan_range` asks for 2 % of the ids, which lie in two files; `scan_filter` for the
doubles above a bound, one row of 200 in each file, with all columns.

A budget is an absolute figure, or a share of what the best peer needs, or of what deltaic needs for something
else; the table shows the strictest as a figure. Noise is the larger interquartile range of the two figures
that are compared, as a share of their medians; beside a peer it is at least 10 %. `make bench` ends with an
error if a budget is missed by more than the noise.

To run it again: `make bench`; `make bench ONLY='data*,tiny' REPEAT=9` for some of it,
`make bench SCALE=0.01` for a quick look; neither rewrites this page. The same figures for a program are in
`target/benchmarks.json`. How to see where the time goes is told in [benches/README.md](../benches/README.md).
"""


def page(lines: list[Line], workloads: list[Workload], scale: float, repeat: int, before: str) -> str:
    """The page `docs/background/benchmarks.md`; sections on requests and Spark are kept from `before`."""
    machine = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}, {processor()}"
    releases = sorted({f"{'pyarrow' if line.peer == FLOOR else line.peer} {line.release}" for line in lines})
    text = [HEAD, f"{machine}, Python {platform.python_version()}, {', '.join(releases)}. "]
    text[-1] += f"Scale {scale:g}, {repeat} repetitions."
    if scale != 1:
        text[-1] += " Budgets hold at scale 1 and are not judged here."
    text.append("")
    for workload in workloads:
        text += section(workload, [line for line in lines if line.workload == workload.name], scale)
    text += ["## Requests at a store", "", REQUESTS[0], requests_of(before), REQUESTS[1]]
    if spark := section_of(before, SPARK):
        text += ["", spark]
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
            judged = verdict(operation, key, mine, ours)
            cells = [
                f"`{operation.name}`" if key == "wall" else "",
                title,
                *(shown_with_spread(mine[peer], key) if peer in mine else "–" for peer in (OURS, *rivals)),
                ratio_to_best(mine, key, named=len(rivals) > 1),
                *(shown_with_spread(mine[peer], key) if peer in mine else "–" for peer in floors),
                "" if judged is None else shown(judged.limit, key),
                str(judged) if judged is not None and scale == 1 else "",
            ]
            text.append(f"| {' | '.join(cells)} |")
        notes += [f"`{operation.name}`: {line.peer} {line.note}." for line in mine.values() if line.note]
    return [*text, "", *(line for note in notes for line in (note, ""))]


def ratio_to_best(mine: dict[str, Line], key: str, *, named: bool) -> str:
    """How many times our figure the best peer's is, and who that is."""
    best = best_of(mine, key)
    quotient = ratio(best, mine.get(OURS), key) if best else None
    if best is None or quotient is None:
        return "–"
    digits = f"{quotient:.3g}" if quotient < 100 else f"{quotient:.0f}"
    return f"{digits} {best.peer}" if named else digits


def requests_of(before: str) -> str:
    """The part between the marks, which another measurement writes."""
    _, found, rest = before.partition(REQUESTS[0])
    return rest.partition(REQUESTS[1])[0].strip("\n") if found else NO_REQUESTS


def processor() -> str:
    """The processor's name."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown processor"


def write_json(lines: list[Line], scale: float, path: Path) -> None:
    """The same figures for a program."""
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
