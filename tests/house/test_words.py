"""Plain technical English: no banned phrase in README, docs and CONTRIBUTING, and fewer and fewer in the source."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .conftest import ROOT
from .test_docs_run import PAGES
from .words import HERE, allowances, hits, prose, rows, source_files, strings

PACKAGE = "src/lexiscope"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_have_no_banned_phrase(page: Path) -> None:
    """A page of the docs, README and CONTRIBUTING have none of the phrases of banned_phrases.csv outside code."""
    assert hits(prose(page.read_text(encoding="utf-8"))) == []


def test_source_files_have_no_more_banned_phrases_than_before() -> None:
    """Strings and docstrings of a source file have at most as many as words_allowed.csv lists, else none.

    After lowering them, run ``python -m tests.house.words``: a file that is no longer listed stays without.
    """
    allowed = allowances()
    worse = {}
    for path in source_files():
        name = path.relative_to(ROOT / PACKAGE).as_posix()
        phrases = hits(strings(path))
        if len(phrases) > allowed.get(name, 0):
            worse[name] = (allowed.get(name, 0), phrases)
    assert worse == {}


def test_the_glossary_has_every_term() -> None:
    """Each term of terms.csv, the list of words.md, is defined in the glossary."""
    glossary = (ROOT / "docs" / "project" / "glossary.md").read_text(encoding="utf-8").lower()
    defined = " ".join(re.findall(r"\*\*(.+?)\*\*", glossary))
    terms = [term.strip(" `") for row in rows(HERE / "terms.csv") for term in row["term"].split(",")]
    assert len(terms) > 50
    assert [term for term in terms if term.lower() not in defined] == []


def test_a_phrase_is_found_and_code_is_not() -> None:
    """Prose is searched with its white space collapsed; code, comments and headings do not join with it."""
    assert hits(prose("RAW-C is at\nhand.")) != []
    assert hits(prose("`at hand` <!-- at hand -->\n\n```text\nat hand\n```\n\n### Look at\nHand it over.")) == []
