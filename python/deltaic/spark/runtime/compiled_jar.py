"""A jar of the package's Java text, compiled by the Spark that runs it.

Spark carries Janino, the compiler of its generated code. The jar is kept for the user, by text, Spark and
Java.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import tempfile
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from deltaic.spark.runtime.java_text import JavaText

__all__ = ["compiled_jar"]


def compiled_jar(jvm: Any, spark_version: str, text: JavaText) -> bytes:
    """Returns the jar, from the user's cache or compiled.

    Raises:
        Py4JError: This JVM has no Janino, or it does not compile the text.
    """
    versions = f"{spark_version} {jvm.System.getProperty('java.version')}"
    key = f"{text.package}-{re.sub(r'[^0-9A-Za-z.+-]', '_', versions)}"
    folder = _cache()
    if folder is None:
        return _compile(jvm, text)
    kept = _kept(folder, key)
    if kept is None:
        kept = _compile(jvm, text)
        _keep(folder, key, kept)
    return kept


def _compile(jvm: Any, text: JavaText) -> bytes:
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.java.lang.Thread.currentThread().getContextClassLoader())
    # Otherwise it does not compile calls of static methods of interfaces.
    compiler.setSourceVersion(8)
    compiler.setTargetVersion(8)
    compiler.cook(text.text)
    codes = compiler.getBytecodes()
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as jar:
        for name in sorted(codes.keySet().toArray()):
            jar.writestr(name.replace(".", "/") + ".class", bytes(codes.get(name)))
    return out.getvalue()


def _cache() -> Path | None:
    """Returns the user's folder of jars; None if there is none that only the user can write."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")  # noqa: PTH111, PTH118
    folder = Path(home, "deltaic", "spark-runtime")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        about = folder.lstat()
    except OSError:
        return None
    is_own = not hasattr(os, "getuid") or (about.st_uid == os.getuid() and about.st_mode & 0o077 == 0)
    return folder if is_own and not folder.is_symlink() else None


def _kept(folder: Path, key: str) -> bytes | None:
    """Returns the jar of a key whose bytes have the hash in its name."""
    for path in folder.glob(f"{key}-*.jar"):
        with suppress(OSError):
            jar = path.read_bytes()
            if path.name == _name(key, jar):
                return jar
            path.unlink()
    return None


def _keep(folder: Path, key: str, jar: bytes) -> None:
    with suppress(OSError):
        number, fresh = tempfile.mkstemp(dir=folder)
        with os.fdopen(number, "wb") as file:
            file.write(jar)
        Path(fresh).rename(folder / _name(key, jar))


def _name(key: str, jar: bytes) -> str:
    return f"{key}-{hashlib.sha256(jar).hexdigest()}.jar"
