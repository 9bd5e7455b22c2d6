"""DESIGN §6.10: docs cover everything, and quote nothing that does not run."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from lexiscope.cli.main import VERBS
from lexiscope.core import catalog


@pytest.mark.parametrize("kind", catalog.KINDS)
def test_every_catalog_name_has_a_heading(kind: catalog.Kind, catalog_pages: dict[Path, str]) -> None:
    """Every dataset, task, kind of subject and study has a heading in the reference, and a row in the table there."""
    page = next(text for path, text in catalog_pages.items() if path.stem == kind)
    headings = [line for line in page.splitlines() if line.startswith("#")]
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    names = [name for name in catalog.names(kind) if catalog.origin(kind, name) == catalog.PACKAGE]
    assert [name for name in names if not any(f"`{name}`" in line for line in headings)] == []
    assert [name for name in names if not any(line.startswith(f"| `{name}` ") for line in rows)] == []


def test_every_verb_has_a_heading(catalog_pages: dict[Path, str]) -> None:
    """Every verb of the command line has a heading in the reference."""
    page = next(text for path, text in catalog_pages.items() if path.name == "verbs.md")
    headings = "\n".join(line for line in page.splitlines() if line.startswith("#"))
    assert [verb for verb in VERBS if f"`lexiscope {verb}`" not in headings] == []


def test_lists_of_the_catalog_are_not_kept(root: Path, catalog_pages: dict[Path, str]) -> None:
    """Adding to the catalog changes no file: pages that list what is in it are made where the docs are built."""
    ignored = (root / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert [path for path in catalog_pages if f"/{path.relative_to(root).as_posix()}" not in ignored] == []


def test_no_machine_paths_or_registry_hosts(root: Path) -> None:
    """Code, docs and tests name no path of a machine and no host of a package registry."""
    banned = re.compile(r"/work/(main|shared)|/root/|pypi\.org|files\.pythonhosted|registry\.npmjs|deb\.debian\.org")
    files = [p for folder in ("src", "tests", "docs", "design", "benchmarks") for p in (root / folder).rglob("*")]
    files += [root / "README.md", root / "Makefile", root / "CHANGELOG.md", root / "CONTRIBUTING.md"]
    found = [
        str(p.relative_to(root))
        for p in files
        if p.is_file()
        and p.suffix in {".py", ".md", ".txt", ".html", ".toml", ""}
        and p != Path(__file__).resolve()
        and banned.search(p.read_text(encoding="utf-8", errors="ignore"))
    ]
    assert found == []


def test_decisions_are_noted(root: Path) -> None:
    """Every note in design/ says what was decided and why."""
    notes = sorted((root / "design").glob("[0-9]*.md"))
    assert notes
    assert [n.name for n in notes if "## Why" not in n.read_text(encoding="utf-8")] == []


def test_every_statistic_is_listed(root: Path) -> None:
    """Every public function of the analysis, in each of its rooms, is on the page of statistics."""
    page = (root / "docs" / "reference" / "statistics.md").read_text(encoding="utf-8")
    files = sorted((root / "src" / "lexiscope" / "analysis").rglob("*.py"))
    public = [
        node.name
        for path in files
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name[0] != "_"
    ]
    assert len(public) > 100
    assert [name for name in public if f"`{name}(" not in page] == []
