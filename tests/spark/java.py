"""Java, which runs Spark: whether it is installed, and its options for tests."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

# One thread that collects garbage is enough for a JVM of tests.
OPTIONS = "-XX:+UseSerialGC -Xshare:auto"
# The compiler that starts fast, for programs of a few minutes. With one compiler, the memory for its code
# would be 48 MiB, too little for Spark.
SHORT = f"{OPTIONS} -XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"


def is_installed() -> bool:
    """Whether Java is installed where PySpark looks for it."""
    home = os.environ.get("JAVA_HOME")
    return bool(shutil.which("java") or (home and (Path(home) / "bin" / "java").exists()))
