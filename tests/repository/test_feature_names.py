"""Rust code decides by the columns of a feature's row, never by the name of the feature."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "rust/protocol/src/features/table.rs"
# The names of an action and of a field of `commitInfo` too.
OTHER_NAMES = {"domainMetadata", "inCommitTimestamp"}


def names() -> set[str]:
    return set(re.findall(r'\b(?:writer|row_rule|both)\("(\w+)"', TABLE.read_text())) - OTHER_NAMES


def decisions(source: str, features: set[str]) -> list[str]:
    """The comparisons with a feature's name, and the arms of a `match` on it."""
    product = source.split("#[cfg(test)]\nmod tests {", maxsplit=1)[0]
    found = re.findall(
        r'[=!]= "(\w+)"|\|\s*"(\w+)"\s*(?:\||=>)|"(\w+)"\s*(?:\||=>)|NothingUses\("(\w+)"\)', product
    )
    return [name for groups in found for name in groups if name in features]


def is_own_file(path: Path, feature: str) -> bool:
    """Whether a module has the name of the feature, such as `column_mapping` for `columnMapping`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", feature).lower() in {*path.parts, path.stem}


def test_the_patterns_find_what_they_should() -> None:
    features = names()
    assert len(features) > 25
    assert decisions('if name == "rowTracking" {', features) == ["rowTracking"]
    assert decisions('"columnMapping" | "typeWidening" => Ok(()),', features) == [
        "columnMapping",
        "typeWidening",
    ]
    assert decisions('supports_for_writers(protocol, "rowTracking")', features) == []


def test_no_code_decides_by_the_name_of_a_feature() -> None:
    features = names()
    found = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in (ROOT / "rust").rglob("src/**/*.rs")
        if not {"tests", "testkit", "model"} & {*path.parts, path.stem}
        for name in decisions(path.read_text(), features)
        if not is_own_file(path, name)
    }
    assert found == set()
