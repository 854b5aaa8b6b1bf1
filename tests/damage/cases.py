"""All cases of damage, by kind."""

from __future__ import annotations

from . import broken
from .case import Case, Survivor, data_case
from .cases_of_checkpoints import CHECKPOINTS
from .cases_of_commits import ACTIONS, COMMIT_BODY, JSON, NUMBERS
from .cases_of_data import MORE_DATA
from .cases_of_derived_files import CHECKSUMS, COMPACTIONS, HINTS, STATISTICS
from .cases_of_logs import GAPS, PROPERTIES, PROTOCOL, SCHEMA
from .cases_of_paths import ALIKE, PATHS
from .cases_of_vector_bytes import VECTOR_BYTES
from .cases_of_vectors import DESCRIBED, ODD
from .invalid_requests import APPENDS, REQUESTS

DATA = [
    data_case("a missing data file", broken.without_data),
    data_case("a truncated data file", broken.truncated_data),
    data_case("a data file of nonsense", broken.data_of_nonsense),
    data_case("a data file spoilt in the middle", broken.data_spoilt_in_the_middle),
    data_case("an empty data file", broken.empty_data),
    data_case("a data file of another type", broken.data_of_another_type, "id", field="id"),
]

# Cases of the log, its paths and other non-data files.
LOG_ROWS: dict[str, list[Case | Survivor]] = {
    "The bytes of a commit": [*COMMIT_BODY],
    "Actions": [*ACTIONS],
    "JSON": [*JSON],
    "Numbers": [*NUMBERS],
    "Gaps and names": [*GAPS],
    "Protocol and metadata": [*PROTOCOL],
    "Schema": [*SCHEMA],
    "Properties": [*PROPERTIES],
    "Paths": [*PATHS, *ALIKE],
    "Checkpoints": [*CHECKPOINTS],
    "`_last_checkpoint`": [*HINTS],
    "Version checksums": [*CHECKSUMS],
    "Log compaction files": [*COMPACTIONS],
    "Statistics": [*STATISTICS],
    "Deletion vectors": [*DESCRIBED, *VECTOR_BYTES, *ODD],
}
ROWS: dict[str, list[Case | Survivor]] = {
    **LOG_ROWS,
    "Data files": [*DATA, *MORE_DATA],
    "Questions": [*REQUESTS],
    "Rows to append": [*APPENDS],
}
EVERY = [case for row in ROWS.values() for case in row]
CASES = [case for case in EVERY if isinstance(case, Case)]
SURVIVORS = [case for case in EVERY if isinstance(case, Survivor)]
