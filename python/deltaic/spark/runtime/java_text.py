"""The Java text of the package, as one text that Spark's compiler takes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.resources import files

__all__ = ["JavaText", "java_text"]

_PACKAGE_LINE = "package @PACKAGE@;"


@dataclass(frozen=True)
class JavaText:
    """Java text of one package."""

    package: str
    """A name of its own for each text: two versions of deltaic in one JVM have different classes."""
    text: str


def java_text(purpose: str = "") -> JavaText:
    """Joins the Java files of a purpose, those of a folder: imports first, as one file has them.

    Example:
        >>> java_text("write").text.splitlines()[0].startswith("package deltaic.r")
        True
    """
    java = files("deltaic.spark").joinpath("java")
    folder = java.joinpath(purpose) if purpose else java
    imports: set[str] = set()
    bodies: list[str] = []
    for file in sorted(folder.iterdir(), key=lambda each: each.name):
        if file.name.endswith(".java"):
            lines = file.read_text("utf-8").removeprefix(_PACKAGE_LINE).splitlines()
            imports.update(line for line in lines if line.startswith("import "))
            bodies += [line for line in lines if not line.startswith("import ")]
    text = "\n".join([_PACKAGE_LINE, *sorted(imports), *bodies, ""])
    package = "deltaic.r" + hashlib.sha256(text.encode()).hexdigest()[:12]
    return JavaText(package, text.replace(_PACKAGE_LINE, f"package {package};"))
