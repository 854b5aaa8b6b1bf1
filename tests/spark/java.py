"""Java, which runs Spark: whether it is installed, and its options for tests."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

# The compiler that starts fast, and one thread that collects garbage: a JVM of tests runs for a few minutes.
OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"


def is_installed() -> bool:
    """Whether Java is installed where PySpark looks for it."""
    home = os.environ.get("JAVA_HOME")
    return bool(shutil.which("java") or (home and (Path(home) / "bin" / "java").exists()))
