"""Documents and messages use the field's own terms: no retired word is in them."""

from __future__ import annotations

import pytest

from .words import TEXTS, files_of_scopes, findings, findings_of_names, retired_names, retired_words

WORDS = {"upkeep": "post-commit maintenance", "stands?": "is"}


def test_no_retired_word_is_used() -> None:
    assert findings() == []


def test_no_name_has_a_retired_part() -> None:
    assert findings_of_names() == []


@pytest.mark.parametrize(
    ("text", "lines"),
    [("a_wish = 1\nwishful = 2\n", [1]), ("struct AWish;", [1]), ("WISHES", [1]), ("dishwisher", [])],
)
def test_parts_of_names_are_found(text: str, lines: list[int]) -> None:
    assert [line for line, _, _ in retired_names(text, {"wish(es)?": "request"})] == lines


def test_the_scopes_have_files() -> None:
    assert len(files_of_scopes()) > 60


@pytest.mark.parametrize(
    ("kind", "text", "lines"),
    [
        ("markdown", "Upkeep\n\n`upkeep=False` and [a](upkeep.md)\n\n```\nupkeep\n```\nit stands\n", [1, 8]),
        ("hash comments", "#!/bin/sh\nupkeep=1 # the upkeep\n## stands\necho '#1'\n", [2, 3]),
        ("python", '"""It stands."""\nupkeep = "stands"  # upkeep\nx = """\nstands"""\n', [1, 2]),
        ("python", 'def f():\n    """\n    Args:\n        upkeep: stands.\n\n    >>> upkeep\n    """\n', [4]),
        (
            "rust messages",
            'f("it stands"); // it stands\ng("stands", \'"\', r"stands so");\n\n"so \\\n it stands"\n'
            '#[cfg(test)]\nmod tests {\n    "it stands"\n}\n',
            [1, 5],
        ),
        ("rust", "//! Upkeep.\nlet upkeep = 1; // stands\n/// ```\n/// upkeep()\n/// ```\n", [1, 2]),
    ],
)
def test_code_is_not_text(kind: str, text: str, lines: list[int]) -> None:
    assert sorted(line for line, _, _ in retired_words(TEXTS[kind](text), WORDS)) == lines
