"""Each public name, command and file of a run has a level of stability in the docs."""

from __future__ import annotations

import re
from pathlib import Path
from types import FunctionType

import lexiscope
from lexiscope.cli.main import VERBS

LEVELS = ("stable", "provisional")


def levels(root: Path) -> dict[str, str]:
    """The rows of the page of the form ``name`` | level. A name that comes twice is an error."""
    text = (root / "docs" / "project" / "stability.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(lexiscope[. ][^`]+)` \| (\w+) \|$", text, re.MULTILINE)
    assert len({name for name, _ in rows}) == len(rows)
    return dict(rows)


def test_each_public_name_has_a_level(root: Path) -> None:
    """The names of ``import lexiscope`` and the commands are in the tables, no others, with a level that is defined."""
    listed = levels(root)
    public = {f"lexiscope.{name}" for name in lexiscope.__all__} | {f"lexiscope {verb}" for verb in VERBS}
    assert sorted(public - {*listed}) == [], "give these a level in docs/project/stability.md"
    assert sorted({*listed} - public) == [], "these are public no more: the changelog says so under Removed"
    assert {*listed.values()} == {*LEVELS}


def test_stable_functions_return_no_provisional_class(root: Path) -> None:
    """What a stable function of the front door takes and returns is not a provisional class of the front door."""
    listed = {name.removeprefix("lexiscope."): level for name, level in levels(root).items() if "." in name}
    provisional = {name for name, level in listed.items() if level == "provisional"}
    functions = [
        getattr(lexiscope, name)
        for name, level in listed.items()
        if level == "stable" and isinstance(getattr(lexiscope, name), FunctionType)
    ]
    assert len(functions) > 8
    used = {
        work.__name__: {word for hint in work.__annotations__.values() for word in re.findall(r"\w+", hint)}
        & provisional
        for work in functions
    }
    assert {name: words for name, words in used.items() if words} == {}
