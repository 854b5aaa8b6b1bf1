"""A release wheel contains no features for tests."""

from __future__ import annotations

import re

from tests.repository.markdown import TOP


def test_a_release_neither_counts_its_work_nor_breaks_off_on_demand() -> None:
    """No default feature and no recipe of a wheel enables the features for tests."""
    features = re.search(
        r"^\[features\]\n(.*?)^\[", (TOP / "rust/python/Cargo.toml").read_text(), re.M | re.S
    )
    assert features is not None
    assert re.findall(r"^(\w+) =", features[1], re.M) == ["witness", "provoke"]
    makefile = (TOP / "Makefile").read_text()
    assert "witness" not in makefile
    assert "provoke" not in makefile
    assert "features" not in "".join(re.findall(r"^.*maturin.*$", makefile, re.M))
    maturin = (TOP / "pyproject.toml").read_text().split("[tool.maturin]")[1].split("\n[")[0]
    assert "features" not in maturin
    assert "--features witness,provoke" in (TOP / "envs/build_extension.sh").read_text()
