"""Which modules `import deltaic` loads, and how it behaves without the optional packages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import deltaic

HEAVY = {"pyarrow", "pandas", "polars", "pyspark", "rich", "numpy", "duckdb"}


def python(code: str, cwd: Path) -> str:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("module", ["deltaic", "deltaic.exceptions", "deltaic.cli"])
def test_importing_loads_no_data_library(module: str, tmp_path: Path) -> None:
    code = f"import sys, {module}; print(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    loaded = set(python(code, tmp_path).split())
    assert "deltaic" in loaded
    assert not loaded & HEAVY


# None in sys.modules makes an import fail as if the package were not installed.
WITHOUT = """
import sys
sys.modules[{package!r}] = None
import deltaic
{code}
"""


@pytest.mark.usefixtures("numbers")
def test_a_table_is_made_and_filled_without_pyarrow(root: Path, tmp_path: Path) -> None:
    code = f"""
snapshot = deltaic.Table({str(root)!r}).snapshot()
copy = deltaic.Table.create("copy", snapshot.schema)
copy.append(snapshot.scan(predicate="id < 4"))
print(copy.snapshot().num_rows, copy.snapshot().files().num_rows)
"""
    assert python(WITHOUT.format(package="pyarrow", code=code), tmp_path) == "4 1\n"


@pytest.mark.parametrize(
    ("package", "call"),
    [
        ("pyarrow", "snapshot.scan().to_arrow()"),
        ("pyarrow", "list(snapshot.scan())"),
        ("pyarrow", "snapshot.scan().tasks()[0].read()"),
        ("pyarrow", "snapshot.schema.to_arrow()"),
        ("pyarrow", "snapshot.files().to_arrow()"),
        ("pandas", "snapshot.scan().to_pandas()"),
        ("pandas", "snapshot.files().to_pandas()"),
        ("polars", "snapshot.scan().to_polars()"),
        ("polars", "snapshot.files().to_polars()"),
        ("pyarrow", "snapshot.to_pyarrow_dataset()"),
        ("polars", "snapshot.to_polars_lazy()"),
    ],
)
@pytest.mark.usefixtures("numbers")
def test_a_missing_package_is_an_import_error_that_states_what_to_install(
    root: Path, tmp_path: Path, package: str, call: str
) -> None:
    code = f"""
snapshot = deltaic.Table({str(root)!r}).snapshot()
try:
    {call}
except ImportError as error:
    print(error)
"""
    assert f"pip install {package}" in python(WITHOUT.format(package=package, code=code), tmp_path)


def test_everything_exported_is_there() -> None:
    assert sorted(deltaic.__all__, key=str.lower) == sorted(set(deltaic.__all__), key=str.lower)
    for name in deltaic.__all__:
        assert getattr(deltaic, name) is not None
    assert deltaic.__version__.count(".") == 2
