"""Compiles a library to preload before the C library, which intercepts file system calls of a process."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

STEPS = Path(__file__).with_name("killed_at_step.c")
"""The library that names the steps of a verb."""


def compiled(source: Path, folder: Path) -> Path:
    """Compiles a C source into a folder; skips without a compiler or without `LD_PRELOAD`."""
    compiler = shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("a C compiler (cc) on Linux is needed to put something before the file system")
    library = folder / f"{source.stem}.so"
    command = [compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl", "-lpthread"]
    subprocess.run(command, check=True)
    return library
