"""No sentence of a paper or of an instrument is in the repository."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.published
RUN = 8
"""So many words in a row are a quotation."""
LITTLE = frozenset(
    {"a", "an", "and", "are", "as", "at", "be", "by", "can", "for", "from", "in", "is", "it", "of", "on", "or"}
    | {"that", "the", "this", "to", "was", "we", "which", "with", "you"}
)
"""Names of models, columns and datasets in a row have none of these words."""
SKIPPED = {".venv", ".git", ".mypy_cache", ".ruff_cache", "__pycache__", "shared", "dist", "site"}
SUFFIXES = {
    ".py",
    ".md",
    ".csv",
    ".json",
    ".jsonl",
    ".html",
    ".txt",
    ".yaml",
    ".yml",
    ".toml",
    ".cff",
    ".po",
    ".js",
    ".ambr",
}
# the references, between the last section and the appendix
REFERENCES = re.compile(
    r"\n(?:\d\. )?(?:Bibliographical )?References\n.*?\n(?=(?:A |Appendix|C Annotation))", re.DOTALL
)
WORD = re.compile(r"[^\W\d_]+")


def runs(text: str) -> Iterator[tuple[str, ...]]:
    """Every run of so many words, whatever stands between them."""
    words = [match[0].lower() for match in WORD.finditer(text)]
    return zip(*(words[start:] for start in range(RUN)), strict=False)


def _without_citations(text: str) -> str:
    """A paper without its title, its authors and its references, which are cited as they are."""
    title = text.strip().splitlines()[0]
    return REFERENCES.sub("\n", text.partition("Abstract")[2]).replace(title, "\n")


def project_files(root: Path) -> Iterator[Path]:
    for path in sorted(root.rglob("*")):
        if path.suffix in SUFFIXES and path.is_file() and SKIPPED.isdisjoint(path.relative_to(root).parts):
            yield path


def test_no_run_of_eight_words_of_a_paper_or_an_instrument(root: Path, published: Path) -> None:
    """Facts, numbers and definitions come from the papers, their sentences do not; instruments are data."""
    papers = sorted((published.parent / "papers").glob("*.txt"))
    if not papers:
        pytest.skip("the texts of the papers are not here")
    texts = [_without_citations(path.read_text(encoding="utf-8")) for path in papers]
    texts += [path.read_text(encoding="utf-8") for path in (published / "ambistory" / "instruments").glob("*_*.txt")]
    of_papers = {run for text in texts for run in runs(text)}
    assert len(of_papers) > 30_000
    quoted = [
        f"{path.relative_to(root)}: {' '.join(run)}"
        for path in project_files(root)
        for run in runs(path.read_text(encoding="utf-8", errors="replace"))
        if run in of_papers and not LITTLE.isdisjoint(run)
    ]
    assert quoted == []


def test_a_quotation_is_found() -> None:
    """Marks, case and breaks between lines do not hide it; a title is none."""
    (only,) = runs("It is, of **all** words\nthe longest one")
    assert only == ("it", "is", "of", "all", "words", "the", "longest", "one")
    assert LITTLE.isdisjoint(("wic", "wic", "tsv", "wsd", "mcl", "wic", "xl", "wic"))
