"""The site of the docs: it builds without a warning, every page is two clicks away, old addresses redirect."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from .conftest import ROOT

DOCS = ROOT / "docs"
DOORS = ("ratings", "people", "models", "datasets", "senses", "papers")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as ``make docs`` builds it: a warning is an error."""
    pytest.importorskip("sphinx")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", str(DOCS), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stderr[-5_000:]
    return folder


class Links(HTMLParser):
    """The pages of the site to which a page links."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.page, self.pages = page, set[Path]()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        target = dict(attrs).get("href") or ""
        path = target.partition("#")[0]
        if tag == "a" and path.endswith(".html") and not re.match(r"\w+:", path):
            self.pages.add((self.page.parent / path).resolve())


def pages(site: Path) -> set[Path]:
    """The pages that are made of a source, without the search, the index and the redirects."""
    made = {site / path.relative_to(DOCS).with_suffix(".html") for path in DOCS.rglob("*.md")}
    made |= {site / path.relative_to(DOCS).with_suffix(".html") for path in DOCS.rglob("*.ipynb")}
    return {path.resolve() for path in made}


def test_every_page_is_two_clicks_away(site: Path) -> None:
    """From the first page, each page is a link or a link of a link; nothing is outside."""
    first = Links(site / "index.html").pages
    second = {page for link in first if link.is_file() for page in Links(link).pages}
    every = pages(site)
    assert len(every) > 50
    assert sorted(map(str, every - first - second)) == []
    assert [str(page) for page in first | second if not page.is_file()] == []


def test_six_doors_are_on_the_first_page(site: Path) -> None:
    """The first page has the six doors, the line of installation, and the version of the package."""
    text = (site / "index.html").read_text(encoding="utf-8")
    assert [door for door in DOORS if f'href="{door}/index.html"' not in text] == []
    words = " ".join(re.sub(r"<[^>]+>", " ", text).split())
    assert "pip install" in words
    version = re.findall(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert f"version {version[0]}" in text


def test_old_addresses_lead_to_their_pages(site: Path) -> None:
    """Each old address is a page that leads to an existing one, and no page has an old address."""
    with (DOCS / "redirects.csv").open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    assert len(rows) > 30
    for row in rows:
        old = site / f"{row['old']}.html"
        target = re.findall(r'http-equiv="refresh" content="0; url=([^"]+)"', old.read_text(encoding="utf-8"))
        assert (old.parent / target[0]).resolve() == (site / f"{row['new']}.html").resolve(), row
        assert (site / f"{row['new']}.html").is_file(), row


def test_the_search_knows_the_terms(site: Path) -> None:
    """The search of the site works without a network: its index has words of the pages."""
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    assert "krippendorff" in index
    assert not re.search(r'<script[^>]+src="https?://', (site / "index.html").read_text(encoding="utf-8"))


def test_public_functions_have_their_docstrings(site: Path) -> None:
    """The page of Python shows signatures and examples from the docstrings."""
    text = (site / "reference" / "python.html").read_text(encoding="utf-8")
    assert 'id="lexiscope.analyse"' in text
    assert "n_bootstrap" in text
